package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.profile.ExecuteAdmission;
import dev.writ.guardian.profile.ExecuteState;
import dev.writ.guardian.profile.Finding;
import dev.writ.guardian.profile.Profiles;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Seed 000's example request with its placeholders filled in, a policy for it, and its judgement.
 */
public final class SeedZero {
  public static final String REQUEST_ID = "11111111-1111-4111-8111-111111111111";
  public static final String INTENT_ID = "22222222-2222-4222-8222-222222222222";
  public static final String CLOSED_ID = "22222222-2222-4222-8222-00000000c105";
  public static final String TRACE_ID = "33333333-3333-4333-8333-333333333333";
  public static final String TENANT_ID = "44444444-4444-4444-8444-444444444444";
  public static final String SUBJECT_ID = "55555555-5555-4555-8555-555555555555";
  public static final String WORKSPACE_ID = "66666666-6666-4666-8666-666666666666";
  public static final String EXECUTION_ID = "77777777-7777-4777-8777-777777777777";
  public static final String PARENT_ID = "88888888-8888-4888-8888-888888888888";

  /** When {@link #EXAMPLE} was asked. */
  public static final String ASKED_AT = "2026-11-21T12:00:00Z";

  /** The seed's example request, whose names and values are data; ids and time are filled in. */
  public static final String EXAMPLE =
      """
      {
        "execution_request_id": "11111111-1111-4111-8111-111111111111",
        "execution_request_version": "1.0",
        "intent_ref": {
          "intent_id": "22222222-2222-4222-8222-222222222222",
          "intent_version": "1.0",
          "trace_id": "33333333-3333-4333-8333-333333333333"
        },
        "execution_spec": {
          "executor": "execution",
          "target": "echo 'hello'",
          "parameters": {}
        },
        "context": {
          "tenant_id": "44444444-4444-4444-8444-444444444444",
          "subject_id": "55555555-5555-4555-8555-555555555555",
          "workspace_id": "66666666-6666-4666-8666-666666666666",
          "trace_id": "33333333-3333-4333-8333-333333333333"
        },
        "sandbox": {
          "profile": "default",
          "network": "disabled",
          "filesystem": "ephemeral"
        },
        "resources": {
          "cpu": "500m",
          "memory": "128Mi",
          "timeout_ms": 30000
        },
        "artifacts": {
          "capture_stdout": true,
          "capture_stderr": true,
          "output_files": [],
          "persist": false
        },
        "audit": {
          "execution_trace_id": "77777777-7777-4777-8777-777777777777",
          "parent_trace_id": "88888888-8888-4888-8888-888888888888",
          "requested_by": "orchestrator",
          "timestamp": "2026-11-21T12:00:00Z"
        }
      }
      """;

  static final String SECTION =
      """
      execute:
        freshness_s: 300
        sandboxes: { default: wasm, restricted: wasm, privileged: wasm }
        privileged: { role: reviewer, count: 1 }
        tenants:
          - tenant: acme
            id: "44444444-4444-4444-8444-444444444444"
            workspaces: ["66666666-6666-4666-8666-666666666666"]
            ceiling: privileged
            subjects: [ { subject: researcher, id: "55555555-5555-4555-8555-555555555555" } ]
        intents:
          - id: "22222222-2222-4222-8222-222222222222"
            version: "1.0"
            state: open
            tenant: acme
            targets: [ { program: echo }, { text: "1+1" } ]
            ceiling: privileged
            resources: { cpu: "1", memory: 256Mi, timeout_ms: 60000 }
            output_bytes: 1048576
            effect: { tool: js, version: 1.0.0, operation: eval, params: { source: $target } }
          - id: "22222222-2222-4222-8222-00000000c105"
            version: "1.0"
            state: closed
            tenant: acme
            targets: [ { any: true } ]
            ceiling: restricted
            resources: { cpu: "1", memory: 256Mi, timeout_ms: 60000 }
            output_bytes: 1048576
            effect: { tool: js, version: 1.0.0, operation: eval, params: { source: $target } }
          - id: "22222222-2222-4222-8222-0000000000e5"
            version: "1.0"
            state: open
            tenant: acme
            targets: [ { program: echo } ]
            ceiling: restricted
            resources: { cpu: "1", memory: 256Mi, timeout_ms: 60000 }
            output_bytes: 1048576
            effect: { tool: js, version: 1.0.0, operation: eval, params: { source: $target } }
      """;

  private static final SigningKey KEY = World.key("execute");

  private static final Policy POLICY = read();

  private SeedZero() {}

  /** The test policy with the section, and ceilings that the example fits under. */
  public static Policy policy() {
    return POLICY;
  }

  private static Policy read() {
    return World.policy(yaml().replace("PACKAGE", manifest().packageDigest().toString()));
  }

