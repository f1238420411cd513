package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Terminal;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Newcomers type what others taught them, and slip: each answer says what to do instead. */
class ASlipOfTheHandIsToldTest {
  @TempDir Path dir;

  @BeforeEach
  void init() {
    assertThat(writ("init").status()).isZero();
  }

  private Run writ(String... arguments) {
    return line("", arguments);
  }

  private Run line(String terminals, String... arguments) {
    List<String> all = new ArrayList<>(List.of("--home", dir.resolve("home").toString()));
    all.addAll(List.of(arguments));
    return Run.on("", terminals, Map.of("NO_COLOR", "1"), Commands.ALL, all.toArray(String[]::new));
  }

  private Path policy() {
    return dir.resolve("home/policy.yaml");
  }

  private String receipt() {
    Run run = writ("--json", "run", "js", "--param", "source=6*7");
    assertThat(run.status()).as(run.err()).isZero();
    return run.out().replaceAll(".*\"receipt_id\":\"sha256:([0-9a-f]+)\".*\n", "$1");
  }

  @Test
  void helpIsAWordToo() {
    assertThat(Run.of("help")).isEqualTo(Run.of("--help"));
    assertThat(Run.of("help", "run")).isEqualTo(Run.of("run", "--help"));
    assertThat(Run.of("help", "key", "new")).isEqualTo(Run.of("key", "new", "--help"));
    assertThat(Run.of("help", "frobnicate").status()).isEqualTo(2);
    assertThat(Run.of("help", "policy", "chek").status()).isEqualTo(2);
    assertThat(Run.of("help", "run", "js")).isEqualTo(Run.of("run", "--help"));
    assertThat(Run.of("help", "backup", "x")).isEqualTo(Run.of("backup", "--help"));
    assertThat(Run.of("help", "policy", "chek").err()).contains("did you mean check?");
    // A value named so is none.
    assertThat(writ("receipts", "--run", "help").err()).contains("CLI-015");
  }

  @ParameterizedTest
  @CsvSource({
    "recepts, receipts",
    "recieps --last 3, receipts",
    "polcy check x, policy",
    "policy chek x, check",
    "key lst, list",
    "receipts --lats 3, --last",
  })
  void whatIsNearlyAWordIsNamed(String line, String meant) {
    Run run = Run.of(line.split(" "));
    assertThat(run.status()).isEqualTo(2);
    assertThat(run.err()).contains("did you mean " + meant + "? See").hasLineCount(1);
  }

  @Test
  void whatIsNearToNothingIsNotGuessed() {
    assertThat(Run.of("frobnicate").err()).contains("CLI-001").doesNotContain("did you mean");
    // Nor is a command that is for nobody.
    assertThat(Run.of("trains").err()).doesNotContain("did you mean train?");
  }

  @Test
  void helpIsInColoursThatATerminalGets() {
    Run help = Run.on("", "in,out,err", Map.of(), Commands.ALL, "run", "--help");
    assertThat(help.out()).contains("\u001b[33m--param", "KEY=VALUE").doesNotContain("\ufffd");
  }

  @Test
  void helpShowsLinesThatAreUnderstood() {
    Terminal terminal =
        new Terminal(
            InputStream.nullInputStream(),
            OutputStream.nullOutputStream(),
            OutputStream.nullOutputStream(),
            "",
            Map.of());
    int shown = 0;
    for (CliCommand command : Commands.ALL) {
      List<CliCommand> all = new ArrayList<>(command.subcommands());
      all.add(command);
      for (CliCommand each : all) {
        for (String example : each.usage().examples()) {
          String[] words = example.replaceAll("'[^']*'|\"[^\"]*\"", "text").split(" ");
          Cli.commandLine(new Session(terminal, Map.of())).parseArgs(words); // throws otherwise
          List<String> help = new ArrayList<>(List.of("help"));
          help.add(command.usage().name());
          if (each != command) {
            help.add(each.usage().name());
          }
          assertThat(Run.of(help.toArray(String[]::new)).out())
              .contains("For example:", "writ " + words[0]);
          shown++;
        }
      }
    }
    assertThat(shown).isGreaterThan(12);
  }

