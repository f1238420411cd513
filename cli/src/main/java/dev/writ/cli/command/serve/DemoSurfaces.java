package dev.writ.cli.command.serve;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.cli.demo.DemoLogline;
import dev.writ.cli.demo.DemoPlaces;
import dev.writ.cli.demo.Example;
import dev.writ.embed.error.EmbedError;
import dev.writ.gateway.config.SurfaceConfig;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.tools.browser.BrowserDriver;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** The surfaces in the demo's server, those of the seeds and MCP: policy, settings, requests. */
final class DemoSurfaces {
  static final List<String> NAMES =
      List.of("engine", "execute", "logline", "mcp", "tools", "vouched");

  private static final String SECRET = "logline.secret";
  private static final String TENANT = "acme";

  /** The tenant of seed 001's example. */
  static final String SEEDS_TENANT = "tenant_abc";

  private static final String AGENT = "agent";
  private static final String TRACE = "33333333-3333-4333-8333-333333333333";

  /** Stands in a file in place of an id that each command draws for itself. */
  private static final String REQUEST_ID = "11111111-1111-4111-8111-111111111111";

  private static final String LOOK_FOR_A_NETWORK = "bash -c 'exec 3<>/dev/tcp/8.8.8.8/53'";

  private static final String WORKSPACES = "workspaces";
  private static final String ORDERS =
      """
      def total(prices, discount=0):
          return sum(prices) * (100 - discount) // 100
      """;
  private static final String TEST_ORDERS =
      """
      from orders import total


      def test_a_total():
          assert total([40, 2]) == 42


      def test_a_discount():
          assert total([100, 20], discount=10) == 108
      """;

  private final Path dir;
  private final boolean confined;
  private final DemoPlaces places;

  /**
   * @param dir the demo's own directory, for the secret and the bodies of the requests
   * @param confined whether this host can confine commands; if not, one command is imitated
   * @param places what its tools may reach
   */
  DemoSurfaces(Path dir, boolean confined, DemoPlaces places) {
    this.dir = dir;
    this.confined = confined;
    this.places = places;
  }

