package dev.writ.embed;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program that README.md shows, byte for byte, in an empty folder. */
class TheReadmesProgramRunsTest {
  private static final Pattern PROGRAM =
      Pattern.compile("<!-- library -->\n```java\n(.*?)```\n<!-- /library -->", Pattern.DOTALL);

  private static final String CLASS_PATH = System.getProperty("java.class.path");

  @TempDir Path folder;

  /** Once, in this process, for both runs. */
  private void compile() {
    String file = folder.resolve("Program.java").toString();
    int status =
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, "-proc:none", "-cp", CLASS_PATH, "-d", folder.toString(), file);
    assertThat(status).isZero();
  }

  private String run() throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                folder + File.pathSeparator + CLASS_PATH,
                "Program")
            .directory(folder.toFile())
            .redirectError(folder.resolve("stderr").toFile())
            .start();
    process.getOutputStream().close();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(Files.readString(folder.resolve("stderr"))).isZero();
    return out.strip();
  }

  @Test
  void itCompilesAndPrintsTheAnswerAndAReceiptAlsoASecondTime() throws Exception {
    Matcher program = PROGRAM.matcher(Files.readString(Path.of("..", "README.md")));
    assertThat(program.find()).isTrue();
    Files.writeString(folder.resolve("Program.java"), program.group(1));
    compile();
    String first = run();
    assertThat(first).matches("42 sha256:[0-9a-f]{64}");
    assertThat(run()).matches("42 sha256:[0-9a-f]{64}").isNotEqualTo(first);
    assertThat(folder.resolve("writ-data/policy.yaml")).exists();
  }
}