  @Test
  void theLastReceiptsAreThoseOfAllRuns() {
    for (String run : List.of("a", "b", "c")) {
      writ("run", "js", "--param", "source=1", "--run", run);
      writ("run", "js", "--param", "source=2", "--run", run);
    }
    assertThat(writ("receipts", "--last", "3", "--output", "csv").out().lines().skip(1))
        .extracting(line -> line.split(",")[0] + line.split(",")[1])
        .containsExactly("local/b2", "local/c1", "local/c2");
  }

  @Test
  void aPackageThatNobodyRegisteredIsNotCalledGood() throws IOException {
    receipt();
    Path changed = dir.resolve("changed.yaml");
    String digest = "sha256:" + "ab".repeat(32);
    Files.writeString(
        changed,
        Files.readString(policy())
            .replaceFirst(
                "(name: js, version: \"1.0.0\", package: )\"sha256:[0-9a-f]+\"",
                "$1\"" + digest + "\""));
    Run run = writ("policy", "check", changed.toString());
    assertThat(run.status()).as(run.err()).isZero();
    assertThat(run.out()).contains("warning", "js 1.0.0", digest, "writ tool register");
    assertThat(writ("policy", "check", policy().toString()).out()).doesNotContain("warning");
  }

  /** Such a rule covers nothing, and the next one about the tool decides in its place. */
  @Test
  void anOperationThatNoToolHasIsNotCalledGood() throws IOException {
    Path changed = dir.resolve("changed.yaml");
    Files.writeString(
        changed,
        Files.readString(policy())
            .replace("requirements:\n", "requirements:\n" + rule("evall") + rule("eval"))
            .replace("tools: [code_ephemeral,", "tools: [js/evall, code_ephemeral,"));
    Run run = writ("policy", "check", changed.toString());
    assertThat(run.status()).as(run.err()).isZero();
    assertThat(run.out())
        .contains("good", "requirement 1 (js/evall): js has no operation evall", "it has eval")
        .contains("roles/analyst (js/evall): js has no operation evall")
        .doesNotContain("requirement 2 ");
  }

  /**
   * A role with such a profile is denied each call, and nobody is vouched for by such a surface.
   */
  @Test
  void aSandboxOrSurfaceThatNobodyHasIsNotCalledGood() throws IOException {
    Path changed = dir.resolve("changed.yaml");
    Files.writeString(
        changed,
        Files.readString(policy())
            .replace("surfaces: [mcp]", "surfaces: [mcp, mpc]")
            .replace("sandboxes: [default,", "sandboxes: [defualt, default,")
            .replaceFirst("(name: js,.*)stage: active", "$1stage: live"));
    Run run = writ("policy", "check", changed.toString());
    assertThat(run.status()).as(run.err()).isZero();
    assertThat(run.out())
        .contains("good", "principals (local/agent): there is no surface mpc", "engine, execute")
        .contains("roles/analyst: no tool runs in a sandbox defualt", "default, ")
        .contains("tools (js 1.0.0): its stage is live, so only a call that names this version");
    assertThat(run.out().lines().filter(line -> line.startsWith("warning"))).hasSize(3);
    assertThat(Run.of("--home", dir.resolve("none").toString(), "policy", "check", changed + ""))
        .as("what needs no data directory is said without one")
        .satisfies(bare -> assertThat(bare.out()).contains("no surface mpc"))
        .satisfies(bare -> assertThat(bare.out()).doesNotContain("defualt"));
  }

  /** The approver would be asked for nothing. */
  @Test
  void approvalsOfWhatMostCallersCannotPinAreTold() throws IOException {
    Path changed = dir.resolve("changed.yaml");
    Files.writeString(
        changed,
        Files.readString(policy())
            .replace(
                "requirements:\n",
                "requirements:\n"
                    + approvals("exec", "any: [ { cel: 'true' }, { %s } ]")
                    + approvals("exec_ephemeral", "%s")
                    + approvals("git_cli", "%s")));
    Run run = writ("policy", "check", changed.toString());
    assertThat(run.status()).as(run.err()).isZero();
    assertThat(run.out().lines().filter(line -> line.startsWith("warning")))
        .hasSize(2)
        .allSatisfy(line -> assertThat(line).contains("(GRD-411)", "writ run --pin-workspace"))
        .anySatisfy(
            line -> assertThat(line).contains("requirement 1 (exec)").endsWith("needs none"))
        .anySatisfy(line -> assertThat(line).contains("requirement 3 (git_cli)").endsWith("does"));
    Files.writeString(changed, Files.readString(changed) + "mode: observe\n");
    assertThat(writ("policy", "check", changed.toString()).out()).doesNotContain("GRD-411");
  }

