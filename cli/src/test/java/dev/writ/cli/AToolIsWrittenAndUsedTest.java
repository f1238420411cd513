package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.base.ExitCode;
import dev.writ.sandbox.host.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An author's way, from {@code tool new} to a receipt and its replay; and what is refused on it.
 */
class AToolIsWrittenAndUsedTest {
  @TempDir Path dir;
  private Path sandboxes;
  private Path project;
  private Path file;

  @BeforeEach
  void init() throws IOException {
    sandboxes = Files.createTempDirectory(Path.of("/tmp"), "cli");
    Files.setPosixFilePermissions(sandboxes, PosixFilePermissions.fromString("rwx--x--x"));
    project = dir.resolve("word-stats");
    file = dir.resolve("word-stats.tool");
    done("init");
    done("key", "new", "publisher", "--role", "publisher");
  }

  private void begin(String language) {
    done("tool", "new", language, project.toString());
  }

  @AfterEach
  void remove() {
    Trees.remove(sandboxes);
  }

  private Run writ(String... args) {
    TreeMap<String, String> environment = new TreeMap<>();
    environment.put("WRIT_HOME", dir.resolve("home").toString());
    environment.put("WRIT_SANDBOX_DIR", sandboxes.resolve("s").toString());
    return Run.on("", "", environment, Commands.ALL, args);
  }

  private Run done(String... args) {
    Run run = writ(args);
    assertThat(run.status()).as(run.out() + run.err()).isZero();
    return run;
  }

  private void refused(String code, String... args) {
    Run run = writ(args);
    assertThat(run.status()).as(run.out()).isNotZero();
    assertThat(run.err()).contains(code).doesNotContain("\tat ");
  }

  private static void edit(Path path, String from, String to) throws IOException {
    String text = Files.readString(path);
    assertThat(text).contains(from);
    Files.writeString(path, text.replace(from, to));
  }

  private String registered() {
    done("tool", "package", project.toString(), "-o", file.toString());
    done("tool", "sign", file.toString());
    Run run = done("tool", "register", file.toString());
    Matcher line = Pattern.compile("- \\{ name: word-stats.*}").matcher(run.out());
    assertThat(line.find()).as(run.out()).isTrue();
    return line.group();
  }

  private void approve(String line) throws IOException {
    Path policy = dir.resolve("home/policy.yaml");
    edit(policy, "web_browser, word-count]", "web_browser, word-count, word-stats]");
    edit(policy, "\nbudgets:\n", "  " + line + "\n\nbudgets:\n");
    Files.writeString(
        policy,
        "  - effect: { tool: word-stats }\n    require:\n      cel: \"size(params.text) < 1000\"\n",
        StandardOpenOption.APPEND);
    done("policy", "activate", policy.toString());
  }

  /** What a new user does, as the README says it. */
  @ParameterizedTest
  @ValueSource(strings = {"python", "node", "java", "perl"})
  void fromAnEmptyFolderToAReceipt(String language) throws IOException {
    begin(language);
    assertThat(done("tool", "test", project.toString()).out()).contains("passed test/count.json");
    assertThat(done("tool", "lint", project.toString()).out()).contains("Nothing");
    assertThat(done("tool", "lock", project.toString()).out()).contains("Nothing lies below");
    String line = registered();
    refused("GRD-101", "run", "word-stats", "--param", "text=x"); // nobody approved it
    approve(line);
    Run run = done("run", "word-stats", "--param", "text=one two", "--json");
    assertThat(run.out())
        .contains(
            "\"output\":{\"characters\":7,\"lines\":0,\"words\":2}", "\"status\":\"succeeded\"");
    Path bundle = dir.resolve("run.writ");
    done("close", "main");
    done("export", "main", "-o", bundle.toString());
    assertThat(writ("replay", bundle.toString()).out()).contains("COMPLETE");
  }

  @Test
  void whatIsWrongWithATestAndWhatIsNoPackageIsNamed() throws IOException {
    begin("python");
    Path test = project.resolve("test/count.json");
    Files.writeString(test, "{\"operation\":");
    refused("test/count.json at byte", "tool", "test", project.toString());
    Files.delete(test);
    refused("has no test: write one", "tool", "test", project.toString());
    refused("writ tool package", "tool", "sign", project.toString());
    refused("writ tool package", "tool", "submit", project.toString());
    done("run", "js", "--param", "source=1");
    done("close", "main");
    refused("--run NAME", "run", "js", "--param", "source=1");
  }

  @Test
  void whatNobodySignedIsNotRegistered() throws IOException {
    begin("python");
    done("tool", "package", project.toString(), "--out", file.toString());
    byte[] unsigned = Files.readAllBytes(file);
    refused("TOL-207", "tool", "register", file.toString());
    refused("CLI-024", "tool", "sign", file.toString(), "--as", "nobody");
    done("tool", "sign", file.toString(), "--as", "operator");
    refused("CAN-053", "tool", "register", file.toString());
    done("tool", "sign", file.toString());
    done("key", "revoke", "publisher");
    refused("CAN-055", "tool", "register", file.toString());
    // The same project packs to the same bytes.
    done("tool", "package", project.toString(), "--out", file.toString());
    assertThat(Files.readAllBytes(file)).isEqualTo(unsigned);
    assertThat(dir.resolve("home/tools/word-stats")).doesNotExist();
  }

  @Test
  void whatLintFindsIsNeitherPackedNorHidden() throws IOException {
    begin("python");
    Files.writeString(
        project.resolve("src/tool.py"), "import socket\n\n\ndef count(input, context): pass\n");
    Run lint = writ("tool", "lint", project.toString());
    assertThat(lint.status()).isEqualTo(ExitCode.REFUSED.status());
    assertThat(lint.out()).contains("TOL-211 src/tool.py line 1, column 1: module socket");
    refused("TOL-211", "tool", "package", project.toString(), "--out", file.toString());
    assertThat(file).doesNotExist();
    assertThat(writ("tool", "test", project.toString()).out()).contains("FAILED test/count.json");
    refused("TOL-209", "tool", "new", "node", project.toString());
    refused("CLI-001", "tool", "new", "cobol", dir.resolve("x").toString());
    refused("TOL-021", "tool", "new", "node", dir.resolve("No Name").toString());
  }

  @Test
  void aVersionIsRegisteredOnce() throws IOException {
    begin("python");
    registered();
    registered(); // the same again
    edit(project.resolve("src/tool.py"), "text.count", "1 + text.count");
    done("tool", "package", project.toString(), "--out", file.toString());
    done("tool", "sign", file.toString());
    refused("TOL-022", "tool", "register", file.toString());
  }
}
