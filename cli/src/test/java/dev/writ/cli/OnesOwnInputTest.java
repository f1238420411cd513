package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.ExitCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A user's way from {@code init} on, with right and wrong input; each command opens the home anew.
 */
class OnesOwnInputTest {
  private static final String ELSE =
      "  - { tenant: local, subject: somebody, roles: [reviewer] }\n";

  @TempDir Path folder;
  private String home;

  @BeforeEach
  void init() {
    home = folder.resolve("home").toString();
    assertThat(writ("init").status()).isZero();
  }

  private Run writ(String... args) {
    return on(home, args);
  }

  private static Run on(String home, String... args) {
    String[] all = new String[args.length + 2];
    all[0] = "--home";
    all[1] = home;
    System.arraycopy(args, 0, all, 2, args.length);
    Run run = Run.of(all);
    assertThat(run.err()).doesNotContain("\tat ").doesNotContain("Exception");
    return run;
  }

  private static void refused(Run run, ExitCode status, String code) {
    assertThat(run.status()).as(run.err()).isEqualTo(status.status());
    assertThat(run.err()).startsWith("writ: " + code + " ");
    assertThat(run.out()).isEmpty();
  }

  private static String text(Run run, String... path) {
    JsonValue at = Jcs.parse(run.out().getBytes(StandardCharsets.UTF_8));
    for (String key : path) {
      at = ((JsonValue.Obj) at).get(key);
    }
    return ((JsonValue.Str) at).value();
  }

  @Test
  void whatIsAllowedRunsOnceAndStaysInTheChain() {
    Run first = writ("run", "js", "--param", "source=6*7", "--key", "answer", "--json");
    assertThat(first.status()).as(first.err()).isZero();
    assertThat(first.out()).contains("\"output\":42").contains("\"repeated\":false");
    Run again = writ("run", "js", "--param", "source=6*7", "--key", "answer", "--json");
    assertThat(again.out()).contains("\"repeated\":true");
    assertThat(text(again, "receipt_id")).isEqualTo(text(first, "receipt_id"));
    refused(
        writ("run", "js", "--param", "source=1", "--key", "answer"), ExitCode.REFUSED, "EXE-110");
    assertThat(writ("output", text(first, "receipt_id")).out()).isEqualTo("42");
    assertThat(writ("show", text(first, "receipt_id").substring(7, 15)).out())
        .contains("\"status\": \"succeeded\"");
    assertThat(writ("receipts").out()).contains("succeeded");
    assertThat(writ("fsck", "--second-opinion").status()).isZero();
    assertThat(writ("gc").out()).startsWith("removed 0 uploads, 0 blobs, 0 bytes");
    assertThat(writ("audit").status()).isZero();
    assertThat(writ("close", "main").status()).isZero();
    refused(writ("run", "js", "--param", "source=1"), ExitCode.REFUSED, "EXE-901");
    assertThat(writ("runs").out()).contains("closed");
  }

  /** Policy's requirement reads the parameter and fails first; the mistake is told first. */
  @Test
  void aMisspelledParameterIsToldBeforeWhatPolicyMadeOfIt() {
    Run run = writ("run", "js", "--param", "suorce=secret-3");
    assertThat(run.status()).isEqualTo(ExitCode.REFUSED.status());
    assertThat(run.err())
        .startsWith("DENIED  params has no parameter \"suorce\"; did you mean \"source\"?\n")
        .contains("prg check, GRD-103", "The parameter \"source\" is missing in params.")
        .doesNotContain("secret-3");
    Run json = writ("run", "js", "--param", "suorce=secret-3", "--json");
    assertThat(json.out()).contains("\"did_you_mean\":\"source\"");
  }