  private static String approvals(String tool, String require) {
    return "  - effect: { tool: "
        + tool
        + " }\n    require: { "
        + require.replace("%s", "approvals: { role: reviewer, count: 1 }")
        + " }\n";
  }

  private static String rule(String operation) {
    return "  - effect: { tool: js, operation: "
        + operation
        + " }\n    require: { cel: \"true\" }\n";
  }

  @Test
  void aFolderIsNoInput() {
    for (String folder : List.of(dir.toString(), "/", "")) {
      Run run = writ("run", "js", "--param", "source=1", "--input", "text=" + folder);
      assertThat(run.status()).as(run.err()).isEqualTo(4);
      assertThat(run.err()).contains("CLI-002", "is a folder");
    }
  }

  @Test
  void whoApprovesAReceiptIsToldWhereRequestsAre() {
    Run run = writ("approve", receipt(), "--yes");
    assertThat(run.err())
        .contains(
            "CLI-015", "no request; writ log --json lists requests, writ approvals what waits");
  }

  @Test
  void aRunThatIsNotThereIsNoEmptyRun() {
    receipt();
    assertThat(writ("receipts", "--run", "main").status()).isZero();
    Run run = writ("receipts", "--run", "mian");
    assertThat(run.status()).isEqualTo(4);
    assertThat(run.err()).contains("CLI-015", "mian; did you mean main?");
  }

  @Test
  void aFileThatIsThereHasItsOwnRemedy() throws IOException {
    Path file = Files.writeString(dir.resolve("there"), "kept");
    Run run = writ("run", "js", "--param", "source=1", "--save-request", file.toString());
    assertThat(run.status()).isEqualTo(6);
    assertThat(run.err()).contains("CLI-023", "nothing is overwritten");
    assertThat(Files.readString(file)).isEqualTo("kept");
  }

  @Test
  void aBadPolicyIsBrokenInput() throws IOException {
    Path bad = Files.writeString(dir.resolve("bad.yaml"), "writ_policy: 1\nfoo");
    assertThat(writ("policy", "check", bad.toString()).status()).isEqualTo(4);
    assertThat(writ("policy", "activate", bad.toString()).status()).isEqualTo(4);
  }

  @Test
  void aVersionThatTheFileDoesNotStateIsExplained() {
    Run again = writ("policy", "activate", policy().toString());
    assertThat(again.out()).contains("version 2", "the file says version 1");
  }

  @Test
  void anUnknownKeyOfTheConfigurationIsCalledOne() throws IOException {
    Path file = Files.writeString(dir.resolve("g.yaml"), "writ_gateway: 1\nlissten: {}\n");
    assertThat(writ("config", "check", file.toString()).err())
        .contains("GWY-002", "a key is not known here", "line 2", "/lissten: did you mean listen?");
    Files.writeString(file, "listen: {}\n");
    assertThat(writ("config", "check", file.toString()).err())
        .contains("GWY-002", "a key is missing", "/writ_gateway");
  }

  /** The remedy of the code of its first fault alone would be one for another kind of file. */
  @Test
  void aFileOfAnotherKindIsCalledWhatItIs() throws IOException {
    String gateway = dir.resolve("home/gateway.yaml").toString();
    String policy = policy().toString();
    assertThat(writ("policy", "check", gateway).err())
        .contains("GRD-503", "/writ_policy: the file is a server's configuration; writ config")
        .hasLineCount(1);
    assertThat(writ("config", "check", policy).err())
        .contains("GWY-002", "/writ_gateway: the file is a policy; writ policy check reads it");
    assertThat(writ("submit", policy).err()).contains("CLI-001", policy + " is no signed request");
    assertThat(writ("key", "enrol", policy, "--role", "agent", "--subject", "ada").err())
        .contains("CAN-003", policy + ", which should be a public JWK");
    assertThat(writ("tool", "register", policy).err()).contains("TOL-206", "as a ZIP file does");
    assertThat(writ("verify", policy).out()).contains("RPL-010", "Name a file that writ export");
    assertThat(writ("diff", policy, policy).err()).contains("RPL-010", policy + ": it does not");
  }

