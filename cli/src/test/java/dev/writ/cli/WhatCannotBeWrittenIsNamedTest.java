package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.cli.command.OutputFile;
import dev.writ.cli.rules.Project;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A place that cannot be written to: the status 6 of spec/cli.md, its path and the reason. */
class WhatCannotBeWrittenIsNamedTest {
  @TempDir Path dir;
  private OneHome home;

  @BeforeEach
  void begin() {
    home = new OneHome(dir.resolve("home"), Map.of());
    home.done("init");
  }

  @Test
  void ofASecret() throws IOException {
    Path value = Files.writeString(dir.resolve("value"), "correct horse battery");
    home.done("secret", "put", "one", "--file", value.toString());
    Files.createDirectories(home.home().resolve("secrets/two/full"));
    Run refused = home.writ("secret", "put", "two", "--file", value.toString());
    assertThat(refused.status()).as(refused.err()).isEqualTo(6);
    assertThat(refused.err())
        .contains("TOL-044", home.home().resolve("secrets") + "/", "two", ": Is a directory")
        .doesNotContain("Exception", "correct horse");
  }

  @Test
  void ofAProject() throws IOException {
    Path file = Files.writeString(dir.resolve("file"), "no folder");
    Run refused = home.writ("tool", "new", "python", file.resolve("my-tool").toString());
    assertThat(refused.status()).as(refused.err()).isEqualTo(6);
    assertThat(refused.err()).contains("TOL-027", file.toString()).doesNotContain("Exception");
  }

  @Test
  void ofAPackage() throws IOException {
    Path tools = home.home().resolve("tools");
    Files.deleteIfExists(tools);
    Files.writeString(tools, "a file where the packages belong");
    Path script = Project.root().resolve("tools/src/test/resources/dev/writ/tools/mcp/server.py");
    Run refused = AddedServer.add(home.home().toString(), "calc", script);
    assertThat(refused.status()).as(refused.err()).isEqualTo(6);
    assertThat(refused.err()).contains("TOL-027", tools.toString());
    assertThat(Files.readString(home.home().resolve("policy.yaml"))).doesNotContain("calc");
  }

  /** As a full disk does it: its message names no file, and contents wrap it as they like. */
  @Test
  void aFileThatIsFullIsNamedOnce() {
    Path file = dir.resolve("out");
    IOException full = new IOException("No space left on device");
    OutputStream out =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw full;
          }
        };
    assertThatThrownBy(() ->
            OutputFile.fill(
                out,
                file,
                to -> {
                  try {
                    to.write(new byte[1 << 16]);
                  } catch (IOException e) {
                    throw new IllegalStateException("of a page", e);
                  }
                }))
        .hasMessageContaining("CLI-003")
        .hasMessageContaining(": " + file + ": No space left on device");
  }
}
