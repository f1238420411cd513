package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.http.auth.Tokens;
import java.io.BufferedReader;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code writ serve --config} as operators run it: a home, keys, a file, TLS, a process. */
class AServerIsChangedWhileItRunsTest {
  private static final String TRACE = "33333333-3333-4333-8333-333333333333";

  @TempDir Path dir;

  private Run writ(String... arguments) {
    return new OneHome(dir.resolve("home")).writ(arguments);
  }

  private Run done(String... arguments) {
    return new OneHome(dir.resolve("home")).done(arguments);
  }

  private Process serve(Path config) throws Exception {
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
                config.toString()));
    builder.environment().put("WRIT_SANDBOX_ENGINE", "none");
    return builder.redirectError(dir.resolve("log").toFile()).start();
  }

  private String policy(String command) throws Exception {
    try (InputStream surfaces =
        Main.class.getResourceAsStream("/dev/writ/cli/command/serve/demo-surfaces-played.yaml")) {
      return (Files.readString(dir.resolve("home/policy.yaml"))
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
              + new String(surfaces.readAllBytes(), StandardCharsets.UTF_8))
          .replace("commands: [echo]", "commands: [" + command + "]");
    }
  }

  private String token(String name) {
    Run made = done("--json", "config", "token", name, "--tenant", "acme", "--subject", "agent");
    return ((JsonValue.Str) object(made.out()).get("token")).value();
  }

  private static JsonValue.Obj object(String text) {
    return (JsonValue.Obj) Jcs.parse(text.strip().getBytes(StandardCharsets.UTF_8));
  }

  private Path prepared(String whole, String narrow) throws Exception {
    done("init", "--tenant", "acme");
    Path file = Files.writeString(dir.resolve("policy.yaml"), policy("echo"));
    done("policy", "activate", file.toString());
    for (String surface : List.of("execute", "logline", "tools")) {
      done("key", "new", surface, "--role", "surface");
    }
    Files.createFile(
        dir.resolve("secret"),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(dir.resolve("secret"), "a shared secret of this test\n");
    Pasted.into(
        dir,
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
            + " -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1"
            + " -keyout tls.key -out tls.pem 2>&1");
    return Files.writeString(
        dir.resolve("gateway.yaml"),
        """
        writ_gateway: 1
        listen: { host: 127.0.0.1, tls: own, certificate: tls.pem, key: tls.key }
        drain_s: 20
        tokens:
          - { name: whole, digest: "WHOLE", tenant: acme, subject: agent }
          - { name: narrow, digest: "NARROW", tenant: acme, subject: agent, roles: [analyst] }
        surfaces:
          execute: { keys: { acme: execute } }
          tools: { keys: { acme: tools }, settings: { grpc_port: "0" } }
          logline:
            keys: { acme: logline }
            secrets: [secret]
            settings: { subject.acme: agent, tool.js: js 1.0.0 eval, sandbox: wasm, cpu_ms: "2000", memory_bytes: "67108864", output_bytes: "1048576", wall_ms: "5000" }
        """
            .replace("WHOLE", Tokens.digest(whole).toString())
            .replace("NARROW", Tokens.digest(narrow).toString()));
  }

  private String curl(String url, String token, String path, String body) throws Exception {
    Files.writeString(dir.resolve("body.json"), body);
    return Pasted.into(
        dir,
        "curl -sS --cacert tls.pem -H 'Content-Type: application/json' -H 'Authorization: Bearer "
            + token
            + "' --data-binary @body.json "
            + url
            + path);
  }

  private static final String TOOLS =
      """
      {"case_id":"case-123","cmd":"echo hello","cwd":"/workspace/repo","env":{"LANG":"C"},\
      "limits":{"cpu":1,"mem_mb":128},"role":"developer","subtask_id":"DEV-123","timeout_sec":10}\
      """;

  private static String execute() {
    return """
    {"execution_request_id":"11111111-1111-4111-8111-111111111111","execution_request_version":"1.0",
     "intent_ref":{"intent_id":"22222222-2222-4222-8222-222222222222","intent_version":"1.0","trace_id":"TRACE"},
     "execution_spec":{"executor":"execution","target":"echo 'hello'","parameters":{}},
     "context":{"tenant_id":"44444444-4444-4444-8444-444444444444","subject_id":"55555555-5555-4555-8555-555555555555",
                "workspace_id":"66666666-6666-4666-8666-666666666666","trace_id":"TRACE"},
     "sandbox":{"profile":"default","network":"disabled","filesystem":"ephemeral"},
     "resources":{"cpu":"500m","memory":"128Mi","timeout_ms":30000},
     "artifacts":{"capture_stdout":true,"capture_stderr":true,"output_files":[],"persist":false},
     "audit":{"execution_trace_id":"77777777-7777-4777-8777-777777777777",
              "parent_trace_id":"88888888-8888-4888-8888-888888888888","requested_by":"orchestrator","timestamp":"NOW"}}
    """
        .replace("TRACE", TRACE)
        .replace("NOW", Instant.now().toString());
  }

  private static final String LOGLINE =
      """
      t=$(date +%s); b='{"context":{"run_id":"run_123","tenant_id":"acme"},"input":{"source":"6*7"},"tool_id":"js"}'
      s=$(printf %s "$t.$b" | openssl dgst -sha256 -r -hmac "$(cat secret)" | cut -d' ' -f1)
      curl -sS --cacert tls.pem -H 'Content-Type: application/json' -H 'X-LogLine-Tool-Id: js' \
        -H "X-LogLine-Timestamp: $t" -H "X-LogLine-Signature: sha256=$s" -d "$b" URL/execute
      """;

  @Test
  void allSurfacesServeAndANewPolicyHoldsWithoutARestart() throws Exception {
    String whole = token("whole");
    String narrow = token("narrow");
    Process server = serve(prepared(whole, narrow));
    try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
      String url = ((JsonValue.Str) object(out.readLine()).get("url")).value();
      assertThat(url).startsWith("https://127.0.0.1:");
      assertThat(Files.readString(dir.resolve("log"))).contains("\"grpcs://127.0.0.1:");
      assertThat(curl(url, whole, "/execute", execute())).contains("\"status\":\"success\"");
      assertThat(Pasted.into(dir, LOGLINE.replace("URL", url))).contains("\"stdout\":\"42\"");
      assertThat(curl(url, whole, "/v1/tools/exec", TOOLS)).contains("hello\\n");
      // A credential narrowed to another role, and a stranger's, get nothing.
      assertThat(curl(url, narrow, "/v1/tools/exec", TOOLS)).contains("\"status\":403");
      assertThat(curl(url, "writ_none", "/v1/tools/exec", TOOLS)).contains("GWY-020");
      // Policy approves tools that need a sandbox, and there is none of that name.
      assertThat(
              Pasted.into(
                  dir,
                  "until curl -sS --cacert tls.pem URL/ready | grep SBX-; do :; done"
                      .replace("URL", url)))
          .contains("{\"name\":\"sandbox\",\"ok\":false,\"why\":\"SBX-002\"}");
      activate(url);
      assertThat(curl(url, whole, "/v1/tools/exec", TOOLS)).contains("\"status\":403");
      assertThat(curl(url, whole, "/v1/tools/exec", TOOLS.replace("echo hello", "date")))
          .doesNotContain("\"status\":403");
      hangUp(server, url, whole);
    } finally {
      server.destroy();
    }
    assertThat(server.waitFor()).isEqualTo(143);
    assertThat(Files.readString(dir.resolve("log"))).contains("everything at work was finished");
    assertThat(done("policy", "show", "--json").out()).contains("\"version\":3");
    done("fsck");
  }

  /** A signal makes it read its configuration again; one that does not hold changes nothing. */
  private void hangUp(Process server, String url, String whole) throws Exception {
    String date = TOOLS.replace("echo hello", "date");
    Path config = dir.resolve("gateway.yaml");
    String before = Files.readString(config);
    Files.writeString(config, before.replace("tls.pem", "none.pem"));
    Pasted.into(dir, "kill -HUP " + server.pid() + "; until grep -q GWY-007 log; do :; done");
    assertThat(curl(url, whole, "/v1/tools/exec", date)).doesNotContain("\"status\":403");
    Files.writeString(config, before.replace("name: whole", "name: other, roles: [analyst]"));
    Pasted.into(
        dir, "kill -HUP " + server.pid() + "; until grep -q '\"reloaded\"' log; do :; done");
    assertThat(curl(url, whole, "/v1/tools/exec", date)).contains("\"status\":403");
    Files.writeString(config, before.replaceAll("(?m)^  - \\{ name: whole.*\n", ""));
    Pasted.into(
        dir,
        "kill -HUP "
            + server.pid()
            + "; until [ \"$(grep -c '\"reloaded\"' log)\" = 2 ]; do :; done");
    assertThat(curl(url, whole, "/v1/tools/exec", date)).contains("GWY-020");
  }

  /** In force at the server from here on, and not by another way, nor by another's key. */
  private void activate(String url) throws Exception {
    String file = Files.writeString(dir.resolve("next.yaml"), policy("date")).toString();
    Run foreign =
        writ(
            "policy",
            "activate",
            file,
            "--as",
            "agent",
            "--server",
            url,
            "--ca",
            dir.resolve("tls.pem").toString());
    assertThat(foreign.err()).contains("GWY-060").containsPattern("CAN-053 [a-z]");
    Run untrusted = writ("policy", "activate", file, "--server", url);
    assertThat(untrusted.err()).contains("GWY-061");
    Run noAuthority = writ("policy", "activate", file, "--server", url, "--ca", "none.pem");
    assertThat(noAuthority.err()).contains("GWY-063");
    assertThat(writ("policy", "activate", file, "--server", "ftp://a").err()).contains("CLI-001");
    Run activated =
        done(
            "policy", "activate", file, "--server", url, "--ca", dir.resolve("tls.pem").toString());
    assertThat(activated.out()).contains("version 3");
  }
}
