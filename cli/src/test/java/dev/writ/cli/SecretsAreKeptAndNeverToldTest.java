package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.base.ExitCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A secret's value goes in by a pipe or a file, and no command gives it out again. */
class SecretsAreKeptAndNeverToldTest {
  private static final String VALUE = "correct-horse-battery";

  @TempDir private Path folder;
  private String home;

  @BeforeEach
  void init() {
    home = folder.resolve("home").toString();
    assertThat(writ("", "init").status()).isZero();
  }

  private Run writ(String input, String... args) {
    String[] all = new String[args.length + 2];
    all[0] = "--home";
    all[1] = home;
    System.arraycopy(args, 0, all, 2, args.length);
    Run run = Run.withInput(input, all);
    assertThat(run.out() + run.err()).doesNotContain(VALUE).doesNotContain("Exception");
    return run;
  }

  @Test
  void whatIsPutIsListedByNameAndRemoved() throws IOException {
    assertThat(writ(VALUE + "\n", "secret", "put", "token").out()).isEqualTo("secret token kept\n");
    assertThat(Path.of(home, "secrets", "token")).hasContent(VALUE);
    Path file = Files.writeString(folder.resolve("value"), VALUE + "2\r\n");
    assertThat(writ("", "secret", "put", "other", "--file", file.toString(), "--json").out())
        .isEqualTo("{\"name\":\"other\",\"secret\":\"kept\"}\n");
    assertThat(Path.of(home, "secrets", "other")).hasContent(VALUE + "2");
    assertThat(writ("", "secret", "list", "--json").out())
        .isEqualTo(
            "{\"secrets\":[{\"granted\":false,\"kept\":true,\"name\":\"other\"},"
                + "{\"granted\":false,\"kept\":true,\"name\":\"token\"}]}\n");
    assertThat(writ("", "secret", "list").out()).contains("token", "kept", "not granted");
    assertThat(writ("", "secret", "remove", "token").out()).isEqualTo("secret token removed\n");
    assertThat(Path.of(home, "secrets", "token")).doesNotExist();
    try (Stream<Path> files = Files.walk(Path.of(home))) {
      for (Path path : files.filter(Files::isRegularFile).toList()) {
        if (!path.endsWith("secrets/other")) {
          assertThat(new String(Files.readAllBytes(path), StandardCharsets.ISO_8859_1))
              .as(path.toString())
              .doesNotContain(VALUE);
        }
      }
    }
  }

  /** Whoever looks why a call was refused finds it here, and not that all is well. */
  @Test
  void aSecretThatNoCallGetsIsNotCalledKept() throws IOException {
    writ(VALUE, "secret", "put", "good");
    writ(VALUE, "secret", "put", "open");
    writ(VALUE, "secret", "put", "short");
    Path secrets = Path.of(home, "secrets");
    Files.setPosixFilePermissions(
        secrets.resolve("open"), PosixFilePermissions.fromString("rw-r--r--"));
    Files.writeString(secrets.resolve("short"), "1234567");
    Files.createSymbolicLink(secrets.resolve("link"), secrets.resolve("good"));
    Run listed = writ("", "secret", "list");
    assertThat(listed.status()).isZero();
    assertThat(listed.out().lines())
        .anyMatch(line -> line.matches("good +kept +not granted"))
        .anyMatch(line -> line.matches("open +TOL-042: open has the mode 644 .*not granted"))
        .anyMatch(line -> line.matches("short +TOL-043: 7 bytes +not granted"))
        .anyMatch(line -> line.matches("link +TOL-042: link is no regular file +not granted"));
    assertThat(writ("", "secret", "list", "--json").out())
        .contains("{\"granted\":false,\"kept\":true,\"name\":\"good\"}")
        .contains("\"name\":\"open\",\"refused\":\"TOL-042 ");
  }

  @Test
  void refusalsHaveTheirCodesAndNotTheValue() {
    assertThat(writ(VALUE, "secret", "put", "../x").err()).startsWith("writ: TOL-040 ");
    assertThat(writ("short", "secret", "put", "x").err())
        .startsWith("writ: TOL-043 ")
        .doesNotContain("short\n");
    assertThat(writ("", "secret", "remove", "x").err()).startsWith("writ: TOL-041 ");
    assertThat(writ("", "secret", "put", "x", "--file", folder + "/none").err())
        .startsWith("writ: CLI-002 ");
    assertThat(writ(VALUE, "secret", "put", "x", VALUE.substring(1)).status())
        .as("a value is no argument")
        .isEqualTo(ExitCode.USAGE.status());
    assertThat(Path.of(home, "secrets")).doesNotExist();
  }
}
