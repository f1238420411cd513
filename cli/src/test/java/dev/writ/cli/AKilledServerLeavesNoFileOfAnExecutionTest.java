package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.Await;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.sandbox.host.Trees;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Seed 000's ephemeral file system, where the server is killed in the middle of a request. */
class AKilledServerLeavesNoFileOfAnExecutionTest {
  private static final String TRACE = "33333333-3333-4333-8333-333333333333";
  private static final String TOKEN = "writ_test_token_of_a_home_that_is_thrown_away";

  private static final String SECRET = "a shared secret of this test";

  private final HttpClient client = HttpClient.newHttpClient();
  private Path dir;

  @BeforeEach
  void start() throws IOException {
    dir = Files.createTempDirectory(Path.of("/tmp"), "killed");
    Files.setPosixFilePermissions(dir, PosixFilePermissions.fromString("rwx--x--x"));
    done("init", "--tenant", "acme");
    Files.writeString(dir.resolve("policy.yaml"), policy());
    done("policy", "activate", dir.resolve("policy.yaml").toString());
    done("key", "new", "execute", "--role", "surface");
    Files.writeString(
        dir.resolve("home/gateway.yaml"),
        """
        writ_gateway: 1
        listen: { host: 127.0.0.1 }
        tokens:
          - { name: own, digest: "DIGEST", tenant: acme, subject: agent }
        surfaces:
          execute: { keys: { acme: execute } }
          logline: { settings: { subject.acme: agent, sandbox: wasm, cpu_ms: "1", memory_bytes: "1", output_bytes: "1", wall_ms: "1" } }
        """
            .replace("DIGEST", Tokens.digest(TOKEN).toString()));
  }

  @AfterEach
  void clean() {
    client.close();
    Trees.remove(dir);
  }

  /** The demo's section, with any line of a shell as target. */
  private String policy() throws IOException {
    try (InputStream surfaces =
        Main.class.getResourceAsStream("/dev/writ/cli/command/serve/demo-surfaces.yaml")) {
      String section = new String(surfaces.readAllBytes(), StandardCharsets.UTF_8);
      return Files.readString(dir.resolve("home/policy.yaml"))
              .replace(
                  "roles: [analyst], surfaces: [mcp] }", "roles: [analyst], surfaces: [execute] }")
          + section
              .substring(0, section.indexOf("\ncommands:"))
              .replace("{ program: echo }", "{ any: true }")
              .replace("argv: $argv", "shell: $target, commands: [sh]");
    }
  }

  private void done(String... arguments) {
    Run run =
        Run.of(
            Stream.concat(Stream.of("--home", dir.resolve("home").toString()), Stream.of(arguments))
                .toArray(String[]::new));
    assertThat(run.status()).as(run.err()).isZero();
  }

  private Process serve() throws IOException {
    ProcessBuilder server =
        new ProcessBuilder(
            OwnProcess.writ(
                "--home", dir.resolve("home").toString(), "serve", "--json", "--port", "0"));
    server.environment().put("WRIT_SANDBOX_DIR", dir.resolve("s").toString());
    server.environment().put("LOGLINE_SHARED_SECRET", SECRET);
    return server.redirectError(dir.resolve("log").toFile()).start();
  }

  private static URI url(Process server) throws IOException {
    String line = server.inputReader(StandardCharsets.UTF_8).readLine();
    assertThat(line).as("the server starts").isNotNull();
    JsonValue.Obj said = (JsonValue.Obj) Jcs.parse(line.getBytes(StandardCharsets.UTF_8));
    return URI.create(((JsonValue.Str) said.get("url")).value()).resolve("/execute");
  }