  /** The part of the policy that follows the starter policy. */
  String policy() {
    String name = confined ? "demo-surfaces.yaml" : "demo-surfaces-played.yaml";
    try (InputStream in = DemoSurfaces.class.getResourceAsStream(name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The directory of workspaces, with a repository whose tests pass. */
  static Path makeWorkspaces(Path dir) {
    Path root = dir.resolve(WORKSPACES);
    Path repository = root.resolve("repo");
    try {
      Files.createDirectories(repository);
      Files.writeString(repository.resolve("orders.py"), ORDERS);
      Files.writeString(repository.resolve("test_orders.py"), TEST_ORDERS);
      Files.writeString(
          repository.resolve("pytest.ini"), "[pytest]\naddopts = --junitxml=junit.xml\n");
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, repository.toString(), e);
    }
    return root;
  }

  /** Settings for all of them, with a new secret for seed 001's. */
  SortedMap<String, SurfaceConfig> config(SecureRandom random) {
    Path secret = dir.resolve(SECRET);
    try {
      boolean posix = dir.getFileSystem().supportedFileAttributeViews().contains("posix");
      FileAttribute<?>[] attributes =
          posix
              ? new FileAttribute<?>[] {
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
              }
              : new FileAttribute<?>[0];
      Files.createFile(secret, attributes);
      Files.writeString(secret, Tokens.generate(random));
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, secret.toString(), e);
    }
    TreeMap<String, String> logline = new TreeMap<>();
    logline.put("subject." + TENANT, AGENT);
    logline.put("subject." + SEEDS_TENANT, AGENT);
    if (confined) {
      logline.put("tool.code_interpreter", "code_ephemeral 1.0.0 run");
      logline.put("tool.code_in_workspace", "code_interpreter 1.0.0 run");
      logline.put("tool.git_cli", "git_cli 1.0.0 $operation");
      logline.put("tool.web_browser", "web_browser 1.0.0 visit");
      logline.put("tool.web_browser.defaults", "{\"results\":[\"html\",\"pdf\",\"png\"]}");
      logline.put("tool.web_browser.memory_bytes", "1073741824"); // a page takes 300 to 400 MB
      logline.put("tool.web_browser.cpu_ms", "30000");
      logline.put("tool.web_browser.output_bytes", "4194304");
      logline.put("tool.web_browser.wall_ms", "60000");
    } else {
      logline.put("tool.js", "js 1.0.0 eval");
    }
    logline.put("sandbox", confined ? "restricted" : "wasm");
    logline.put("cpu_ms", "20000");
    logline.put("memory_bytes", confined ? "268435456" : "67108864");
    logline.put("output_bytes", "1048576");
    logline.put("wall_ms", "30000");
    TreeMap<String, SurfaceConfig> surfaces = new TreeMap<>();
    surfaces.put("engine", new SurfaceConfig(new TreeMap<>(), List.of(), Map.of()));
    surfaces.put("execute", new SurfaceConfig(new TreeMap<>(), List.of(), Map.of()));
    surfaces.put("logline", new SurfaceConfig(new TreeMap<>(), List.of(SECRET), logline));
    surfaces.put("vouched", new SurfaceConfig(new TreeMap<>(), List.of(), Map.of()));
    surfaces.put("mcp", new SurfaceConfig(new TreeMap<>(), List.of(), Map.of()));
    surfaces.put(
        "tools",
        new SurfaceConfig(
            new TreeMap<>(),
            List.of(),
            Map.of("workspace_root", dir.resolve(WORKSPACES).toString())));
    return surfaces;
  }

  private static JsonValue.Obj vouched() {
    var params = JsonValue.object().put("source", "6 * 7").build();
    return JsonValue.object()
        .put("run", "vouched")
        .put("effect", JsonValue.object().put("tool", "js").put("params", params).build())
        .build();
  }

  /**
   * The seeds' own examples, and others of each surface.
   *
   * @param ofPackage what is asked of the demo's tool package
   */
  List<Example> examples(String url, String token, Instant now, JsonValue.Obj ofPackage) {
    String post = "curl -sS -H 'Content-Type: application/json' ";
    String bearer = "-H 'Authorization: Bearer " + token + "' ";
    String exec = post + bearer + url + "/v1/tools/exec -d @";
    List<Example> examples = new ArrayList<>();
    examples.addAll(execute(url, post + bearer, now));
    examples.addAll(logline(url));
    examples.add(
        Example.played(
            "tools (seed 002): a command in a role" + played(),
            exec + body("tools.json", tools())));
    examples.add(
        Example.played(
            "a command that the role does not have",
            exec + body("kubectl.json", command("kubectl get pods"))));
    if (confined) {
      examples.add(
          Example.played(
              "a command that looks for a network",
              exec + body("network.json", command(LOOK_FOR_A_NETWORK))));
    }
    examples.add(
        Example.played(
            "its stream of events, up to now",
            "curl -sS " + bearer + url + "'/v1/streams/swe:tools:exec:stream?follow=false'"));
    examples.add(
        Example.played(
            "engine (seed 004): an operation of a tool package",
            post + bearer + url + "/v1/tool-executions -d @" + body("engine.json", ofPackage)));
    examples.add(
        Example.played(
            "vouched: an effect that the server signs for the token's subject",
            post + bearer + url + "/v1/vouched-effects -d @" + body("vouched.json", vouched())));
    examples.add(
        Example.played("mcp: a session, and a call of a tool in it", mcp(url, post + bearer)));
    return examples;
  }

  /** The seed's example under a new id, as each request needs one; and one that is refused. */
  private List<Example> execute(String url, String post, Instant now) {
    String send =
        "sed \"s/"
            + REQUEST_ID
            + "/$(cat /proc/sys/kernel/random/uuid)/\" FILE | "
            + post
            + url
            + "/execute -d @-";
    Path allowed = body("execute.json", execute("default", now));
    Path refused = body("execute-privileged.json", execute("privileged", now));
    return List.of(
        Example.played(
            "execute (seed 000): the strict gateway" + played(),
            send.replace("FILE", allowed.toString())),
        Example.played(
            "the same with more privileges than it may have",
            send.replace("FILE", refused.toString())),
        Example.played("its health", "curl -sS " + url + "/health"));
  }

  /** The seed's own example, and its other tools at work on the demo's own places. */
  private List<Example> logline(String url) {
    DemoLogline requests =
        new DemoLogline(dir, dir.resolve(SECRET), url + "/execute", SEEDS_TENANT);
    List<Example> examples = new ArrayList<>();
    if (!confined) {
      examples.add(
          Example.played(
              "logline (seed 001): signed by a shared secret",
              requests.command("js", JsonValue.object().put("source", "6 * 7").build())));
      return examples;
    }
    examples.add(
        Example.played("logline (seed 001): signed by a shared secret", requests.example()));
    if (Files.isExecutable(Path.of(BrowserDriver.CHROMIUM))) {
      examples.add(
          Example.played(
              "logline: a page of this demo, worked by a script, with picture and document",
              requests.visit(places.pageUrl())));
    }
    places
        .repositoryUrl()
        .ifPresent(repository ->
            examples.add(
                Example.played(
                    "logline: a repository of this demo, cloned, changed, pushed; the run ends"
                        + " with it",
                    requests.change(repository))));
    return examples;
  }

  private String mcp(String url, String post) {
    JsonValue.Obj initialize =
        JsonValue.object()
            .put("protocolVersion", "2025-11-25")
            .put("capabilities", JsonValue.object().build())
            .put("clientInfo", JsonValue.object().put("name", "curl").put("version", "1").build())
            .build();
    JsonValue.Obj call =
        JsonValue.object()
            .put("name", "js")
            .put("arguments", JsonValue.object().put("source", "6 * 7").build())
            .build();
    String to = post + url + "/mcp -d @";
    return "s=$("
        + to
        + body("mcp-initialize.json", message("initialize", initialize))
        + " -o /dev/null -D - | tr -d '\\r' | sed -n 's/^[Mm]cp-[Ss]ession-[Ii]d: //p'); "
        + to
        + body("mcp-call.json", message("tools/call", call))
        + " -H \"Mcp-Session-Id: $s\"";
  }

  private static JsonValue message(String method, JsonValue.Obj params) {
    return JsonValue.object()
        .put("jsonrpc", "2.0")
        .put("id", 1)
        .put("method", method)
        .put("params", params)
        .build();
  }

  private String played() {
    return confined ? "" : "; echo is a line of JavaScript here: no sandbox for commands";
  }

  private Path body(String name, JsonValue json) {
    Path file = dir.resolve(name);
    try {
      return Files.write(file, Jcs.write(json));
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, file.toString(), e);
    }
  }

