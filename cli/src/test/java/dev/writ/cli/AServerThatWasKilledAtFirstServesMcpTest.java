package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The key of MCP has its file before the log knows it: spec/gateway.md, 21b. */
@Timeout(120)
class AServerThatWasKilledAtFirstServesMcpTest {
  @TempDir Path dir;

  private OneHome home() {
    return new OneHome(dir.resolve("home"), Map.of());
  }

  private static JsonValue.Obj object(byte[] json) {
    return (JsonValue.Obj) Jcs.parse(json);
  }

  private static String word(JsonValue.Obj object, String member) {
    return ((JsonValue.Str) object.get(member)).value();
  }

  /** What a server that is started now answers, and is stopped then. */
  private int statusOfMcp(String config) throws Exception {
    Process server =
        new ProcessBuilder(
                OwnProcess.writ(
                    "--home",
                    home().home().toString(),
                    "serve",
                    "--json",
                    "--port",
                    "0",
                    "--config",
                    config))
            .redirectError(dir.resolve("log").toFile())
            .start();
    try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8);
        HttpClient client = HttpClient.newHttpClient()) {
      String url = word(object(out.readLine().getBytes(StandardCharsets.UTF_8)), "url");
      String token =
          word(object(Files.readAllBytes(home().home().resolve("serving.json"))), "token");
      HttpRequest call =
          HttpRequest.newBuilder(URI.create(url + "/mcp"))
              .header("Authorization", "Bearer " + token)
              .header("Content-Type", "application/json")
              .header("Accept", "application/json, text/event-stream")
              .POST(HttpRequest.BodyPublishers.ofString(PassingServer.INITIALIZE))
              .build();
      return client.send(call, HttpResponse.BodyHandlers.discarding()).statusCode();
    } finally {
      server.destroy();
      server.waitFor();
    }
  }

  /** A configuration that says nothing of MCP. */
  private String silent() throws IOException {
    return Files.writeString(dir.resolve("silent"), "writ_gateway: 1\n").toString();
  }

  private String surfaces() throws IOException {
    return home().done("config", "check", silent()).out();
  }

  @Test
  void theKeyOfTheFirstStartIsEnrolledLaterAndOneThatWasRevokedIsNot() throws Exception {
    home().done("init");
    assertThat(surfaces()).as("the first start makes the key").endsWith("surfaces: native mcp\n");
    String not =
        Files.writeString(
                dir.resolve("not"),
                "writ_gateway: 1\nsurfaces: { mcp: { settings: { served: \"no\" } } }\n")
            .toString();
    assertThat(home().done("config", "check", not).out()).endsWith("surfaces: native\n");
    SigningKey left = SigningKey.generateEd25519(new SecureRandom());
    KeyFiles.write(home().home().resolve("keys/surface-mcp.pem"), left, null, new SecureRandom());
    assertThat(home().done("key", "list").out()).doesNotContain(left.kid());
    assertThat(surfaces()).endsWith("surfaces: native mcp\n");
    assertThat(statusOfMcp(silent())).isEqualTo(200);
    String keys = home().done("--json", "key", "list").out();
    assertThat(keys).containsOnlyOnce(left.kid()).doesNotContain("writ_revoked_at");

    home().done("key", "revoke", "surface-mcp");
    assertThat(surfaces()).endsWith("surfaces: native\n");
    assertThat(statusOfMcp(silent())).isEqualTo(404);
    Run said = home().done("config", "check"); // of the file that `init` made
    assertThat(said.out()).endsWith("surfaces: native\n");
    assertThat(said.err()).contains("MCP is not served: no key surface-mcp is in force");
    assertThat(statusOfMcp(home().home().resolve("gateway.yaml").toString()))
        .as("what nobody can vouch for is not listed either")
        .isEqualTo(404);
    assertThat(home().done("--json", "key", "list").out())
        .as("neither again nor another")
        .containsOnlyOnce(left.kid())
        .containsOnlyOnce("writ_revoked_at")
        .containsOnlyOnce("\"mcp\"");
  }
}