  @Test
  void whatNeedsApprovalWaitsForIt() throws IOException {
    Path staff = Files.writeString(folder.resolve("staff.csv"), "name,salary\nAda,120\n");
    String[] ask = {
      "run",
      "sql",
      "--param",
      "sql=select max(salary) from staff",
      "--input",
      staff.toString(),
      "--output-kb",
      "2048",
      "--json"
    };
    Run asked = writ(ask);
    assertThat(asked.status()).isEqualTo(ExitCode.PENDING.status());
    String request = text(asked, "request");
    refused(writ("close", "main"), ExitCode.REFUSED, "EXE-903");
    assertThat(writ("policy", "explain", request).out()).contains("0 of 1 approved");
    assertThat(writ("approve", request, "--yes").status()).isZero();
    Run served = writ("submit", request, "--json");
    assertThat(served.out()).contains("[[120]]");
    String decision = text(served, "decision_id");
    Run noRequest = writ("policy", "explain", decision);
    refused(noRequest, ExitCode.BROKEN_INPUT, "CLI-015");
    assertThat(noRequest.err()).contains("is a document, and no request");
    refused(writ("approve", request, "--yes"), ExitCode.REFUSED, "EXE-908");
    String other = text(writ(ask), "request");
    assertThat(writ("approve", other, "--yes", "--reject").status()).isZero();
    assertThat(writ("submit", other).status()).isEqualTo(ExitCode.REFUSED.status());
    assertThat(writ("receipts", "--json").out()).containsOnlyOnce("\"status\":\"succeeded\"");
  }