  /** The test tool, with room for what the seed's example asks for. */
  static ToolManifest manifest() {
    ToolManifest js = World.manifest();
    return new ToolManifest(
        js.name(),
        js.version(),
        js.driver(),
        js.determinism(),
        js.operations(),
        js.capabilities(),
        new Resources(60_000, 1 << 30, 8 << 20, 60_000),
        js.sandboxes(),
        js.files());
  }

  static Circumstances circumstances(Optional<Finding> finding, Envelope... approvals) {
    return new Circumstances(
        manifest(),
        World.SNAPSHOT,
        List.of(approvals),
        List.of(),
        (_, _) -> false,
        Optional.empty(),
        finding,
        Optional.empty());
  }

  static String yaml() {
    return World.POLICY
            .replace("surfaces: [mcp]", "surfaces: [execute, mcp]")
            .replace("cpu_ms: 5000", "cpu_ms: 60000")
            .replace("wall_ms: 5000", "wall_ms: 60000")
            .replace("memory_bytes: 134217728", "memory_bytes: 536870912")
        + SECTION;
  }

  public static byte[] bytes(String json) {
    return json.getBytes(StandardCharsets.UTF_8);
  }

  /** The example with one value replaced; a null removes the member. */
  public static String with(String pointer, JsonValue value) {
    return with(EXAMPLE, pointer, value);
  }

  public static String with(String json, String pointer, JsonValue value) {
    JsonValue.Obj root = (JsonValue.Obj) Jcs.parse(bytes(json));
    return new String(Jcs.write(put(root, pointer.substring(1), value)), StandardCharsets.UTF_8);
  }

  public static String with(String pointer, String value) {
    return with(pointer, JsonValue.of(value));
  }

  private static JsonValue.Obj put(JsonValue.Obj object, String path, JsonValue value) {
    TreeMap<String, JsonValue> members = new TreeMap<>(object.members());
    int slash = path.indexOf('/');
    if (slash >= 0) {
      String key = path.substring(0, slash);
      members.put(key, put((JsonValue.Obj) members.get(key), path.substring(slash + 1), value));
    } else if (value == null) {
      members.remove(path);
    } else {
      members.put(path, value);
    }
    return new JsonValue.Obj(members);
  }

  public static ExecuteAdmission.Result check(String json, ExecuteState state) {
    return check(bytes(json), state);
  }

  static ExecuteAdmission.Result check(byte[] body, ExecuteState state) {
    return ExecuteAdmission.check(
        body, new ExecuteAdmission.Asker(World.TENANT, World.SUBJECT), policy(), state, World.NOW);
  }

  static Trust trust() {
    return World.trustWith(World.trusted(KEY, KeyRole.SURFACE, World.TENANT, "execute"));
  }

  static Admitted admitted(byte[] raw, Effect effect, Optional<String> key, Policy policy) {
    Request request =
        new Request(
            new Scope(World.TENANT, TRACE_ID, World.SUBJECT),
            effect,
            List.of(),
            key,
            "nonce-" + Digest.sha256(raw).hex().substring(0, 8),
            World.NOW,
            "drop-output",
            JsonValue.object().build(),
            Optional.of(new Origin("execute", "bearer", "token-1", Digest.sha256(raw))),
            List.of(),
            List.of());
    return Admission.admit(
        Envelope.sign(Request.TYPE, request.toJson(), KEY), trust(), policy, World.NOW);
  }

  /** The Guardian's own word on a request that a surface vouches for as it should. */
  static Decision judge(String json, ExecuteState state, Envelope... approvals) {
    ExecuteAdmission.Result result = check(json, state);
    return judge(
        bytes(json),
        result.effect().orElse(ExecuteAdmission.NO_EFFECT),
        result.effect().flatMap(_ -> result.request().requestId()),
        state,
        approvals);
  }

  /** The same, for whatever effect a surface would vouch for. */
  static Decision judge(
      byte[] raw, Effect effect, Optional<String> key, ExecuteState state, Envelope... approvals) {
    Policy policy = policy();
    Admitted admitted = admitted(raw, effect, key, policy);
    return World.accounts(policy)
        .judge(
            admitted,
            circumstances(
                Optional.of(Profiles.find(admitted.request(), raw, policy, state, World.NOW)),
                approvals),
            policy,
            trust(),
            World.NOW)
        .decision();
  }

  /** A state that knows the example's id so. */
  public static ExecuteState seen(ExecuteState.Seen seen) {
    return new ExecuteState() {
      @Override
      public Seen seen(String executionRequestId) {
        return executionRequestId.equals(REQUEST_ID) ? seen : Seen.NEW;
      }

      @Override
      public boolean executed(String id) {
        return id.equals(PARENT_ID) && seen == Seen.NEW;
      }
    };
  }

  static Effect anotherEffect() {
    return new Effect(
        "js",
        "1.0.0",
        "eval",
        (JsonValue.Obj) World.json("{\"source\":\"steal()\"}"),
        List.<Input>of(),
        new Resources(1, 1, 1, 1),
        "wasm",
        Optional.empty());
  }
}