  @Test
  void aKeyThatIsNearlyAnotherIsTold() throws IOException {
    Path changed = dir.resolve("changed.yaml");
    Files.writeString(changed, Files.readString(policy()).replace("\nbudgets:", "\nbugdets:"));
    assertThat(writ("policy", "check", changed.toString()).err())
        .contains("GRD-502", "/bugdets: did you mean budgets?");
  }

  @Test
  void aTokenForNobodyIsTold() {
    assertThat(writ("config", "token", "ci").err()).isEmpty();
    Run nobody = writ("config", "token", "ci", "--subject", "nobody");
    assertThat(nobody.status()).isZero();
    assertThat(nobody.err())
        .contains("warning: token ci: the policy in force knows no local/nobody")
        .hasLineCount(1);
  }

  @Test
  void aTokenIsForWhomTheDataDirectoryIs() {
    Path other = dir.resolve("other");
    Run made = Run.of("--home", other + "", "init", "--tenant", "acme", "--agent", "builder");
    assertThat(made.status()).as(made.err()).isZero();
    assertThat(Run.of("--home", other + "", "config", "token", "ci").out())
        .contains("tenant: \"acme\", subject: \"builder\"");
    assertThat(Run.of("--home", dir.resolve("none") + "", "config", "token", "ci").out())
        .contains("tenant: \"local\", subject: \"agent\"");
    assertThat(Run.of("--home", other + "", "config", "token", "ci", "--subject", "approver").out())
        .contains("tenant: \"acme\", subject: \"approver\"");
  }

  /** As after writ demo: the server starts without one, so the check takes it. */
  @Test
  void aHomeWithoutAConfigurationIsServedAsItIs() throws IOException {
    Files.delete(dir.resolve("home/gateway.yaml"));
    Run checked = writ("config", "check");
    assertThat(checked.status()).as(checked.err()).isZero();
    assertThat(checked.out()).contains("listens on 127.0.0.1:8181", "tokens: 0");
  }

  @Test
  void aProjectIsNoPackageYet() {
    Path project = dir.resolve("my-tool");
    assertThat(Run.of("tool", "new", "python", project.toString()).status()).isZero();
    Run run = writ("tool", "register", project.toString());
    assertThat(run.status()).isEqualTo(2);
    assertThat(run.err()).contains("is a project", "writ tool package", "writ tool sign");
  }

  @Test
  void aScriptOfCompletionIsDataToo() {
    assertThat(Run.of("--json", "completion", "bash").out())
        .startsWith("{\"script\":\"")
        .endsWith("\"shell\":\"bash\"}\n")
        .hasLineCount(1);
  }

  @Test
  void aTerminalGetsWholeLinesAndAPipeTheBytes() {
    String receipt = receipt();
    assertThat(writ("output", receipt).out()).isEqualTo("42");
    assertThat(line("out", "output", receipt).out()).isEqualTo("42\n");
    assertThat(writ("output", receipt, "--observations").out()).doesNotContain("\n");
    assertThat(line("out", "output", receipt, "--observations").out().lines())
        .contains("{", "  \"end\": \"succeeded\",", "}");
  }

  @Test
  void keyIdsAreWholeInEightyColumns() {
    assertThat(line("out", "key", "list").out().lines())
        .filteredOn(line -> line.matches("[a-z-]+ .*"))
        .hasSizeGreaterThan(6)
        .filteredOn(line -> !line.startsWith("role"))
        .allMatch(line -> line.matches(".* [A-Za-z0-9_-]{43}") && line.length() <= 80);
  }

  @Test
  void closingSaysWhatWasClosedBesideTheNote() {
    receipt();
    Run closed = writ("close", "main");
    assertThat(closed.out()).startsWith("writ-").endsWith("=\n");
    assertThat(closed.err()).contains("run main takes no more requests");
  }

  @Test
  void aPassphraseThatIsMissingIsAskedForByTheNameOfItsVariable() {
    Path home = dir.resolve("encrypted");
    Run made = Run.in(Map.of("WRIT_PASSPHRASE", "x"), "--home", home.toString(), "init");
    assertThat(made.status()).as(made.err()).isZero();
    assertThat(Run.of("--home", home.toString(), "checkpoint").err())
        .contains("CAN-077", "WRIT_PASSPHRASE");
  }
}
