package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.rules.Project;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.SandboxPlace;
import dev.writ.tools.process.ProcessHost;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * While {@code writ serve} uses the directory of the home's sandboxes: spec/cli.md, "The running
 * server".
 */
class McpServersAreAddedBesideTheServerTest {
  @TempDir Path dir;
  private OneHome home;
  private Process server;

  @BeforeEach
  void serveWithAServerThatRan() throws IOException {
    home = new OneHome(Path.of(AddedServer.in(dir, "calc", script())), Map.of());
    ProcessBuilder builder =
        new ProcessBuilder(
            OwnProcess.writ("--home", home.home().toString(), "serve", "--json", "--port", "0"));
    server = builder.redirectError(dir.resolve("log").toFile()).start();
    BufferedReader out = server.inputReader(StandardCharsets.UTF_8);
    assertThat(out.readLine()).as(Files.readString(dir.resolve("log"))).contains("\"url\"");
    assertThat(sum()).as("the server has its directory open from now on").contains("5");
  }

  @AfterEach
  void end() throws InterruptedException {
    server.destroy();
    assertThat(server.waitFor()).isEqualTo(143);
  }

  private static Path script() {
    return Project.root().resolve("tools/src/test/resources/dev/writ/tools/mcp/server.py");
  }

  private String sum() {
    return home.done("run", "calc/add", "--param-json", "a=2", "--param-json", "b=3").out();
  }

  @Test
  void serversAreAddedTestedAndRefreshedAndTheServerGoesOn() throws IOException {
    try (ProcessHost taken = SandboxPlace.host(home(), Map.of())) {
      assertThat(taken.requireSettings().stateDirectory().resolve("lock")).exists();
    }
    Run added = AddedServer.add(home.home().toString(), "other", script());
    assertThat(added.status()).as(added.err()).isZero();
    assertThat(added.err()).doesNotContain("SBX-006");
    assertThat(home.done("mcp", "test", "calc").out()).contains("as approved");
    assertThat(home.done("mcp", "test", "other").out()).contains("as approved");
    assertThat(home.done("mcp", "refresh", "calc").out()).contains("as approved");
    Path config =
        Files.writeString(
            dir.resolve("client.json"),
            "{\"mcpServers\":{\"third\":{\"command\":\"python3\",\"args\":[\""
                + script()
                + "\"]}}}");
    Run imported = home.writ("mcp", "import", config.toString(), "--read", script().toString());
    assertThat(imported.err()).doesNotContain("SBX-006");
    assertThat(imported.status()).as(imported.out() + imported.err()).isZero();
    assertThat(sum()).as("the server's own sandboxes are as they were").contains("5");
    try (ProcessHost next = SandboxPlace.hostOfKept(home(), Map.of())) {
      Path directory = next.requireSettings().stateDirectory();
      assertThat(directory.getFileName().toString()).as("each gave its one back").endsWith("-k0");
      assertThat(directory.resolve("live")).isEmptyDirectory();
    }
  }

  private Home home() {
    return new Home(home.home(), () -> null);
  }
}
