package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Delegation;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** Keys, a tool and a policy for tests; keys follow from their names, so everything repeats. */
final class World {
  static final Instant NOW = Instant.parse("2026-11-21T12:00:00.000Z");
  static final String TENANT = "acme";
  static final String SUBJECT = "researcher";
  static final Digest SNAPSHOT = Digest.sha256("snapshot".getBytes(StandardCharsets.UTF_8));

  static final SigningKey AGENT = key("agent");
  static final SigningKey OWNER = key("owner");
  static final SigningKey LEAD = key("lead");
  static final SigningKey REVIEWER = key("reviewer");
  static final SigningKey REVIEWER2 = key("reviewer2");
  static final SigningKey CI = key("ci");
  static final SigningKey SURFACE = key("surface");

  private World() {}

  static SigningKey key(String name) {
    return SigningKey.ed25519(
        Digest.sha256(("test key " + name).getBytes(StandardCharsets.UTF_8)).bytes());
  }

  static TrustedKey trusted(SigningKey key, KeyRole role, String tenant, String subject) {
    return new TrustedKey(
        key.verifyingKey(),
        role,
        Optional.of(tenant),
        subject,
        Instant.parse("2026-01-01T00:00:00.000Z"),
        Optional.of(Instant.parse("2027-01-01T00:00:00.000Z")),
        Optional.empty());
  }

  static List<TrustedKey> keys() {
    return new ArrayList<>(
        List.of(
            trusted(AGENT, KeyRole.AGENT, TENANT, SUBJECT),
            trusted(OWNER, KeyRole.PRINCIPAL, TENANT, "owner"),
            trusted(LEAD, KeyRole.PRINCIPAL, TENANT, "lead"),
            trusted(REVIEWER, KeyRole.APPROVER, TENANT, "rita"),
            trusted(REVIEWER2, KeyRole.APPROVER, TENANT, "roy"),
            trusted(CI, KeyRole.ATTESTOR, TENANT, "ci"),
            trusted(SURFACE, KeyRole.SURFACE, TENANT, "mcp")));
  }

  static Trust trust() {
    return Trust.of(keys());
  }

  static Trust trustWith(TrustedKey... more) {
    TreeMap<String, TrustedKey> all = new TreeMap<>();
    keys().forEach(k -> all.put(k.kid(), k));
    List.of(more).forEach(k -> all.put(k.kid(), k));
    return Trust.of(all.values());
  }

  static ToolManifest manifest() {
    return manifest(
        "{\"type\":\"object\",\"properties\":{\"source\":{\"type\":\"string\",\"maxLength\":100000},"
            + "\"n\":{\"type\":\"integer\"},\"file\":{\"type\":\"string\"},"
            + "\"env\":{\"type\":\"object\"},\"url\":{\"type\":\"string\"}},"
            + "\"required\":[\"source\"],\"additionalProperties\":false}");
  }

  static ToolManifest manifest(String schema) {
    return new ToolManifest(
        "js",
        "1.0.0",
        "js",
        Determinism.PURE,
        List.of(
            new ToolManifest.Operation(
                "eval",
                (JsonValue.Obj) json(schema),
                Optional.of((JsonValue.Obj) json("{\"type\":\"object\"}")),
                "application/json"),
            new ToolManifest.Operation(
                "lint",
                (JsonValue.Obj) json("{\"type\":\"object\"}"),
                Optional.empty(),
                "text/plain")),
        new ToolManifest.Capabilities(List.of("/file"), List.of("/env"), List.of("/url"), false),
        new Resources(10_000, 256 << 20, 8 << 20, 10_000),
        List.of("other", "wasm"),
        List.of());
  }

  static JsonValue json(String text) {
    return Jcs.parse(text.getBytes(StandardCharsets.UTF_8));
  }

  static final String POLICY =
      """
      writ_policy: 1
      name: test
      version: 3
      limits: { request_age_max_s: 300, pending_max_s: 86400, request_bytes_max: 100000 }
      principals:
        - { tenant: acme, subject: researcher, roles: [analyst], surfaces: [mcp] }
        - { tenant: acme, subject: owner, roles: [] }
        - { tenant: acme, subject: lead, roles: [] }
      roles:
        analyst:
          tools: [js]
          resources: { cpu_ms: 5000, memory_bytes: 134217728, output_bytes: 1048576, wall_ms: 5000 }
          sandboxes: [wasm]
          paths: [data]
          environment: [LANG]
          network: ["api.example.org:443", "*.example.com:443"]
      tools:
        - { name: js, version: 1.0.0, package: "PACKAGE", stage: active }
      budgets:
        - { name: calls, scope: subject, unit: calls, limit: 1000, window_s: 86400 }
      requirements:
        - effect: { tool: js, operation: eval }
          require: { cel: 'size(params.source) < 20000' }
      approvers:
        - { tenant: acme, subject: rita, roles: [reviewer] }
        - { tenant: acme, subject: roy, roles: [reviewer] }
      """;

