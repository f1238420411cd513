package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.rules.Project;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The commands of the README's "For auditors", in their order, as they stand there, in a folder
 * with nothing but the launcher: each must succeed.
 */
class ReadmeAuditorsTest {

  @Test
  void everyCommandForAuditorsWorksAsWritten(@TempDir Path folder) throws Exception {
    List<String> commands = commands();
    assertThat(commands).hasSizeGreaterThan(8);
    Path launcher =
        Files.createSymbolicLink(folder.resolve("writ"), Project.root().resolve("writ"));
    Process demo = start(folder, "./writ demo");
    assertThat(demo.waitFor(5, TimeUnit.MINUTES)).isTrue();
    assertThat(demo.exitValue()).as(said(folder)).isZero();
    for (String command : commands) {
      Process process = start(folder, command);
      assertThat(process.waitFor(5, TimeUnit.MINUTES)).as(command).isTrue();
      assertThat(process.exitValue()).as(command + "\n" + said(folder)).isZero();
    }
    assertThat(Files.readString(folder.resolve("demo.html"))).contains("<title>");
    Files.delete(launcher);
  }

  private static List<String> commands() throws IOException {
    String text = Project.read(Project.root().resolve("README.md"));
    String block =
        text.substring(text.indexOf("<!-- auditors -->"), text.indexOf("<!-- /auditors -->"));
    return block
        .lines()
        .filter(line -> line.matches("(\\./writ|node|unzip) .*"))
        .map(line -> line.replaceAll("\\s+#.*", ""))
        .toList();
  }

  private static Process start(Path folder, String command) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder("bash", "-c", command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("said.txt").toFile());
    builder.environment().put("NO_COLOR", "1");
    return builder.start();
  }

  private static String said(Path folder) throws IOException {
    return Files.readString(folder.resolve("said.txt"));
  }
}
