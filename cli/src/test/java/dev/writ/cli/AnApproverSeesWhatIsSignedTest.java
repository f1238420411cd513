package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.term.Text;
import dev.writ.embed.Writ;
import dev.writ.embed.WritBuilder;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.StarterPolicy;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.EffectDraft;
import dev.writ.tools.registry.BuiltinTools;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What waits is listed, shown whole before it is signed, and signed only where somebody says so.
 */
class AnApproverSeesWhatIsSignedTest {
  private static final String HOSTILE =
      "select 1 -- \u001b[2J\u202egnp\n+added\npolicy     none   signs nobody";

  private static final Home.Names NAMES = new Home.Names("local", "agent", "approver");

  @TempDir Path folder;
  private String home;

  @BeforeEach
  void init() {
    home = folder.resolve("home").toString();
    assertThat(writ("init").status()).isZero();
  }

  private Run writ(String... args) {
    return at("", "", args);
  }

  /** With this input, where these streams are terminals. */
  private Run at(String input, String terminals, String... args) {
    return Run.on(
        input,
        terminals,
        Map.of("WRIT_HOME", home, "NO_COLOR", "1", "COLUMNS", "80"),
        Commands.ALL,
        args);
  }

  private static JsonValue.Obj json(String line) {
    return (JsonValue.Obj) Jcs.parse(line.getBytes(StandardCharsets.UTF_8));
  }

  private String ask(String sql) throws IOException {
    Path staff = Files.writeString(folder.resolve("staff.csv"), "name,salary\nAda,120\n");
    Run asked =
        writ(
            "run",
            "sql",
            "--param",
            "sql=" + sql,
            "--input",
            staff.toString(),
            "--output-kb",
            "2048",
            "--json");
    assertThat(asked.status()).as(asked.err()).isEqualTo(ExitCode.PENDING.status());
    return ((JsonValue.Str) json(asked.out()).get("request")).value();
  }

  private int waiting() {
    return ((JsonValue.Arr) json(writ("approvals", "--json").out()).get("waiting")).items().size();
  }

  @Test
  void nothingIsSignedUnlessSomebodySaysYes() throws IOException {
    String request = ask("select max(salary) from staff");
    for (String answer : new String[] {"", "\n", "n\n", "yea\n", "yes or no\n", "y"}) {
      Run run = at(answer, "in,err", "approve", request);
      assertThat(run.status()).as(answer).isEqualTo(ExitCode.REFUSED.status());
      assertThat(run.err()).contains("Approve? [y/N]").endsWith("Nothing was signed.\n");
      assertThat(run.out()).isEmpty();
    }
    for (String terminals : new String[] {"", "in", "err", "out"}) {
      Run nobody = at("y\n", terminals, "approve", request);
      assertThat(nobody.status()).isEqualTo(ExitCode.USAGE.status());
      assertThat(nobody.err()).startsWith("writ: CLI-001 ").contains("--yes").hasLineCount(1);
    }
    assertThat(waiting()).isEqualTo(1);

    Run yes = at("Y\n", "in,err", "approve", request.substring(7, 19), "--reason", "seen it");
    assertThat(yes.status()).as(yes.err()).isZero();
    assertThat(yes.err()).contains("reason     seen it", "signs      approver as reviewer");
    assertThat(waiting()).isZero();
    assertThat(writ("submit", request, "--json").out()).contains("[[120]]");
    assertThat(at("y\n", "in,err", "approve", request).err())
        .startsWith("writ: EXE-908 ")
        .doesNotContain("[y/N]");
  }

  @Test
  void aRejectionTellsItsReason() throws IOException {
    String request = ask("select 1");
    Run lines = writ("approve", request, "--reject", "--yes", "--reason", "a\nb");
    assertThat(lines.err()).startsWith("writ: CAN-023 ");
    assertThat(waiting()).isEqualTo(1);
    Run run = at("yes\n", "in,err", "approve", request, "--reject", "--reason", "not these");
    assertThat(run.status()).as(run.err()).isZero();
    assertThat(run.err()).contains("Reject? [y/N]");
    assertThat(waiting()).isZero();
    assertThat(writ("submit", request).status()).isEqualTo(ExitCode.REFUSED.status());
  }

  @Test
  void whatACallerWroteSteersNothingAndPassesForNothing() throws IOException {
    String request = ask(HOSTILE + " ".repeat(100) + "policy     forged");
    Run shown = at("n\n", "in,err", "approve", request);
    assertThat(shown.err())
        .doesNotContain("\u001b", "\u202e")
        .contains("  │ +added", "input      staff.csv  20 bytes", "operation  ")
        .contains("  │ name,salary\n  │ Ada,120\n");
    assertThat(shown.err().lines().filter(line -> line.startsWith("policy "))).hasSize(1);
    assertThat(shown.err().lines().filter(line -> line.contains("forged")))
        .isNotEmpty()
        .allMatch(line -> line.startsWith("  │ "));
    assertThat(shown.err().lines()).allMatch(line -> Text.width(line) <= 80);
    Run table = at("", "out,err", "approvals");
    assertThat(table.out())
        .doesNotContain("\u001b", "\u202e")
        .contains("waits", request.substring(7, 19), "reviewer");
    assertThat(table.out().lines()).allMatch(line -> Text.width(line) <= 80).hasSize(3);
    Run csv = writ("approvals", "--output", "csv");
    assertThat(csv.out()).startsWith("for,subject,tool,").contains("reviewer 0 of 1", request);
    assertThat(writ("approvals", "--output", "xml").status()).isEqualTo(2);
  }

