package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.sinks.testing.Receiver;
import dev.writ.sinks.testing.RedisServer;
import io.lettuce.core.Range;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sinks as operators meet them: a configuration, seed 002's variable, `writ sink`, a scrape. */
class SinksAreListedAndSteeredTest {
  private static final String CALL =
      "{\"role\":\"developer\",\"case_id\":\"case-123\",\"cmd\":\"echo hello\"}";

  @TempDir Path dir;

  private Run writ(String... arguments) {
    return new OneHome(dir.resolve("home")).writ(arguments);
  }

  private String done(String... arguments) {
    return new OneHome(dir.resolve("home")).done(arguments).out();
  }

  private JsonValue.Obj status(String sink) {
    JsonValue all =
        Jcs.parse(done("--json", "sink", "status", sink).strip().getBytes(StandardCharsets.UTF_8));
    return (JsonValue.Obj) ((JsonValue.Arr) ((JsonValue.Obj) all).get("sinks")).items().getFirst();
  }

  private void configure(String sinks, String token) throws IOException {
    Files.writeString(
        dir.resolve("home/gateway.yaml"),
        """
        writ_gateway: 1
        tokens: [{ name: t, digest: "%s", tenant: acme, subject: agent }]
        surfaces: { tools: { keys: { acme: tools } } }
        %s
        """
            .formatted(Tokens.digest(token), sinks));
  }

  @Test
  void withoutAServerTheLedgerItselfIsChanged() throws IOException {
    done("init", "--tenant", "acme");
    configure("sinks: { lines: { kind: file, path: exec.jsonl } }", "t");
    assertThat(done("sink", "list")).contains("lines", "file", "all", "exec.jsonl");
    assertThat(status("lines").get("state")).isEqualTo(JsonValue.of("behind"));
    assertThat(done("sink", "pause", "lines")).isEqualTo("sink lines: pause\n");
    assertThat(status("lines").get("state")).isEqualTo(JsonValue.of("paused"));
    done("sink", "resume", "lines");
    done("sink", "replay", "lines", "--from", "1");
    assertThat(status("lines").get("position")).isEqualTo(JsonValue.of(1));
    assertThat(writ("sink", "replay", "lines", "--from", "1000000").err()).contains("SNK-006");
    for (String command : List.of("pause", "status")) {
      Run unknown = writ("sink", command, "other");
      assertThat(unknown.status()).isEqualTo(4);
      assertThat(unknown.err()).contains("SNK-005");
    }
    configure("", "t");
    assertThat(done("sink", "status"))
        .as("what it delivered is still known")
        .contains("lines", "–");
  }

  @Test
  void aConfigurationOfASinkThatCannotBeIsRefused() throws IOException {
    done("init", "--tenant", "acme");
    for (String wrong :
        List.of(
            "kind: kafka",
            "kind: file",
            "kind: file, path: a, maxlen: 3",
            "kind: redis",
            "kind: redis, url: \"redis://user:secret@127.0.0.1\"",
            "kind: redis, url: \"http://127.0.0.1\"",
            "kind: redis, url: \"redis://127.0.0.1\", maxlen: 0",
            "kind: neo4j, url: \"bolt://neo4j:secret@127.0.0.1:7687\"",
            "kind: webhook, url: \"http://pager.example/\", key: k.pem",
            "kind: webhook, url: \"https://user:secret@pager.example/\", key: k.pem",
            "kind: webhook, url: \"https://pager.example/\"")) {
      configure("sinks: { lines: { " + wrong + " } }", "t");
      Run checked = writ("config", "check", dir.resolve("home/gateway.yaml").toString());
      assertThat(checked.status()).as(wrong).isEqualTo(4);
      assertThat(checked.err()).contains("GWY-002", "sinks/lines").doesNotContain("secret@");
    }
    for (String same : List.of("x", "./x", "y/../x")) {
      configure(
          "sinks: { a: { kind: file, path: x }, b: { kind: file, path: " + same + " } }", "t");
      assertThat(writ("config", "check", dir.resolve("home/gateway.yaml").toString()).err())
          .as(same)
          .contains("GWY-002", "sinks/b has the target of sinks/a");
    }
    configure("sinks: { lines: { kind: neo4j, url: \"bolt://127.0.0.1:7687\", secret: no } }", "t");
    assertThat(writ("config", "check", dir.resolve("home/gateway.yaml").toString()).err())
        .contains("GWY-005");
  }