  static Policy policy() {
    return policy(POLICY);
  }

  static Policy policy(String yaml) {
    return policy(yaml, manifest());
  }

  /** The policy with another package of the tool approved. */
  static Policy policy(String yaml, ToolManifest tool) {
    return Policy.parse(
        yaml.replace("PACKAGE", tool.packageDigest().toString()).getBytes(StandardCharsets.UTF_8),
        "policy.yaml");
  }

  /** The tool with other capabilities and sandboxes. */
  static ToolManifest manifest(ToolManifest.Capabilities capabilities, String... sandboxes) {
    ToolManifest m = manifest();
    return new ToolManifest(
        m.name(),
        m.version(),
        m.driver(),
        m.determinism(),
        m.operations(),
        capabilities,
        m.resourcesMax(),
        List.of(sandboxes),
        m.files());
  }

  static Policy policyRequiring(String require) {
    return policy(POLICY.replace("{ cel: 'size(params.source) < 20000' }", require));
  }

  /** Changes one request after another. */
  static final class RequestBuilder {
    String tenant = TENANT;
    String run = "run-1";
    String subject = SUBJECT;
    String tool = "js";
    String version = "1.0.0";
    String operation = "eval";
    String params = "{\"source\":\"1+1\"}";
    Resources resources = new Resources(1_000, 64 << 20, 100_000, 2_000);
    String sandbox = "wasm";
    Optional<Digest> workspaceBefore = Optional.empty();
    String nonce = "nonce-1";
    Instant at = NOW;
    Optional<Origin> origin = Optional.empty();
    List<Digest> evidence = List.of();
    List<Envelope> delegations = List.of();
    SigningKey signer = AGENT;

    Request request() {
      return new Request(
          new Scope(tenant, run, subject),
          new Effect(
              tool,
              version,
              operation,
              (JsonValue.Obj) json(params),
              List.<Input>of(),
              resources,
              sandbox,
              workspaceBefore),
          List.of(),
          Optional.empty(),
          nonce,
          at,
          "keep",
          JsonValue.object().build(),
          origin,
          evidence,
          delegations);
    }

    Envelope sign() {
      return Envelope.sign(Request.TYPE, request().toJson(), signer);
    }

    byte[] bytes() {
      return sign().toBytes();
    }

    Admitted admit(Policy policy) {
      return Admission.admit(sign(), trust(), policy, NOW);
    }

    RequestBuilder nonce(String value) {
      nonce = value;
      return this;
    }

    RequestBuilder params(String value) {
      params = value;
      return this;
    }
  }

  static RequestBuilder request() {
    return new RequestBuilder();
  }

  static Circumstances circumstances(Envelope... approvals) {
    return circumstances(manifest(), approvals);
  }

  static Circumstances circumstances(ToolManifest tool, Envelope... approvals) {
    return new Circumstances(
        tool, SNAPSHOT, List.of(approvals), List.of(), (_, _) -> false, Optional.empty());
  }

  /** Those of a request that may have been judged before, whatever its nonce and time say. */
  static Circumstances judgedBefore() {
    return new Circumstances(
        manifest(), SNAPSHOT, List.of(), List.of(), (_, _) -> false, Optional.of(SNAPSHOT));
  }

  static Accounts accounts(Policy policy) {
    return Accounts.restore(List.of(), policy, NOW);
  }

  static Decision judge(Policy policy, RequestBuilder request, Envelope... approvals) {
    return accounts(policy)
        .judge(request.admit(policy), circumstances(approvals), policy, trust(), NOW)
        .decision();
  }

  static Envelope approval(
      SigningKey key, String approver, Admitted a, Policy policy, Approval.Verdict verdict) {
    return Envelope.sign(
        Approval.TYPE,
        new Approval(
                TENANT,
                approver,
                "reviewer",
                a.id(),
                a.request().effect().digest(),
                policy.digest(),
                verdict,
                NOW,
                NOW.plusSeconds(3600))
            .toJson(),
        key);
  }

  static Delegation delegation(SigningKey from, SigningKey to, long depth) {
    return new Delegation(
        TENANT,
        from.kid(),
        to.kid(),
        List.of("js"),
        NOW.minusSeconds(60),
        NOW.plusSeconds(3600),
        depth);
  }

  static Envelope signed(Delegation delegation, SigningKey key) {
    return Envelope.sign(Delegation.TYPE, delegation.toJson(), key);
  }
}