  @Test
  void aPolicyIsCheckedAndPutInForce() throws IOException {
    Path policy = Path.of(home, "policy.yaml");
    Run explained = writ("policy", "explain", policy.toString());
    refused(explained, ExitCode.USAGE, "CLI-001");
    assertThat(explained.err()).contains("writ policy check");
    assertThat(writ("policy", "check", policy.toString()).out()).doesNotContain("no key");
    Path more =
        Files.writeString(
            folder.resolve("more.yaml"),
            Files.readString(policy).replace("approvers:\n", "approvers:\n" + ELSE));
    assertThat(writ("policy", "check", more.toString()).out())
        .contains("approvers (local/somebody): no key of theirs is enrolled");
    Path wrong =
        Files.writeString(
            folder.resolve("wrong.yaml"),
            Files.readString(policy)
                .replace("limit: 1000,", "limt: 1000,")
                .replace("pending_max_s: ", "pending_max_s: -"));
    Run check = writ("policy", "check", wrong.toString());
    assertThat(check.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
    assertThat(check.err()).contains("wrong.yaml line ").contains("/budgets/0/").hasLineCount(2);
    assertThat(check.err()).contains("/limits/pending_max_s");
    assertThat(check.err().lines()).allMatch(line -> line.startsWith("writ: GRD-50"));
    Path none =
        Files.writeString(
            folder.resolve("none.yaml"),
            Files.readString(policy).replace("limit: 1000,", "limit: 0,"));
    assertThat(writ("policy", "activate", none.toString()).status()).isZero();
    Run denied = writ("run", "js", "--param", "source=1");
    assertThat(denied.status()).isEqualTo(ExitCode.REFUSED.status());
    assertThat(denied.err()).contains("GRD-201");
    assertThat(writ("policy", "check", none.toString()).out()).contains("in force, as version 2");
    assertThat(writ("policy", "show").out()).contains("\"version\": 2");
  }

  @Test
  void aFileThatIsStoredNeedsNoRoomForASecondTime() throws IOException {
    Path policy = Path.of(home, "policy.yaml");
    Path narrow =
        Files.writeString(
            folder.resolve("narrow.yaml"),
            Files.readString(policy).replace("bytes_max: 1073741824", "bytes_max: 10000"));
    assertThat(writ("policy", "activate", narrow.toString()).status()).isZero();
    String first = Files.writeString(folder.resolve("first"), "a".repeat(6000)).toString();
    String second = Files.writeString(folder.resolve("second"), "b".repeat(6000)).toString();
    assertThat(writ("run", "js", "--param", "source=1", "--input", first).status()).isZero();
    assertThat(writ("run", "js", "--param", "source=2", "--input", second).err())
        .contains("LED-080");
    Run again = writ("run", "js", "--param", "source=3", "--input", first);
    assertThat(again.status()).as(again.err()).isZero();
  }

  @Test
  void keysComeAndGo() {
    assertThat(writ("key", "new", "bob").status()).isZero();
    refused(writ("run", "js", "--param", "source=1", "--as", "bob"), ExitCode.REFUSED, "GRD-006");
    assertThat(writ("key", "revoke", "bob").out()).contains("revoked");
    refused(
        writ("run", "js", "--param", "source=1", "--as", "bob"), ExitCode.BROKEN_INPUT, "CAN-055");
    refused(writ("key", "new", "../x"), ExitCode.USAGE, "CLI-013");
    refused(writ("key", "new", "x", "--role", "king"), ExitCode.USAGE, "CLI-001");
    refused(writ("tool", "show", "nothing"), ExitCode.BROKEN_INPUT, "CLI-015");
    Run revoked = writ("tool", "revoke", "js", "1.0.0");
    assertThat(revoked.status()).isZero();
    assertThat(revoked.err()).contains("warning: js is built in");
    refused(writ("run", "js", "--param", "source=1"), ExitCode.REFUSED, "EXE-303");
    assertThat(writ("tool", "list").out()).contains("revoked");
  }

  @Test
  void keysCanBeEncrypted() {
    String secret = folder.resolve("secret").toString();
    Map<String, String> with = Map.of("WRIT_PASSPHRASE", "open sesame");
    String[] ask = {"--home", secret, "run", "js", "--param", "source=2"};
    assertThat(Run.on("", "", with, Commands.ALL, "--home", secret, "init").status()).isZero();
    assertThat(Run.on("", "", with, Commands.ALL, ask).out()).isEqualTo("2");
    refused(Run.of(ask), ExitCode.BROKEN_INPUT, "CAN-077");
    Map<String, String> wrong = Map.of("WRIT_PASSPHRASE", "close sesame");
    refused(Run.on("", "", wrong, Commands.ALL, ask), ExitCode.BROKEN_INPUT, "CAN-076");
  }

  @Test
  void wrongInputHasACodeAndLeavesNothing() throws IOException {
    refused(writ("init"), ExitCode.UNAVAILABLE, "CLI-011");
    refused(writ("demo"), ExitCode.UNAVAILABLE, "CLI-011");
    String nowhere = folder.resolve("nowhere").toString();
    refused(on(nowhere, "receipts"), ExitCode.UNAVAILABLE, "CLI-010");
    refused(on(nowhere, "run", "js", "--param", "source=1"), ExitCode.UNAVAILABLE, "CLI-010");
    assertThat(Path.of(nowhere)).doesNotExist();
    refused(writ("run", "js", "--param", "source"), ExitCode.USAGE, "CLI-014");
    refused(
        writ("run", "js", "--param", "source=1", "--param", "source=2"), ExitCode.USAGE, "CLI-014");
    refused(writ("run", "js", "--param-json", "source={"), ExitCode.BROKEN_INPUT, "CAN-011");
    refused(writ("run", "nothing"), ExitCode.BROKEN_INPUT, "CLI-015");
    refused(writ("show", "abcdef"), ExitCode.BROKEN_INPUT, "CLI-015");
    refused(writ("run", "sql", "--input", nowhere), ExitCode.BROKEN_INPUT, "CLI-002");
    refused(
        writ("run", "js", "--param", "source=1", "--save-request", nowhere + "/x"),
        ExitCode.UNAVAILABLE,
        "CLI-003");
    Run unwritten = writ("report", "--verifier", "-o", nowhere + "/verify.mjs");
    refused(unwritten, ExitCode.UNAVAILABLE, "CLI-003");
    assertThat(unwritten.err()).contains(": " + nowhere + ": not there");
    Path garbage = Files.writeString(folder.resolve("garbage"), "{\"a\":1}");
    Run noFolder = on(garbage.toString(), "receipts");
    refused(noFolder, ExitCode.BROKEN_INPUT, "CLI-002");
    assertThat(noFolder.err()).contains(garbage + " is no folder");
    refused(writ("submit", garbage.toString()), ExitCode.BROKEN_INPUT, "CAN-020");
    assertThat(writ("receipts", "--json").out().strip()).isEqualTo("{\"receipts\":[]}");
    Files.writeString(
        Path.of(home, "writ.json"),
        Files.readString(Path.of(home, "writ.json")).replace("\"format\":1", "\"format\":9"));
    refused(writ("receipts"), ExitCode.UNAVAILABLE, "CLI-012");
    Files.delete(Path.of(home, "writ.json"));
    Run lost = writ("receipts");
    refused(lost, ExitCode.BROKEN_INPUT, "CLI-002");
    assertThat(lost.err())
        .contains("writ.json is missing: put it back")
        .doesNotContain("writ init");
  }

  @Test
  void aSignedRequestCanBeKeptAndSubmittedLater() {
    Path kept = folder.resolve("request.json");
    Run first =
        writ("run", "js", "--param", "source=3", "--save-request", kept.toString(), "--json");
    Run again = writ("submit", kept.toString(), "--json");
    assertThat(text(again, "receipt_id")).isEqualTo(text(first, "receipt_id"));
  }
}