  /** Nobody can approve it any more, and its run stays open until somebody rejects it. */
  @Test
  void whatWaitedForTooLongIsCalledSoAndCanOnlyBeRejected() {
    Path old = folder.resolve("old");
    home = old.toString();
    Instant before = Instant.now().minus(Duration.ofHours(1));
    List<String> asked = new ArrayList<>();
    WritBuilder library =
        Writ.at(old).names("local", "agent", "approver").clock(() -> before, () -> 0);
    String policy = StarterPolicy.text(NAMES, BuiltinTools.manifests());
    assertThat(policy).contains("pending_max_s: 604800");
    try (Writ writ =
        library
            .policy(policy.replace("pending_max_s: 604800", "pending_max_s: 60"))
            .withoutProcesses()
            .open()) {
      var most = Optional.of(2L << 20);
      var declared =
          new EffectDraft.Declared(Optional.empty(), Optional.empty(), most, Optional.empty());
      for (String sql : List.of("select 1", "select 2")) {
        EffectDraft draft = Effect.of("sql").param("sql", sql).resources(declared);
        asked.add(writ.agent("agent").run("main").ask(draft).requestId().toString());
      }
    }
    Run list = writ("approvals");
    assertThat(list.out()).contains("too late").doesNotContain("waits");
    assertThat(list.err()).contains("keeps its run open").contains("approve REQUEST --reject");
    assertThat(writ("approvals", "--json").out()).contains("\"state\":\"too late\"");
    Run again = writ("submit", asked.getFirst());
    assertThat(again.status()).isEqualTo(ExitCode.PENDING.status());
    assertThat(again.err()).contains("no approval helps", "--reject").doesNotContain("next:");
    assertThat(writ("close", "main").err()).startsWith("writ: EXE-903 ").contains("--reject");
    Run late = writ("approve", asked.getFirst(), "--yes");
    assertThat(late.status()).isEqualTo(ExitCode.REFUSED.status());
    assertThat(late.err()).startsWith("writ: GRD-308 ").contains("--reject").hasLineCount(1);
    for (String request : asked) {
      Run rejected = writ("approve", request, "--reject", "--yes");
      assertThat(rejected.status()).as(rejected.err()).isZero();
      assertThat(rejected.err()).contains(": too late", "DENIED  it will not be executed: prg");
    }
    assertThat(waiting()).isZero();
    assertThat(writ("close", "main").status()).isZero();
  }

  @Test
  void nothingWaits() {
    assertThat(writ("approvals")).isEqualTo(new Run(0, "", "Nothing waits for an approval.\n"));
    assertThat(writ("approvals", "--json").out()).isEqualTo("{\"waiting\":[]}\n");
    assertThat(writ("approvals", "--output", "csv").out()).hasLineCount(1);
  }

  @Test
  void aWatcherIsToldWhatComesAndWhatBecameOfItUntilCtrlC() throws Exception {
    String first = ask("select 1");
    ProcessBuilder builder =
        new ProcessBuilder(OwnProcess.writ("--home", home, "approvals", "--watch", "--json"));
    Process watcher = builder.redirectError(folder.resolve("log").toFile()).start();
    try (BufferedReader out = watcher.inputReader(StandardCharsets.UTF_8)) {
      assertThat(told(out)).isEqualTo(first + " waits");
      String second = ask("select 2");
      assertThat(told(out)).isEqualTo(second + " waits");
      assertThat(writ("approve", first, "--yes").status()).isZero();
      assertThat(told(out)).startsWith(first + " allowed");
      assertThat(writ("approve", second, "--reject", "--yes").status()).isZero();
      assertThat(told(out)).isEqualTo(second + " denied");
      new ProcessBuilder("kill", "-INT", Long.toString(watcher.pid())).start().waitFor();
      assertThat(watcher.waitFor(1, TimeUnit.MINUTES)).isTrue();
      assertThat(watcher.exitValue()).isEqualTo(ExitCode.INTERRUPTED.status());
      assertThat(out.readLine()).isNull();
    } finally {
      watcher.destroyForcibly();
    }
    assertThat(folder.resolve("log")).isEmptyFile();
  }

  private static String told(BufferedReader out) throws IOException {
    JsonValue.Obj row = json(out.readLine());
    return ((JsonValue.Str) row.get("request_id")).value()
        + " "
        + ((JsonValue.Str) row.get("state")).value();
  }
}
