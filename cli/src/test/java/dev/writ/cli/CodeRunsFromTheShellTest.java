package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.rules.Project;
import dev.writ.sandbox.host.Trees;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Code runs in a sandbox from the command line, and its run is replayed: recorded, and live. */
class CodeRunsFromTheShellTest {
  @TempDir Path dir;
  private Path sandboxes;

  @BeforeEach
  void place() throws Exception {
    sandboxes = Files.createTempDirectory(Path.of("/tmp"), "cli");
    Files.setPosixFilePermissions(sandboxes, PosixFilePermissions.fromString("rwx--x--x"));
    assertThat(writ("init").status()).isZero();
  }

  @AfterEach
  void remove() {
    Trees.remove(sandboxes);
  }

  private Run writ(String... args) {
    return in(Map.of(), args);
  }

  private Run in(Map<String, String> more, String... args) {
    TreeMap<String, String> environment = new TreeMap<>(more);
    environment.put("WRIT_HOME", dir.resolve("home").toString());
    environment.put("WRIT_SANDBOX_DIR", sandboxes.resolve("s").toString());
    return Run.on("", "", environment, Commands.ALL, args);
  }

  private Run code(String tool, String language, String code, String... more) {
    String[] args = new String[6 + more.length];
    String[] first = {"run", tool, "--param", "language=" + language, "--param", "code=" + code};
    System.arraycopy(first, 0, args, 0, 6);
    System.arraycopy(more, 0, args, 6, more.length);
    return writ(args);
  }

  @Test
  void aRunOfCodeIsReplayedWithoutAnEngineAndLive() throws Exception {
    Run python = code("code_interpreter", "python", "print(6*7)", "--json");
    assertThat(python.status()).as(python.out() + python.err()).isZero();
    assertThat(python.out()).contains("\"stdout\":\"42\\n\"", "\"status\":\"succeeded\"");
    Path input = Files.writeString(dir.resolve("data.csv"), "1;2");
    for (String[] one :
        new String[][] {
          {
            "python",
            "import time, random\n[time.time(), random.random(), open('in/data.csv').read()]"
          },
          {"node", "[Date.now(), Math.random(), require('fs').readFileSync('in/data.csv', 'utf8')]"}
        }) {
      Run run = code("code_reproducible", one[0], one[1], "--input", input.toString());
      assertThat(run.status()).as(run.out() + run.err()).isZero();
      assertThat(run.out()).contains("\"1;2\"");
    }
    Run killed = code("code_reproducible", "python", "x = bytearray(1 << 30)");
    assertThat(killed.status()).isNotZero();
    assertThat(killed.err()).contains("KILLED  out-of-memory");

    assertThat(writ("close", "main").status()).isZero();
    String file = dir.resolve("main.writ").toString();
    assertThat(writ("export", "main", "-o", file).status()).isZero();
    String trust = dir.resolve("home/trust.jwks").toString();
    Run recorded = writ("replay", file, "--trust", trust);
    assertThat(recorded.out()).startsWith("COMPLETE").contains("4 effects");
    assertThat(recorded.status()).isZero();
    Run live = writ("replay", file, "--live", "--trust", trust);
    assertThat(live.out())
        .startsWith("COMPLETE")
        .contains(
            "2 effects: their tool ran again",
            "1 effects: their tool is recorded: it cannot be run again",
            "1 effects: ended by a ceiling of the host");
    assertThat(live.status()).isZero();
    assertThat(writ("audit").status()).isZero();
  }

  @Test
  void theReceiptOfARunThatWasKilledForMemoryIsAsThePageShowsIt() {
    String page = Project.read(Project.root().resolve("spec/tool-code.md"));
    int begin = page.indexOf("```json writ:receipt\n") + "```json writ:receipt\n".length();
    JsonValue.Obj shown = parse(page.substring(begin, page.indexOf("\n```", begin)));
    Run run =
        code("code_interpreter", "python", "print('before')\nx = bytearray(1 << 30)", "--json");
    JsonValue.Obj receipt = (JsonValue.Obj) parse(run.out()).get("receipt");
    assertThat(receipt.members().keySet()).isEqualTo(shown.members().keySet());
    for (String same :
        new String[] {"status", "reason", "message", "workspace_before", "artifacts"}) {
      assertThat(receipt.get(same)).as(same).isEqualTo(shown.get(same));
    }
  }

  private static JsonValue.Obj parse(String json) {
    return (JsonValue.Obj) Jcs.parse(json.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void aHomeThatIsMadeAgainFindsNothingOfTheOneBefore() throws Exception {
    code("code_interpreter", "python", "open('left.txt', 'w').write('secret')");
    String list = "import os; print(os.listdir('.'))";
    assertThat(code("code_interpreter", "python", list).out()).contains("left.txt");
    Trees.remove(dir.resolve("home"));
    Files.delete(dir.resolve("home.anchor"));
    assertThat(writ("init").status()).isZero();
    assertThat(code("code_interpreter", "python", list).out()).doesNotContain("left.txt");
  }

  @Test
  void whereNoEngineIsItIsRefusedAndSaysHowToGetOne() {
    Run js = in(Map.of("WRIT_SANDBOX_ENGINE", "podman"), "run", "js", "--param", "source=1");
    assertThat(js.status()).isZero();
    assertThat(Files.exists(sandboxes.resolve("s"))).isFalse();
    Run none =
        in(
            Map.of("WRIT_SANDBOX_ENGINE", "podman"),
            "run",
            "code_interpreter",
            "--param",
            "language=python",
            "--param",
            "code=1");
    assertThat(none.status()).isNotZero();
    assertThat(none.out() + none.err()).contains("SBX-002", "Install");
  }

  @Test
  void thePrivilegedProfileTakesASignedApproval() throws Exception {
    Run denied = code("code_interpreter", "python", "1", "--sandbox", "privileged");
    assertThat(denied.err()).contains("DENIED", "GRD-414");
    Path policy = dir.resolve("home/policy.yaml");
    String text = Files.readString(policy);
    String rule = "      cel: \"size(params.code) <= 100000\"\n";
    Files.writeString(
        policy,
        text.replace("version: 1\n", "version: 2\n")
            .replace("sandboxes: [default,", "sandboxes: [default, privileged,")
            .replaceFirst(Pattern.quote(rule), "      approvals: { role: reviewer, count: 1 }\n"));
    Run activated = writ("policy", "activate", policy.toString());
    assertThat(activated.status()).as(activated.err()).isZero();
    Run unpinned = code("code_interpreter", "python", "7", "--sandbox", "privileged", "--json");
    assertThat(approve(unpinned)).contains("\"verdict\":\"DENY\"", "GRD-411");
    Run waits =
        code(
            "code_interpreter",
            "python",
            "7",
            "--sandbox",
            "privileged",
            "--pin-workspace",
            "--save-request",
            dir.resolve("request.json").toString(),
            "--json");
    assertThat(waits.out()).contains("\"verdict\":\"ESCALATE\"");
    assertThat(approve(waits)).contains("\"verdict\":\"ALLOW\"");
    assertThat(writ("submit", dir.resolve("request.json").toString(), "--json").out())
        .contains("\"return_value\":7", "\"status\":\"succeeded\"");
  }

  private String approve(Run waiting) {
    String id = waiting.out().replaceFirst("(?s).*\"request\":\"(sha256:[0-9a-f]+)\".*", "$1");
    return writ("approve", id, "--yes", "--json").out();
  }
}