  private String policy() throws IOException {
    try (InputStream surfaces =
        Main.class.getResourceAsStream("/dev/writ/cli/command/serve/demo-surfaces-played.yaml")) {
      return Files.readString(dir.resolve("home/policy.yaml"))
              .replace(
                  "roles: [analyst], surfaces: [mcp] }",
                  "roles: [analyst, developer], surfaces: [execute, logline, tools] }")
              .replace(
                  "  analyst:\n",
                  """
                    developer:
                      tools: [js]
                      sandboxes: [wasm]
                      resources: { cpu_ms: 30000, memory_bytes: 268435456, output_bytes: 1048576, wall_ms: 30000 }
                    analyst:
                  """)
              .replaceFirst(
                  "(\npeople:.*\n)", "$1  - { tenant: acme, subject: agent, roles: [operator] }\n")
          + new String(surfaces.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** What the console's page for operators reads. */
  private static String operations(HttpClient client, String url, String what) throws Exception {
    return ask(
        client,
        HttpRequest.newBuilder(URI.create(url + "/v1/operations" + what))
            .header("Authorization", "Bearer token-of-agent"));
  }

  private static String ask(HttpClient client, HttpRequest.Builder request) throws Exception {
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString()).body();
  }

  private static String call(HttpClient client, String url, String body) throws Exception {
    return ask(
        client,
        HttpRequest.newBuilder(URI.create(url + "/v1/tools/exec"))
            .header("Authorization", "Bearer token-of-agent")
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body)));
  }

  /** Scrapes until the line is there; a server that never has it fails the test. */
  private static void awaitMetric(HttpClient client, String url, String line) throws Exception {
    String found = "";
    for (int i = 0; i < 5_000; i++) {
      found = ask(client, HttpRequest.newBuilder(URI.create(url + "/metrics")));
      if (found.contains(line)) {
        return;
      }
    }
    assertThat(found).contains(line);
  }

  /** Lists incidents until the text is there: a feeder saves its position up to a second later. */
  private String awaitListed(String text) {
    String listed = "";
    for (int i = 0; i < 5_000 && !listed.contains(text); i++) {
      listed = done("incident", "list");
    }
    return listed;
  }

  @Test
  void anIncidentOfTheLogIsShownAndAskedForWithoutAServer() throws IOException {
    done("init", "--tenant", "acme");
    KeyFiles.write(dir.resolve("home/webhook.pem"), SigningKey.ed25519(new byte[32]), null, null);
    configure(
        "sinks: { pager: { kind: webhook, url: \"https://pager.example/\", key: webhook.pem } }",
        "t");
    assertThat(writ("run", "js", "--param", "source=1", "--cpu-ms", "3600000").status())
        .isEqualTo(1);
    JsonValue listed =
        Jcs.parse(done("--json", "incident", "list").strip().getBytes(StandardCharsets.UTF_8));
    JsonValue.Obj first =
        (JsonValue.Obj)
            ((JsonValue.Arr) ((JsonValue.Obj) listed).get("incidents")).items().getFirst();
    JsonValue.Obj event = (JsonValue.Obj) first.get("event");
    assertThat(event.get("type")).isEqualTo(JsonValue.of("dev.writ.incident.PolicyDenied"));
    String id = ((JsonValue.Str) event.get("id")).value();
    assertThat(done("incident", "list")).contains(id, "GRD-404", "pager: waits");
    assertThat(done("incident", "list", "--dead")).doesNotContain(id);
    assertThat(done("incident", "resend", id)).contains(id, "pager");
    assertThat(done("incident", "show", id)).contains("\"GRD-404\"", "pager: again");
    for (List<String> wrong :
        List.of(List.of("show", "1-0"), List.of("show", "x"), List.of("resend", "1-0"))) {
      Run run = writ("incident", wrong.getFirst(), wrong.getLast());
      assertThat(run.status()).isEqualTo(4);
      assertThat(run.err()).contains("SNK-010");
    }
    assertThat(writ("incident", "resend", id, "--to", "other").err()).contains("SNK-005");
  }

