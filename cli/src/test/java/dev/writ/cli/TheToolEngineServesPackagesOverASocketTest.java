package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Receipt;
import dev.writ.sandbox.host.Trees;
import java.io.BufferedReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Seed 004's engine with a real package in a real sandbox: its secret, its limits, the platform's
 * helpers, the region and the figures of its workers.
 */
class TheToolEngineServesPackagesOverASocketTest {
  private static final String TOKEN = "token-of-a-test-of-the-engine";
  private static final String SECRET = "correct-horse-battery";

  private static final String CODE =
      """
      import writ_helpers

      def bill(input, context):
          got = writ_helpers.secret(context, 'billing')
          print('the secret is ' + got)
          for i in range(input['artifacts']):
              with open(writ_helpers.artifact(context, f'{i}.txt'), 'w') as out:
                  out.write(got)
          return {'characters': len(got), 'secret': got}
      """;

  private static final String MANIFEST =
      """
      format: 1
      tool: billing
      version: 1.0.0
      language: python
      runtime: "3"
      entry: src/tool.py
      operations:
        bill:
          input: { type: object, properties: { artifacts: { type: integer } }, required: [artifacts] }
          output: { type: object }
      capabilities: { filesystem: none, network: [], artifacts: [text/plain], secrets: [billing], spawn: false }
      resource_class: small
      determinism: recorded
      """;

  @TempDir Path dir;
  private final TreeMap<String, String> environment = new TreeMap<>();
  private Path sandboxes;
  private Process server;
  private String url;

  @BeforeEach
  void init() throws Exception {
    sandboxes = Files.createTempDirectory(Path.of("/tmp"), "cli");
    Files.setPosixFilePermissions(sandboxes, PosixFilePermissions.fromString("rwx--x--x"));
    environment.put("WRIT_HOME", dir.resolve("home").toString());
    environment.put("WRIT_SANDBOX_DIR", sandboxes.resolve("s").toString());
  }

  @AfterEach
  void stop() throws Exception {
    if (server != null) {
      server.destroy();
      server.waitFor();
    }
    Trees.remove(sandboxes);
  }

  private Run done(String... args) {
    Run run = Run.on(SECRET, "", environment, Commands.ALL, args);
    assertThat(run.status()).as(run.out() + run.err()).isZero();
    return run;
  }

  /** A package that is registered and that policy lists, with a policy that grants its secret. */
  private void policy() throws Exception {
    Path project = Files.createDirectories(dir.resolve("billing/src")).getParent();
    Files.writeString(project.resolve("tool.manifest"), MANIFEST);
    Files.writeString(project.resolve("tool.lock"), "format: 1\ndependencies: []\n");
    Files.writeString(project.resolve("src/tool.py"), CODE);
    String file = dir.resolve("billing.tool").toString();
    done("init");
    done("key", "new", "publisher", "--role", "publisher");
    done("key", "new", "surface-engine", "--role", "surface", "--subject", "engine");
    done("secret", "put", "billing");
    done("tool", "package", project.toString(), "--out", file);
    done("tool", "sign", file);
    String said = done("tool", "register", file).out();
    Matcher line = Pattern.compile("- \\{ name: billing.*}").matcher(said);
    assertThat(line.find()).as(said).isTrue();
    Path policy = dir.resolve("home/policy.yaml");
    Files.writeString(
        policy,
        Files.readString(policy)
            .replace(", word-count]", ", billing, word-count]")
            .replace(
                "roles: [analyst], surfaces: [mcp] }", "roles: [analyst], surfaces: [engine] }")
            .replace("\nbudgets:\n", "  " + line.group() + "\n\nbudgets:\n"));
    Files.writeString(
        policy,
        """
          - effect: { tool: billing }
            require:
              cel: "true"
        secrets:
          - { name: billing, match: { tenant: local, tool: billing } }
        engine:
          classes:
            small: { cpu_ms: 10000, memory_bytes: 268435456, output_bytes: 1048576, wall_ms: 15000, artifacts: 1 }
        """,
        StandardOpenOption.APPEND);
    done("policy", "activate", policy.toString());
  }

