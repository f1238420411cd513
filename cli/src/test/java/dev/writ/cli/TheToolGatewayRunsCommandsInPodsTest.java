package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.kube.testing.FakeCluster;
import java.io.BufferedReader;
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

/** Seed 002's example, served by {@code writ serve} with the engine of Kubernetes. */
class TheToolGatewayRunsCommandsInPodsTest {
  private static final String IMAGE = "docker.io/library/python@sha256:" + "1".repeat(64);

  /** An image of Python with pytest. */
  private static final List<String> PYTHON =
      List.of(
          "--perms",
          "0755",
          "--dir",
          "/opt",
          "--perms",
          "0755",
          "--dir",
          "/opt/bin",
          "--symlink",
          "/usr/bin/pytest-3",
          "/opt/bin/pytest",
          "--setenv",
          "PATH",
          "/opt/bin:/usr/bin");

  private static final String EXAMPLE =
      """
      {
          "role": "developer",
          "case_id": "case-123",
          "subtask_id": "DEV-123",
          "cmd": "pytest -q",
          "cwd": "/workspace/repo",
          "timeout_sec": 300,
          "env": {"PYTHONUNBUFFERED": "1"},
          "limits": {"cpu": 1.0, "mem_mb": 2048}
      }
      """;

  @TempDir Path dir;

  private String done(String... arguments) {
    return new OneHome(dir.resolve("home")).done(arguments).out();
  }

  private static JsonValue.Obj object(String text) {
    return (JsonValue.Obj) Jcs.parse(text.strip().getBytes(StandardCharsets.UTF_8));
  }

  private static String string(JsonValue.Obj object, String name) {
    return ((JsonValue.Str) object.get(name)).value();
  }

  private String policy() throws Exception {
    try (InputStream surfaces =
        Main.class.getResourceAsStream("/dev/writ/cli/command/serve/demo-surfaces.yaml")) {
      String commands = new String(surfaces.readAllBytes(), StandardCharsets.UTF_8);
      return Files.readString(dir.resolve("home/policy.yaml"))
              .replace(
                  "roles: [analyst], surfaces: [mcp] }",
                  "roles: [analyst, developer], surfaces: [tools] }")
              .replace(
                  "  analyst:\n",
                  """
                    developer:
                      tools: [exec]
                      sandboxes: [restricted]
                      resources: { cpu_ms: 1200000, memory_bytes: 4294967296, output_bytes: 1048576, wall_ms: 600000 }
                      paths: [.]
                      environment: [LANG, PYTHONUNBUFFERED]
                    analyst:
                  """)
          + "\nsandbox: { waived: [cpu-limit, distinct-uid, measured, pids-limit, tmp-noexec] }\n"
          + commands
              .substring(commands.indexOf("\ncommands:"))
              .replace("images: {}", "images: { pytest: \"" + IMAGE + "\" }")
          + "\n";
    }
  }

  private Path configuration(String token) throws Exception {
    return Files.writeString(
        dir.resolve("gateway.yaml"),
        """
        writ_gateway: 1
        listen: { host: 127.0.0.1 }
        tokens:
          - { name: whole, digest: "DIGEST", tenant: acme, subject: agent }
        surfaces:
          tools: { keys: { acme: tools } }
        """
            .replace("DIGEST", Tokens.digest(token).toString()));
  }

  @Test
  void theSeedsExampleRunsInAPodAndItsReportComesBack() throws Exception {
    Path repository = Files.createDirectories(dir.resolve("root/repo"));
    Files.writeString(repository.resolve("test_a.py"), "def test_a():\n    assert 6 * 7 == 42\n");
    done("init", "--tenant", "acme");
    done("policy", "activate", Files.writeString(dir.resolve("p.yaml"), policy()).toString());
    done("key", "new", "tools", "--role", "surface");
    String token =
        string(
            object(
                done(
                    "--json",
                    "config",
                    "token",
                    "whole",
                    "--tenant",
                    "acme",
                    "--subject",
                    "agent")),
            "token");
    try (FakeCluster cluster = new FakeCluster(Files.createDirectories(dir.resolve("cluster")))) {
      cluster.image(IMAGE, PYTHON);
      ProcessBuilder builder =
          new ProcessBuilder(
              OwnProcess.writ(
                  "--home",
                  dir.resolve("home").toString(),
                  "serve",
                  "--json",
                  "--port",
                  "0",
                  "--config",
                  configuration(token).toString()));
      builder.environment().put("WRIT_SANDBOX_ENGINE", "kubernetes");
      builder.environment().put("WORKSPACE_ROOT", dir.resolve("root").toString());
      builder
          .environment()
          .put(
              "WRIT_KUBERNETES",
              Files.write(dir.resolve("kube.json"), Jcs.write(cluster.settingsFile())).toString());
      Process server = builder.redirectError(dir.resolve("log").toFile()).start();
      try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
        JsonValue.Obj answer = post(string(object(out.readLine()), "url"), token);
        assertThat(answer.get("exit_code")).as(answer.toString()).isEqualTo(JsonValue.of(0));
        assertThat(string(answer, "image")).isEqualTo(IMAGE);
        assertThat(string(answer, "stdout_tail")).contains("1 passed");
      } finally {
        server.destroy();
        server.waitFor();
      }
      assertThat(cluster.client.pods().inNamespace(FakeCluster.NAMESPACE).list().getItems())
          .isEmpty();
    }
  }

  private static JsonValue.Obj post(String url, String token) throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpResponse<String> answer =
          client.send(
              HttpRequest.newBuilder(URI.create(url + "/v1/tools/exec"))
                  .header("Authorization", "Bearer " + token)
                  .header("Content-Type", "application/json")
                  .POST(HttpRequest.BodyPublishers.ofString(EXAMPLE))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      return object(answer.body());
    }
  }
}
