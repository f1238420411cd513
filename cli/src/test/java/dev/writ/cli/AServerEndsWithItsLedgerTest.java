package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.http.auth.Tokens;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Real processes under {@code ulimit -n}. */
class AServerEndsWithItsLedgerTest {
  @TempDir Path dir;

  private final String token = "writ_test_token_of_a_home_that_is_thrown_away";
  private final HttpClient client = HttpClient.newHttpClient();

  @BeforeEach
  void init() throws IOException {
    Run made = Run.of("--home", dir.resolve("home").toString(), "init", "--tenant", "acme");
    assertThat(made.status()).as(made.err()).isZero();
    Files.writeString(
        dir.resolve("home/gateway.yaml"),
        """
        writ_gateway: 1
        listen: { host: 127.0.0.1 }
        drain_s: 5
        tokens:
          - { name: own, digest: "DIGEST", tenant: acme, subject: agent }
        """
            .replace("DIGEST", Tokens.digest(token).toString()));
  }

  private Process serve(int descriptors) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of("bash", "-c", "umask 0; ulimit -n " + descriptors + " && exec \"$@\"", "bash"));
    command.addAll(
        OwnProcess.writWithoutCache(
            "--home", dir.resolve("home").toString(), "serve", "--json", "--port", "0"));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("WRIT_SANDBOX_ENGINE", "none");
    return builder.redirectError(dir.resolve("log").toFile()).start();
  }

  private static URI url(Process server) throws IOException {
    BufferedReader out = server.inputReader(StandardCharsets.UTF_8);
    String line = out.readLine();
    assertThat(line).as("the server starts").isNotNull();
    JsonValue.Obj said = (JsonValue.Obj) Jcs.parse(line.getBytes(StandardCharsets.UTF_8));
    return URI.create(((JsonValue.Str) said.get("url")).value());
  }

  private int put(URI server, byte[] content) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(server.resolve("/v1/blobs/" + Digest.sha256(content)))
            .timeout(Duration.ofSeconds(20))
            .header("Authorization", "Bearer " + token)
            .PUT(HttpRequest.BodyPublishers.ofByteArray(content))
            .build();
    return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
  }

  @ParameterizedTest
  @ValueSource(ints = {64, 511})
  void too_few_descriptors_are_refused_before_anything_else(int descriptors) throws Exception {
    Process server = serve(descriptors);
    assertThat(server.waitFor()).isEqualTo(6);
    assertThat(Files.readString(dir.resolve("log")))
        .contains("CLI-018")
        .contains(descriptors + ", at least 512");
  }

  @Test
  void idle_connections_take_no_descriptor_that_the_ledger_needs() throws Exception {
    Process server = serve(512);
    List<Socket> idle = new ArrayList<>();
    try {
      URI url = url(server);
      for (int i = 0; i < 600; i++) {
        idle.add(new Socket(url.getHost(), url.getPort()));
      }
      // The ledger and its anchor are written, beside everything that stands.
      for (int i = 0; i < 8; i++) {
        idle.removeFirst().close();
      }
      byte[] large = new byte[70_005];
      int status = 0;
      while (status != 201 && idle.size() > 400) { // until it has seen that one was closed
        try {
          status = put(url, large);
        } catch (IOException e) {
          idle.removeFirst().close();
        }
      }
      assertThat(status).isEqualTo(201);
      assertThat(Files.list(Path.of("/proc/" + server.pid() + "/fd")).count()).isLessThan(450);
      assertThat(server.isAlive()).isTrue();
    } finally {
      for (Socket socket : idle) {
        socket.close();
      }
      server.destroy();
    }
    assertThat(server.waitFor()).as("SIGTERM").isEqualTo(143);
    assertThat(Files.readString(dir.resolve("log"))).doesNotContain("LED-");
    assertNothingIsForOthers();
  }

  @Test
  void a_ledger_that_failed_for_good_ends_the_process_with_a_status_of_its_own() throws Exception {
    Process server = serve(1024);
    try {
      URI url = url(server);
      assertThat(put(url, new byte[10])).isEqualTo(201);
      Files.delete(dir.resolve("home/ledger/db/LOCK"));
      assertThat(put(url, new byte[11])).isEqualTo(503);
      assertThat(server.waitFor()).isEqualTo(8);
    } finally {
      server.destroyForcibly();
    }
    assertThat(Files.readString(dir.resolve("log")))
        .contains("\"event\":\"ledger-stopped\"")
        .contains("LED-071")
        .contains("\"event\":\"draining\"");
    assertThat(Run.of("--home", dir.resolve("home").toString(), "fsck").status()).isZero();
  }

  /** Under umask 0, of whatever the server and its libraries made. */
  private void assertNothingIsForOthers() throws IOException {
    Set<PosixFilePermission> others =
        EnumSet.complementOf(EnumSet.copyOf(PosixFilePermissions.fromString("rwx------")));
    try (Stream<Path> all = Files.walk(dir.resolve("home"))) {
      assertThat(all.filter(path -> !Files.isSymbolicLink(path)))
          .allSatisfy(path ->
              assertThat(Files.getPosixFilePermissions(path))
                  .as(path.toString())
                  .doesNotContainAnyElementsOf(others));
    }
    for (Path beside : List.of(dir.resolve("home.anchor"), dir.resolve("home.anchor.lock"))) {
      assertThat(Files.getPosixFilePermissions(beside)).doesNotContainAnyElementsOf(others);
    }
  }
}