  private static String request(int number, String target) {
    String id = "%012d".formatted(number);
    return """
    {"execution_request_id":"11111111-1111-4111-8111-NUMBER","execution_request_version":"1.0",
     "intent_ref":{"intent_id":"22222222-2222-4222-8222-222222222222","intent_version":"1.0","trace_id":"TRACE"},
     "execution_spec":{"executor":"execution","target":"TARGET","parameters":{}},
     "context":{"tenant_id":"44444444-4444-4444-8444-444444444444","subject_id":"55555555-5555-4555-8555-555555555555",
                "workspace_id":"66666666-6666-4666-8666-666666666666","trace_id":"TRACE"},
     "sandbox":{"profile":"default","network":"disabled","filesystem":"ephemeral"},
     "resources":{"cpu":"500m","memory":"128Mi","timeout_ms":30000},
     "artifacts":{"capture_stdout":true,"capture_stderr":true,"output_files":[],"persist":false},
     "audit":{"execution_trace_id":"77777777-7777-4777-8777-NUMBER",
              "requested_by":"orchestrator","timestamp":"NOW"}}
    """
        .replace("NUMBER", id)
        .replace("TARGET", target)
        .replace("TRACE", TRACE)
        .replace("NOW", Instant.now().toString());
  }

  private static HttpRequest post(URI url, String body) {
    return HttpRequest.newBuilder(url)
        .header("Authorization", "Bearer " + TOKEN)
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
  }

  private String answer(URI url, String body) throws Exception {
    return client.send(post(url, body), HttpResponse.BodyHandlers.ofString()).body();
  }

  /**
   * A call of seed 001 without a body, for what is not there: its signature is used all the same.
   */
  private static HttpRequest signed() throws GeneralSecurityException {
    String path = "/execute/artifacts/sha256:%1$s/sha256:%1$s".formatted("0".repeat(64));
    String at = String.valueOf(Instant.now().getEpochSecond());
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(SECRET.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    byte[] hmac = mac.doFinal((at + ".GET " + path).getBytes(StandardCharsets.UTF_8));
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1" + path))
        .header("X-LogLine-Timestamp", at)
        .header("X-LogLine-Signature", "sha256=" + HexFormat.of().formatHex(hmac))
        .build();
  }

  private String send(URI url, HttpRequest request) throws Exception {
    return client
        .send(
            HttpRequest.newBuilder(request, (_, _) -> true)
                .uri(url.resolve(request.uri().getPath()))
                .build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }

  /** Beside a server that makes and removes others meanwhile. */
  private List<Path> files(String name) throws IOException {
    List<Path> found = new ArrayList<>();
    Files.walkFileTree(
        dir,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes of) {
            return visitFile(path, of);
          }

          @Override
          public FileVisitResult visitFile(Path path, BasicFileAttributes of) {
            if (path.endsWith(name)) {
              found.add(path);
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path path, IOException gone) {
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path path, IOException gone) {
            return FileVisitResult.CONTINUE;
          }
        });
    return found;
  }

  @Test
  void theNextOneOfItsTraceFindsAnEmptyWorkspace() throws Exception {
    String body = request(1, "echo kept > file-of-1; sleep 600");
    HttpRequest signed = signed();
    Process first = serve();
    try {
      URI url = url(first);
      assertThat(send(url, signed)).contains("GWY-040");
      client.sendAsync(post(url, body), HttpResponse.BodyHandlers.ofString());
      Await.until(() -> !files("file-of-1").isEmpty());
    } finally {
      first.destroyForcibly().waitFor();
    }
    Process second = serve();
    try {
      URI url = url(second);
      assertThat(files("file-of-1")).as("gone before the server listens").isEmpty();
      assertThat(answer(url, request(2, "ls -A")))
          .contains("\"status\":\"success\"", "\"stdout\":\"\"");
      assertThat(answer(url, body)).as("and it is not run again").contains("R-STATE-00");
      assertThat(send(url, signed)).as("nor is a signature accepted again").contains("GWY-106");
      assertThat(files("live").stream().map(live -> live.toFile().list().length))
          .containsExactly(0);
    } finally {
      second.destroy();
      second.waitFor();
    }
  }
}
