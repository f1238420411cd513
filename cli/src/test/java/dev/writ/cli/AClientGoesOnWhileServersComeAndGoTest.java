package dev.writ.cli;

import static dev.writ.cli.PassingServer.INITIALIZE;
import static dev.writ.cli.PassingServer.call;
import static dev.writ.cli.PassingServer.request;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code writ mcp} goes on for days; {@code writ serve} beside it starts, ends and starts again.
 */
@Timeout(180)
class AClientGoesOnWhileServersComeAndGoTest {
  private static final String ABLE =
      INITIALIZE.replace("\"capabilities\":{}", "\"capabilities\":{\"elicitation\":{}}");
  private static final String QUESTION =
      "\"method\":\"elicitation/create\",\"params\":{\"message\":\"Which"
          + " colour?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"colour\":{\"type\":\"string\"}}}}";

  @TempDir Path dir;

  /** {@code writ serve}, where it listens. */
  private final class Serving implements AutoCloseable {
    private final Process process;
    private final BufferedReader out;

    Serving(String home, String port) throws IOException {
      process =
          new ProcessBuilder(OwnProcess.writ("--home", home, "serve", "--port", port))
              .redirectError(ProcessBuilder.Redirect.appendTo(dir.resolve("log").toFile()))
              .start();
      out = process.inputReader(StandardCharsets.UTF_8);
    }

    String port() throws IOException {
      return out.readLine().replaceAll(".*:", "");
    }

    void end() throws IOException {
      process.destroy();
      process.onExit().join();
      out.close();
    }

    @Override
    public void close() throws IOException {
      end();
    }
  }

  /** The answer to a call during which the server asks, which the client answers. */
  private static String asked(McpProcess client, int id) throws IOException {
    client.tells(call(id, "asks", QUESTION));
    List<String> heard = new ArrayList<>();
    for (String line = client.out.readLine(); line != null; line = client.out.readLine()) {
      heard.add(line);
      if (!line.contains("\"method\":")) {
        return line;
      }
      if (line.contains("elicitation/create")) {
        client.tells(
            "{\"jsonrpc\":\"2.0\",\"id\":"
                + line.replaceAll(".*\"id\":(\"writ-[0-9]+\").*", "$1")
                + ",\"result\":{\"action\":\"accept\",\"content\":{\"colour\":\"red\"}}}");
      }
    }
    throw new AssertionError(heard);
  }

  @Test
  void itsCallsAreAnsweredAndItIsAskedByWhoeverAnswers() throws Exception {
    PassingServer server = PassingServer.in(dir, "--pass", "elicitation,logging");
    try (McpProcess client = new McpProcess(server.home, dir.resolve("log"), "--server", "notes")) {
      assertThat(client.answer(ABLE)).contains("\"result\"");
      assertThat(client.answer(request(1, "logging/setLevel", "\"level\":\"debug\"")))
          .contains("\"result\":{}");
      assertThat(asked(client, 2)).contains("red");
      String port;
      try (Serving serving = new Serving(server.home, "0")) {
        port = serving.port();
        assertThat(asked(client, 3)).as("through a server that came").contains("red");
      }
      try (Serving again = new Serving(server.home, port)) {
        assertThat(again.port()).isEqualTo(port);
        assertThat(asked(client, 4)).as("another token at the same place").contains("red");
      }
      try (Serving elsewhere = new Serving(server.home, "0")) {
        assertThat(elsewhere.port()).isNotEmpty();
        assertThat(asked(client, 5)).as("another place").contains("red");
      }
      assertThat(asked(client, 6)).as("here again").contains("red");
    }
  }

  @Test
  void whoBeganThroughAServerIsKnownHereToo() throws Exception {
    PassingServer server = PassingServer.in(dir, "--pass", "elicitation");
    try (Serving serving = new Serving(server.home, "0")) {
      assertThat(serving.port()).isNotEmpty();
      try (McpProcess client =
          new McpProcess(server.home, dir.resolve("log"), "--server", "notes")) {
        assertThat(client.answer(ABLE)).contains("\"result\"");
        assertThat(asked(client, 1)).contains("red");
        serving.end();
        assertThat(asked(client, 2)).contains("red");
      }
    }
  }
}