  private void serve() throws Exception {
    Files.writeString(
        dir.resolve("home/gateway.yaml"),
        """
        writ_gateway: 1
        region: eu-1
        tool_pool: { budget_mib: 1024, workers_max: 2, pools: [ { language: python, class: small, workers_max: 3 } ] }
        tokens:
          - { name: t, digest: "%s", tenant: local, subject: agent, roles: [analyst], expires_at: "2999-01-01T00:00:00.000Z" }
        surfaces: { engine: { keys: { local: surface-engine } } }
        """
            .formatted(Digest.sha256(TOKEN.getBytes(StandardCharsets.UTF_8))));
    ProcessBuilder builder = new ProcessBuilder(OwnProcess.writ("serve", "--port", "0"));
    builder.environment().putAll(environment);
    server = builder.redirectError(dir.resolve("log").toFile()).start();
    BufferedReader out = server.inputReader(StandardCharsets.UTF_8);
    String line = out.readLine();
    assertThat(line).as(Files.readString(dir.resolve("log"))).isNotNull();
    url = line.replace("listening on ", "");
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return HttpClient.newHttpClient()
        .send(
            request
                .header("Authorization", "Bearer " + TOKEN)
                .header("Content-Type", "application/json")
                .build(),
            HttpResponse.BodyHandlers.ofString());
  }

  private HttpResponse<String> get(String path) throws Exception {
    return send(HttpRequest.newBuilder(URI.create(url + path)));
  }

  private JsonValue document(String path) throws Exception {
    return Envelope.parse(get(path).body().getBytes(StandardCharsets.UTF_8)).document();
  }

  private JsonValue.Obj bill(String requestId, int artifacts) throws Exception {
    String body =
        "{\"toolId\":\"billing\",\"operation\":\"bill\",\"requestId\":\"%s\",\"inputPayload\":{\"artifacts\":%d}}"
            .formatted(requestId, artifacts);
    HttpResponse<String> answer =
        send(
            HttpRequest.newBuilder(URI.create(url + "/v1/tool-executions"))
                .POST(HttpRequest.BodyPublishers.ofString(body)));
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return (JsonValue.Obj) Jcs.parse(answer.body().getBytes(StandardCharsets.UTF_8));
  }

  private static JsonValue at(JsonValue.Obj value, String... path) {
    JsonValue found = value;
    for (String part : path) {
      found =
          found instanceof JsonValue.Arr list
              ? list.items().get(Integer.parseInt(part))
              : ((JsonValue.Obj) found).get(part);
    }
    return found;
  }

  @Test
  void itsSecretItsLimitsTheRegionAndItsWorkers() throws Exception {
    policy();
    serve();
    JsonValue.Obj billed = bill("bill-1", 1);
    assertThat(at(billed, "status")).as(billed.toString()).isEqualTo(JsonValue.of("Succeeded"));
    assertThat(at(billed, "outputPayload"))
        .isEqualTo(
            JsonValue.object()
                .put("characters", SECRET.length())
                .put("secret", "[secret]")
                .build());
    assertThat(at(billed, "context", "region")).isEqualTo(JsonValue.of("eu-1"));
    String receipt = ((JsonValue.Str) at(billed, "ids", "receipt")).value();
    assertThat(Receipt.read(document("/v1/receipts/" + receipt)).region()).contains("eu-1");
    String artifact = ((JsonValue.Str) at(billed, "outputArtifacts", "0", "ref")).value();
    assertThat(get(artifact).body()).isEqualTo("[secret]");
    assertThat(get("/v1/tool-executions/bill-1/logs").body()).contains("the secret is [secret]");

    JsonValue.Obj tooMany = bill("bill-2", 2);
    assertThat(at(tooMany, "status")).isEqualTo(JsonValue.of("Failed"));
    assertThat(at(tooMany, "failure", "message").toString()).contains("2 files, at most 1");

    assertThat(get("/metrics").body())
        .contains("writ_server_info{region=\"eu-1\"} 1")
        .contains("writ_tool_pool_size{class=\"small\",language=\"python\"} 0")
        .contains("writ_tool_pool_idle{class=\"small\",language=\"python\"} 0")
        .contains("writ_tool_pool_queued{class=\"small\",language=\"python\"} 0")
        .contains("writ_tool_pool_grown_total{class=\"large\",language=\"java\"} 0")
        .contains("writ_tool_pool_shrunk_total{class=\"medium\",language=\"node\"} 0");
    server.destroy();
    server.waitFor();
    try (Stream<Path> files = Files.walk(dir)) {
      for (Path path : files.filter(Files::isRegularFile).toList()) {
        if (!path.endsWith("secrets/billing")) {
          assertThat(new String(Files.readAllBytes(path), StandardCharsets.ISO_8859_1))
              .as(path.toString())
              .doesNotContain(SECRET);
        }
      }
    }
    done("audit");
  }
}
