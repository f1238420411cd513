package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.ExitCode;
import dev.writ.fixture.Await;
import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code writ retention}, {@code writ hold} and {@code writ erase}, without a server and beside
 * one.
 */
class ContentsAreDeletedAndHeldFromTheShellTest {
  private static final String RULE =
      "\n"
          + "retention: { every_s: 60, rules: [ { name: at-once, contents: [outputs], keep_s: 0 }"
          + " ] }\n";

  @TempDir Path dir;

  private Run writ(String... arguments) {
    return new OneHome(dir.resolve("home")).writ(arguments);
  }

  private String done(String... arguments) {
    return new OneHome(dir.resolve("home")).done(arguments).out();
  }

  private void refused(ExitCode status, String code, String... arguments) {
    Run run = writ(arguments);
    assertThat(run.err()).as(String.join(" ", arguments)).contains(code);
    assertThat(run.status()).isEqualTo(status.status());
  }

  private JsonValue.Obj json(String... arguments) {
    List<String> all = new ArrayList<>(List.of("--json"));
    all.addAll(List.of(arguments));
    String out = done(all.toArray(String[]::new));
    return (JsonValue.Obj) Jcs.parse(out.strip().getBytes(StandardCharsets.UTF_8));
  }

  private static long number(JsonValue.Obj object, String member) {
    return (long) ((JsonValue.Num) object.get(member)).value();
  }

  private String receipt(int n) {
    JsonValue.Obj run = json("run", "js", "--param", "source='output '+" + n);
    return ((JsonValue.Str) run.get("receipt_id")).value();
  }

  private void activate(String more) throws Exception {
    Path file = dir.resolve("home/policy.yaml");
    Files.writeString(file, Files.readString(file).split("\nretention:")[0] + more);
    done("policy", "activate", file.toString());
  }

  @BeforeEach
  void init() {
    done("init", "--tenant", "acme");
  }

  @Test
  void what_a_rule_covers_is_planned_deleted_told_and_verified() throws Exception {
    String receipt = receipt(1);
    assertThat(done("retention", "plan")).contains("no rules of retention: everything is kept");
    assertThat(done("retention", "status")).contains("nothing was deleted so far");
    activate(RULE);
    assertThat(done("retention", "plan")).containsPattern("at-once +1 +10 +1 +10");
    assertThat(done("output", receipt)).isEqualTo("\"output 1\"");
    Run placed = writ("hold", "place", "case 7", "acme", "--run", "main");
    assertThat(placed.err()).isEqualTo("hold case 7: run main of acme\n");
    refused(ExitCode.REFUSED, "EXE-004", "hold", "place", "case 7", "acme");
    assertThat(done("retention", "status")).contains("hold: case 7, run main of acme");
    JsonValue.Obj held = json("retention", "plan");
    assertThat(number(held, "contents")).isZero();
    assertThat(number(held, "needed")).isEqualTo(1);
    assertThat(number(json("retention", "run"), "contents")).isZero();
    refused(ExitCode.REFUSED, "EXE-004", "hold", "release", "case 8");
    assertThat(writ("hold", "release", "case 8").err())
        .contains("no hold case 8 is placed", "`writ retention status` the holds");
    done("hold", "release", "case 7");
    assertThat(done("retention", "run"))
        .containsPattern(
            "deleted 1 contents, 10 bytes, by 1 signed statements; on disk \\d+ bytes");
    assertThat(done("retention", "status"))
        .containsPattern("at-once +1 +10 +20")
        .doesNotContain("hold", "may still be on disk");
    refused(ExitCode.REFUSED, "EXE-960", "output", receipt);
    assertThat(writ("output", receipt).err()).contains("at-once");
    String audit = done("audit");
    assertThat(audit).contains("1 contents: deleted, by rules of the policies in force");
    assertThat(runs(audit)).as("also writ/retention").isEqualTo(3).isEqualTo(runs(done("fsck")));
    Path bundle = dir.resolve("main.writ");
    done("export", "main", "-o", bundle.toString());
    String pins = dir.resolve("home/trust.jwks").toString();
    assertThat(done("verify", bundle.toString(), "--trust", pins)).contains("contents: deleted");
    assertThat(done("replay", bundle.toString(), "--trust", pins))
        .contains("only the receipt was made again, their contents were deleted by rule at-once")
        .containsPattern(
            "outputs sha256:[0-9a-f]{64} of event \\d+: deleted at .* by rule at-once");
  }

  private static long runs(String report) {
    Matcher runs = Pattern.compile("events of (\\d+) runs").matcher(report);
    assertThat(runs.find()).as(report).isTrue();
    return Long.parseLong(runs.group(1));
  }