  /** The seed's own example, its "uuid" and "RFC3339" filled in. */
  private static JsonValue execute(String profile, Instant now) {
    String text =
        """
        {
          "execution_request_id": "REQUEST_ID",
          "execution_request_version": "1.0",
          "intent_ref": {
            "intent_id": "22222222-2222-4222-8222-222222222222",
            "intent_version": "1.0",
            "trace_id": "TRACE"
          },
          "execution_spec": { "executor": "execution", "target": "echo 'hello'", "parameters": {} },
          "context": {
            "tenant_id": "44444444-4444-4444-8444-444444444444",
            "subject_id": "55555555-5555-4555-8555-555555555555",
            "workspace_id": "66666666-6666-4666-8666-666666666666",
            "trace_id": "TRACE"
          },
          "sandbox": { "profile": "PROFILE", "network": "disabled", "filesystem": "ephemeral" },
          "resources": { "cpu": "500m", "memory": "128Mi", "timeout_ms": 30000 },
          "artifacts": {
            "capture_stdout": true, "capture_stderr": true, "output_files": [], "persist": false
          },
          "audit": {
            "execution_trace_id": "77777777-7777-4777-8777-777777777777",
            "parent_trace_id": "88888888-8888-4888-8888-888888888888",
            "requested_by": "orchestrator",
            "timestamp": "NOW"
          }
        }
        """
            .replace("REQUEST_ID", REQUEST_ID)
            .replace("TRACE", TRACE)
            .replace("PROFILE", profile)
            .replace("NOW", Timestamps.format(now));
    return Jcs.parse(text.getBytes(StandardCharsets.UTF_8));
  }

  private static JsonValue.Obj command(String line) {
    return JsonValue.object()
        .put("role", "developer")
        .put("case_id", "case-123")
        .put("cmd", line)
        .put("timeout_sec", 10)
        .build();
  }

  /**
   * The seed's own example; where commands cannot be confined, the one command that is imitated.
   */
  private JsonValue tools() {
    String text =
        confined
            ? """
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
            """
            : """
            {
                "role": "developer",
                "case_id": "case-123",
                "subtask_id": "DEV-123",
                "cmd": "echo hello from the tool gateway",
                "cwd": "/workspace/repo",
                "timeout_sec": 10,
                "env": {"LANG": "C"},
                "limits": {"cpu": 1.0, "mem_mb": 128}
            }
            """;
    return Jcs.parse(text.getBytes(StandardCharsets.UTF_8));
  }
}