  @Test
  void aServerFollowsSeed002sVariableAndTakesOrders() throws Exception {
    done("init", "--tenant", "acme");
    Path policy = Files.writeString(dir.resolve("policy.yaml"), policy());
    done("policy", "activate", policy.toString());
    done("key", "new", "tools", "--role", "surface");
    KeyFiles.write(dir.resolve("home/webhook.pem"), SigningKey.ed25519(new byte[32]), null, null);
    try (Receiver receiver = new Receiver();
        RedisServer redis = new RedisServer(Files.createDirectory(dir.resolve("redis")))) {
      redis.start();
      configure(
          "sinks: { lines: { kind: file, path: exec.jsonl }, pager: { kind: webhook, url: \""
              + receiver.url()
              + "\", key: webhook.pem } }",
          "token-of-agent");
      ProcessBuilder builder =
          new ProcessBuilder(
              OwnProcess.writ(
                  "--home", dir.resolve("home").toString(), "serve", "--json", "--port", "0"));
      builder.environment().put("REDIS_URL", redis.url());
      builder.environment().put("WRIT_SANDBOX_ENGINE", "none");
      Process server = builder.redirectError(dir.resolve("log").toFile()).start();
      try (BufferedReader out = server.inputReader();
          HttpClient client = HttpClient.newHttpClient()) {
        String url =
            ((JsonValue.Str)
                    ((JsonValue.Obj) Jcs.parse(out.readLine().getBytes(StandardCharsets.UTF_8)))
                        .get("url"))
                .value();
        assertThat(call(client, url, CALL)).contains("exec_id");
        awaitMetric(client, url, "writ_sink_delivered_total{sink=\"redis\"} 1.0");
        awaitMetric(client, url, "writ_sink_delivered_total{sink=\"lines\"} 1.0");
        awaitMetric(client, url, "writ_sink_behind_events{sink=\"redis\"} 0.0");
        awaitMetric(client, url, "writ_sink_failed_total{sink=\"redis\"} 0.0");
        var entry =
            redis
                .ask(commands -> commands.xrange("swe:tools:exec:stream", Range.unbounded()))
                .getFirst();
        assertThat(entry.getBody()).containsEntry("cmd", "echo hello").containsEntry("rc", "0");
        assertThat(call(client, url, CALL.replace("echo", "kubectl"))).contains("GRD-714");
        awaitMetric(client, url, "writ_sink_delivered_total{sink=\"pager\"} 1.0");
        awaitMetric(client, url, "writ_sink_dead_letters{sink=\"pager\"} 0.0");
        String incident = receiver.taken().getFirst().id();
        assertThat(operations(client, url, "/incidents"))
            .contains(incident, "\"code\":\"GRD-714\"", "\"kind\":\"PolicyDenied\"");
        assertThat(operations(client, url, "/incidents?before=1"))
            .isEqualTo("{\"complete\":true,\"incidents\":[],\"searched_from\":0}");
        assertThat(operations(client, url, "/sinks"))
            .contains("\"name\":\"lines\"", "\"name\":\"pager\"", "\"name\":\"redis\"")
            .contains("\"dead_letters\":0,\"delivered\":1,\"failures\":0,\"kind\":\"webhook\"")
            .doesNotContain(receiver.url(), "exec.jsonl", redis.url());
        assertThat(operations(client, url, ""))
            .contains("\"name\":\"ledger\",\"ok\":true", "\"queue\":{", "\"sandboxes\":{");
        assertThat(awaitListed("pager: read")).contains(incident, "PolicyDenied", "pager: read");
        assertThat(done("incident", "show", incident)).contains("dev.writ.incident.PolicyDenied");
        done("incident", "resend", incident);
        awaitMetric(client, url, "writ_sink_delivered_total{sink=\"pager\"} 2.0");
        assertThat(receiver.taken().getLast().body()).isEqualTo(receiver.taken().getFirst().body());
        done("sink", "pause", "lines");
        awaitMetric(client, url, "writ_sink_paused{sink=\"lines\"} 1.0");
        assertThat(status("lines").get("state")).isEqualTo(JsonValue.of("paused"));
        assertThat(operations(client, url, "/sinks")).contains("\"state\":\"paused\"");
        done("sink", "resume", "lines");
        done("sink", "replay", "redis");
        awaitMetric(client, url, "writ_sink_delivered_total{sink=\"redis\"} 4.0");
        assertThat(status("redis").get("trouble")).isNull();
        String restarted = redis.ask(commands -> commands.xlen("swe:tools:exec:stream")).toString();
        assertThat(restarted).isEqualTo("2");
      } finally {
        server.destroy();
        server.waitFor();
      }
      assertThat(Files.readString(dir.resolve("log")))
          .contains("\"event\":\"sink-ordered\"")
          .doesNotContain("lettuce", "sink-failed");
      assertThat(Files.readAllLines(dir.resolve("home/exec.jsonl"))).hasSize(2);
    }
  }
}