  @Test
  void a_content_of_several_runs_counts_once_for_each_time_that_it_is_deleted() throws Exception {
    activate(RULE);
    for (String run : List.of("one", "two", "three")) {
      done("run", "js", "--param", "source='same'", "--run", run);
    }
    assertThat(done("retention", "run"))
        .contains("deleted 1 contents, 6 bytes, by 3 signed statements");
    assertThat(done("retention", "status")).containsPattern("at-once +1 +6 +20");
    done("run", "js", "--param", "source='same'", "--run", "four");
    assertThat(done("retention", "run")).contains("deleted 1 contents, 6 bytes, by 1 signed");
    assertThat(done("retention", "status")).containsPattern("at-once +2 +12 +20");
  }

  private static final String SEALED =
      "\nretention: { rules: [], sealed: { contents: [inputs, outputs, observations, artifacts],"
          + " by: subject } }\n";

  /** What the script gives is in no parameter. */
  private static final String SECRET = "nobody-".repeat(9);

  private List<Path> filesWithTheSecret() throws Exception {
    List<Path> found = new ArrayList<>();
    try (Stream<Path> all = Files.walk(dir)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        if (new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).contains(SECRET)) {
          found.add(file);
        }
      }
    }
    return found;
  }

  @Test
  void what_an_operator_orders_is_erased_from_backups_as_well() throws Exception {
    activate(SEALED);
    JsonValue.Obj run = json("run", "js", "--param", "source='nobody-'.repeat(9)");
    String receipt = ((JsonValue.Str) run.get("receipt_id")).value();
    assertThat(done("output", receipt)).contains(SECRET);
    Path backups = dir.resolve("backups");
    assertThat(done("backup", "--to", backups.toString(), "--without-secrets"))
        .contains("without content-keys");
    assertThat(filesWithTheSecret()).isEmpty();
    refused(ExitCode.USAGE, "CLI-001", "erase", "acme");
    refused(ExitCode.USAGE, "CLI-001", "erase", "acme", "--subject", "agent", "--run", "main");
    refused(
        ExitCode.BROKEN_INPUT,
        "CAN-05",
        "erase",
        "acme",
        "--subject",
        "agent",
        "--operator",
        "agent");
    done("hold", "place", "case 9", "acme", "--run", "main");
    refused(ExitCode.REFUSED, "EXE-962", "erase", "acme", "--run", "main");
    done("hold", "release", "case 9");
    assertThat(done("erase", "acme", "--run", "main"))
        .contains("order sha256:", "carried out at", "contents removed: 2, kept")
        .contains("keys destroyed: 0");
    assertThat(done("retention", "status"))
        .contains("erasure of run main of acme: carried out at", "order sha256:");
    refused(ExitCode.REFUSED, "EXE-960", "output", receipt);
    assertThat(done("audit")).contains("contents: erased at ");
    done("fsck");
    Path bundle = dir.resolve("erased.writ");
    done("export", "main", "-o", bundle.toString());
    String pins = dir.resolve("home/trust.jwks").toString();
    assertThat(done("verify", bundle.toString(), "--trust", pins)).contains("contents: erased at ");
    assertThat(done("replay", bundle.toString(), "--trust", pins))
        .contains("their contents were deleted by an operator's order sha256:");
    // That was one run; its key is the subject's.
    String subject =
        Pattern.compile("\"subject\":\"([^\"]+)\"")
            .matcher(done("--json", "show", receipt))
            .results()
            .findFirst()
            .orElseThrow()
            .group(1);
    assertThat(done("erase", "acme", "--subject", subject))
        .contains("carried out at", "contents removed: 0", "keys destroyed: 1")
        .doesNotContain("covers nothing");
    Path restored = dir.resolve("restored");
    Run restore =
        Run.of(
            "--home",
            restored.toString(),
            "restore",
            "--from",
            backups.toString(),
            "--keys",
            dir.resolve("home/keys").toString());
    assertThat(restore.status()).as(restore.err()).isZero();
    assertThat(Run.of("--home", restored.toString(), "output", receipt).err()).contains("LED-096");
    assertThat(Run.of("--home", restored.toString(), "audit").status()).isZero();
    assertThat(filesWithTheSecret()).isEmpty();
  }

  @Test
  void a_hold_of_a_name_that_nothing_has_is_placed_and_told() {
    receipt(1);
    assertThat(writ("hold", "place", "a", "acme").err()).doesNotContain("warning");
    for (String[] wrong : new String[][] {{"acne"}, {"acme", "--run", "mian"}}) {
      List<String> words = new ArrayList<>(List.of("hold", "place", "of " + wrong[0]));
      words.addAll(List.of(wrong));
      Run placed = writ(words.toArray(String[]::new));
      assertThat(placed.status()).isZero();
      assertThat(placed.err()).contains("warning: it keeps nothing so far", wrong[0]);
    }
    JsonValue.Obj json = json("hold", "place", "b", "acne");
    assertThat(json.toString()).contains("hold.placed", "keeps nothing so far");
    assertThat(done("retention", "status")).contains("hold: of acne, each run of acne");
    assertThat(done("hold", "release", "a", "--json")).contains("\"kind\":\"hold.released\"");
  }

  @Test
  void an_erasure_says_what_is_so() {
    done("run", "js", "--run", "main", "--param", "source='of both'");
    done("run", "js", "--run", "other", "--param", "source='of both'");
    done("run", "js", "--run", "main", "--param", "source='of one'");
    String none = done("erase", "acme", "--run", "nosuchrun");
    assertThat(none)
        .contains("order sha256:", "covers nothing so far", "run nosuchrun of acme")
        .doesNotContain("removed", "destroyed");
    JsonValue.Obj nobody = json("erase", "acme", "--subject", "nobody");
    assertThat(number(nobody, "removed")).isZero();
    assertThat(number(nobody, "kept")).isZero();
    JsonValue.Obj main = json("erase", "acme", "--run", "main");
    assertThat(number(main, "removed")).isPositive();
    assertThat(number(main, "kept")).as("'of both', which the other run made, too").isPositive();
    assertThat(number(main, "keys_destroyed")).as("it lay in the clear").isZero();
    assertThat(done("erase", "acme", "--run", "other"))
        .contains("keys destroyed: 0")
        .doesNotContain("covers nothing");
    done("audit");
  }

  @Test
  void what_is_not_understood_is_refused_and_changes_nothing() {
    refused(ExitCode.USAGE, "CLI-001", "retention");
    refused(ExitCode.USAGE, "CLI-001", "retention", "delete");
    refused(ExitCode.USAGE, "CLI-001", "retention", "run", "now");
    refused(ExitCode.USAGE, "CLI-001", "hold", "place", "case");
    refused(ExitCode.USAGE, "CLI-001", "hold", "release");
    refused(ExitCode.USAGE, "CLI-001", "hold", "place", "case", "acme", "--server", "ftp://a");
    refused(ExitCode.BROKEN_INPUT, "CAN-02", "hold", "place", "case\n7", "acme");
    refused(
        ExitCode.BROKEN_INPUT, "CAN-05", "hold", "place", "case", "acme", "--operator", "agent");
    assertThat(json("retention", "status").get("holds")).isEqualTo(JsonValue.of(List.of()));
  }

  @Test
  void beside_a_server_that_applies_the_rules_by_itself() throws Exception {
    String receipt = receipt(1);
    activate(RULE);
    Process server =
        new ProcessBuilder(
                OwnProcess.writ(
                    "--home", dir.resolve("home").toString(), "serve", "--json", "--port", "0"))
            .redirectOutput(dir.resolve("out").toFile())
            .start();
    try (BufferedReader log = server.errorReader(StandardCharsets.UTF_8)) {
      await(log, "\"listening\"");
      Await.until(
          () -> Files.size(dir.resolve("out")) != 0); // what it prints comes when commands find it
      assertThat(done("retention", "plan")).contains("at-once");
      done("hold", "place", "case 8", "acme", "--run", "another");
      assertThat(done("retention", "status")).contains("hold: case 8");
      refused(ExitCode.REFUSED, "EXE-004", "hold", "place", "case 8", "acme");
      assertThat(await(log, "\"contents-deleted\"")).contains("1 contents, 10 bytes, 1 statements");
      assertThat(done("retention", "run")).contains("deleted 0 contents"); // by the server
      assertThat(done("retention", "status")).containsPattern("at-once +1 +10 +20");
      refused(ExitCode.REFUSED, "EXE-960", "output", receipt);
    } finally {
      server.destroy();
    }
    assertThat(server.waitFor()).isEqualTo(143);
    done("audit");
  }

  private static String await(BufferedReader log, String word) throws Exception {
    StringBuilder all = new StringBuilder();
    for (String line = log.readLine(); line != null; line = log.readLine()) {
      if (line.contains(word)) {
        return line;
      }
      all.append(line).append('\n');
    }
    throw new AssertionError("no " + word + " in\n" + all);
  }
}
