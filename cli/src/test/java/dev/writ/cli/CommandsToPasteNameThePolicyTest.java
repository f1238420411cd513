package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.rules.Project;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A command that is printed for the policy's file works in any folder: spec/cli.md. */
class CommandsToPasteNameThePolicyTest {
  @TempDir Path dir;
  private OneHome home;
  private String policy;

  @BeforeEach
  void beginInAFolderWithASpace() {
    home = new OneHome(dir.resolve("3 ü's/home"), Map.of());
    home.done("init");
    policy = home.home().resolve("policy.yaml").toString();
  }

  /** What a shell makes of a line after its program. */
  private static List<String> words(String line) throws IOException, InterruptedException {
    Process shell = new ProcessBuilder("sh").redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String script = line.strip().replaceFirst(".*writ ", "printf '%s\\\\n' ") + "\n";
    shell.getOutputStream().write(script.getBytes(StandardCharsets.UTF_8));
    shell.getOutputStream().close();
    String said = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(shell.waitFor()).as(line).isZero();
    return said.lines().toList();
  }

  private void assertActivates(String text) throws IOException, InterruptedException {
    assertActivates(text, List.of("policy", "activate", policy));
  }

  /** A command that was told its data directory has the next one work on that, too. */
  private void assertActivatesHere(String text) throws IOException, InterruptedException {
    assertActivates(text, List.of("--home", home.home().toString(), "policy", "activate", policy));
  }

  private static void assertActivates(String text, List<String> words)
      throws IOException, InterruptedException {
    List<String> lines = text.lines().filter(line -> line.contains("policy activate")).toList();
    assertThat(lines).as(text).isNotEmpty();
    for (String line : lines) {
      assertThat(words(line)).isEqualTo(words);
    }
  }

  @Test
  void inThePolicysOwnHead() throws Exception {
    String text = Files.readString(Path.of(policy));
    assertActivates(text);
    String checking =
        text.lines().filter(line -> line.contains("policy check")).findFirst().orElseThrow();
    assertThat(words(checking)).containsExactly("policy", "check", policy);
    home.done("policy", "activate", policy);
  }

  @Test
  void ofInitAndOfWhatWaits() throws Exception {
    OneHome other = new OneHome(dir.resolve("an other"), Map.of());
    assertNext(other.done("init").out(), other, "run", "js", "--param", "source=6*7");
    String waits = other.writ("run", "sql", "--param", "sql=select 1", "--output-kb", "2000").err();
    String request = waits.replaceAll("(?s).*  request  sha256:(.{12}).*", "$1");
    assertNext(waits, other, "approve", request);
    String approved = other.done("approve", request, "--yes").err();
    assertNext(approved.replace(", unless", " # unless"), other, "submit", request);
    // Where nobody named one, it is found by where the user is.
    Map<String, String> here = Map.of("WRIT_HOME", other.home().toString());
    assertThat(Run.in(here, "upgrade", "status").out()).doesNotContain("--home");
  }

  private static void assertNext(String text, OneHome of, String... command) throws Exception {
    String line = text.lines().filter(l -> l.matches("(?i) *next: .*")).findFirst().orElseThrow();
    List<String> words = new ArrayList<>(List.of("--home", of.home().toString()));
    words.addAll(List.of(command));
    assertThat(words(line)).isEqualTo(words);
  }

  /** Of commands that an operator pastes, such as from a report at night. */
  @Test
  void ofTheDoctorAndOfStatements() throws Exception {
    assertThat(home.writ("doctor").out().replaceAll("\\s+", " "))
        .contains(" --home '" + quoted() + "' key move FOLDER");
    assertThat(home.done("config", "check").err()).contains(quoted(), "key move FOLDER");
    String held = home.done("hold", "place", "case 7", "nobody").err();
    assertThat(
            words("writ " + held.replaceFirst("(?s).*If not: ", "").replaceFirst(".*?writ ", "")))
        .containsExactly("--home", home.home().toString(), "hold", "release", "case 7");
    String runtime = home.done("runtime", "approve", "pyhton", "3.13").err();
    assertThat(runtime).contains(quoted(), "runtime withdraw pyhton 3.13", "tool status");
    Path secret = home.home().resolve("keys/agent.pem");
    Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-r--r--"));
    assertThat(home.writ("doctor", "--fix").out()).contains(quoted() + "' doctor --fix --yes");
  }

  /** The data directory, as a shell takes it within quotes. */
  private String quoted() {
    return home.home().toString().replace("'", "'\\''");
  }

  @Test
  void ofMcpAddRegisterAndSetup() throws Exception {
    Path script = Project.root().resolve("tools/src/test/resources/dev/writ/tools/mcp/server.py");
    assertActivatesHere(AddedServer.add(home.home().toString(), "calc", script).out());
    assertActivatesHere(home.done("mcp", "remove", "calc").out());
    Path own = Files.createDirectory(dir.resolve("user"));
    OneHome user =
        new OneHome(home.home(), Map.of("HOME", own.toString(), "XDG_CONFIG_HOME", own + "/c"));
    assertActivatesHere(user.done("setup", "claude-code", "--command", "/bin/true").out());
    Path folder = home.home().resolve("tools/calc/1.0.0");
    assertActivatesHere(home.done("tool", "register", folder.toString()).out());
  }
}
