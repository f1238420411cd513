package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.rules.Project;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The README shows what {@code ./writ demo} prints: the demo is run, and its output compared with
 * the README's but for what is new in each run (ids, keys, signatures, the random number). Then the
 * commands of "For auditors" and "In CI" run in their order, as they stand there, in a folder with
 * nothing but the launcher and what the demo left: each must succeed. After a change that is meant,
 * {@code -Dwrit.update=true} writes the README's output anew.
 */
class ReadmeCommandsTest {
  private static final String BEGIN = "<!-- demo -->\n```text\n";
  private static final String END = "```\n<!-- /demo -->";

  /** A terminal of the width that the README has. */
  private static final Map<String, String> TERMINAL =
      Map.of("COLUMNS", "108", "NO_COLOR", "1", "WRIT_JAVA_OPTS", "-Dwrit.terminals=out");

  @Test
  void theDemoPrintsWhatIsShownAndEveryCommandForAuditorsWorks(@TempDir Path folder)
      throws Exception {
    List<String> commands = new ArrayList<>(commands("auditors"));
    commands.addAll(commands("ci"));
    assertThat(commands).hasSizeGreaterThan(12);
    Path launcher =
        Files.createSymbolicLink(folder.resolve("writ"), Project.root().resolve("writ"));
    succeeds(folder, "./writ demo", TERMINAL);
    comparedWithReadme(said(folder).replace(folder + "/writ-data", "writ-data"));
    for (String command : commands) {
      succeeds(folder, command, Map.of("NO_COLOR", "1"));
    }
    assertThat(Files.readString(folder.resolve("demo.html"))).contains("<title>");
    Files.delete(launcher);
  }

  private static void comparedWithReadme(String shown) throws IOException {
    Path readme = Project.root().resolve("README.md");
    String text = Project.read(readme);
    int begin = text.indexOf(BEGIN) + BEGIN.length();
    int end = text.indexOf(END, begin);
    assertThat(begin).isGreaterThan(BEGIN.length());
    assertThat(end).isGreaterThan(0);
    if (Boolean.getBoolean("writ.update")) {
      Files.writeString(readme, text.substring(0, begin) + shown + text.substring(end));
      return;
    }
    assertThat(masked(text.substring(begin, end))).isEqualTo(masked(shown));
  }

  /** What each run makes anew, as a word of no particular length; spaces follow from lengths. */
  private static String masked(String text) {
    return text.replaceAll("sha256:[0-9a-f]{64}", "DIGEST")
        .replaceAll("\\b[0-9a-f]{12}\\b", "ID")
        .replaceAll("log key \\S+:", "log key KEY:")
        .replaceAll("(?m)^  — (\\S+) \\S+$", "  — $1 SIGNATURE")
        .replaceAll("(?m)^  [A-Za-z0-9+/]{43}=$", "  ROOT")
        .replaceAll("0\\.\\d{6,}(e-\\d+)?", "RANDOM")
        .replaceAll(" +", " ")
        .replaceAll("─+", "─");
  }

  @Test
  void theCommandsForMcpServersPrintWhatIsShown(@TempDir Path folder) throws Exception {
    Files.createSymbolicLink(folder.resolve("writ"), Project.root().resolve("writ"));
    StringBuilder said = new StringBuilder();
    try (NpmStandIn npm = NpmStandIn.start()) {
      npm.answer(
          "@modelcontextprotocol/server-everything",
          JsonValue.object()
              .put("version", "1.0.0")
              .put("integrity", "sha512-x")
              .put("scripts", JsonValue.FALSE)
              .put(
                  "files",
                  JsonValue.object()
                      .put("package.json", "{\"bin\":\"index.js\"}")
                      .put(
                          "index.js",
                          Project.read(
                              Project.root()
                                  .resolve(
                                      "cli/src/test/resources/dev/writ/cli/npm/everything.js")))
                      .build())
              .build());
      Map<String, String> environment =
          Map.of(
              "NO_COLOR",
              "1",
              "npm_config_registry",
              npm.address(),
              "PATH",
              NpmStandIn.links() + ":" + System.getenv("PATH"));
      for (String line : block("servers").lines().filter(l -> l.startsWith("./writ")).toList()) {
        boolean denied = line.endsWith("# denied");
        succeeds(folder, denied ? "! " + line : line, environment);
        said.append(said(folder)).append('\n');
      }
    }
    List<String> shown =
        block("served").lines().filter(line -> line.matches("(\\{|DENIED).*")).toList();
    assertThat(shown).hasSize(2);
    assertThat(said).contains(shown);
  }

  private static String block(String name) {
    String text = Project.read(Project.root().resolve("README.md"));
    return text.substring(
        text.indexOf("<!-- " + name + " -->"), text.indexOf("<!-- /" + name + " -->"));
  }

  private static List<String> commands(String name) {
    return block(name)
        .lines()
        .filter(line -> line.matches("(\\./writ|node|unzip) .*"))
        .map(line -> line.replaceAll("\\s+#.*", ""))
        .toList();
  }

  private static void succeeds(Path folder, String command, Map<String, String> environment)
      throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder("bash", "-c", command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("said.txt").toFile());
    builder.environment().putAll(environment);
    Process process = builder.start();
    assertThat(process.waitFor(5, TimeUnit.MINUTES)).as(command).isTrue();
    assertThat(process.exitValue()).as(command + "\n" + said(folder)).isZero();
  }

  private static String said(Path folder) throws IOException {
    return Files.readString(folder.resolve("said.txt"));
  }
}
