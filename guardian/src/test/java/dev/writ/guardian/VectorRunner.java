package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Delegation;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/** Runs one golden vector: its input in, the outcome out. Knows nothing of how it was made. */
final class VectorRunner {
  private VectorRunner() {}

  /** The outcome of a vector's input; a refusal is an outcome. */
  static JsonValue.Obj run(JsonValue.Obj input) {
    Fields fields = Fields.of("vector", input);
    String kind = fields.name("kind");
    try {
      return switch (kind) {
        case "admit" -> admit(fields);
        case "judge" -> judge(fields);
        case "accounts" -> accounts(fields);
        case "approval" -> approval(fields);
        case "policy" -> policy(fields);
        case "policy-canonical" ->
            digest("policy", Policy.ofCanonical(fields.value("document")).digest());
        case "tool" -> tool(fields);
        case "manifest" -> manifest(fields);
        case "output" -> output(fields);
        case "document" -> document(fields);
        default -> throw new AssertionError("unknown kind " + kind);
      };
    } catch (WritException e) {
      return JsonValue.object().put("code", e.code().code()).build();
    }
  }

  private static JsonValue.Obj digest(String name, Digest digest) {
    return JsonValue.object().put(name, digest).build();
  }

  private static JsonValue.Obj admit(Fields fields) {
    Admitted a =
        Admission.readmit(
            Jcs.write(fields.value("envelope")),
            trust(fields),
            policyOf(fields),
            fields.time("received_at"),
            fields.time("now"));
    return JsonValue.object()
        .put("id", a.id())
        .put("holder", a.holder().kid())
        .putList("charged", a.charged(), JsonValue::of)
        .build();
  }

  private static JsonValue.Obj judge(Fields fields) {
    Policy policy = policyOf(fields);
    JudgeInputs inputs = JudgeInputs.read(fields.value("inputs"));
    Envelope envelope = envelope(fields.value("envelope"));
    Request request = Request.read(envelope.document());
    TrustedKey holder = key("holder", fields.value("holder"));
    Admitted a =
        new Admitted(
            envelope, request, envelope.id(), holder, inputs.charged(), inputs.receivedAt());
    return outcome(
        Judge.judge(
            a,
            ToolManifest.read(fields.value("manifest")),
            policy,
            inputs,
            fields.digest("snapshot"),
            fields.optional("supersedes", fields::digest)));
  }

  private static JsonValue.Obj outcome(Decision decision) {
    return JsonValue.object()
        .put("verdict", decision.verdict().name())
        .putIfPresent("code", decision.code(), JsonValue::of)
        .putList("checks", decision.checks(), c -> JsonValue.of(c.outcome().name()))
        .put("decision", Jcs.digest(decision.toJson()))
        .build();
  }

  /** Judges one request after another; the outcome is that of the last. */
  private static JsonValue.Obj accounts(Fields fields) {
    Policy policy = policyOf(fields);
    Trust trust = trust(fields);
    ToolManifest manifest = ToolManifest.read(fields.value("manifest"));
    Digest snapshot = fields.digest("snapshot");
    Accounts accounts = Accounts.restore(List.of(), policy, Instant.EPOCH);
    List<Decision> decisions =
        fields.list(
            "steps",
            (path, value) -> {
              Fields step = Fields.of(path, value);
              Instant now = step.time("now");
              Admitted a = Admission.admit(Jcs.write(step.value("envelope")), trust, policy, now);
              Circumstances c =
                  new Circumstances(
                      manifest,
                      snapshot,
                      step.list("approvals", (_, v) -> envelope(v)),
                      step.list("evidence", (_, v) -> new Circumstances.Evidence(envelope(v))),
                      (_, _) -> false,
                      Optional.empty());
              Decision decision = accounts.judge(a, c, policy, trust, now).decision();
              step.optional("settle_cpu_ms", step::count)
                  .ifPresent(ms -> accounts.settle(a.id(), ms));
              step.end();
              return decision;
            });
    return outcome(decisions.getLast());
  }

  private static JsonValue.Obj approval(Fields fields) {
    Policy policy = policyOf(fields);
    Trust trust = trust(fields);
    Instant now = fields.time("now");
    Admitted a = Admission.admit(Jcs.write(fields.value("envelope")), trust, policy, now);
    Approval approval = Approvals.verify(envelope(fields.value("approval")), a, policy, trust, now);
    return JsonValue.object().put("approver", approval.approver()).build();
  }

  /** The message is part of the outcome: it names line, column and field. */
  private static JsonValue.Obj policy(Fields fields) {
    byte[] text = fields.string("text").getBytes(StandardCharsets.UTF_8);
    try {
      return digest("policy", Policy.parse(text, "policy.yaml").digest());
    } catch (WritException e) {
      return JsonValue.object().put("code", e.code().code()).put("found", e.found()).build();
    }
  }

  private static JsonValue.Obj tool(Fields fields) {
    return policyOf(fields).requireTool(fields.name("name"), fields.name("version")).ref().toJson();
  }

  private static JsonValue.Obj manifest(Fields fields) {
    ToolManifest manifest = ToolManifest.read(fields.value("manifest"));
    ToolSchemas.of(manifest);
    return digest("package", manifest.packageDigest());
  }

  private static JsonValue.Obj output(Fields fields) {
    ToolSchemas.of(ToolManifest.read(fields.value("manifest")))
        .requireOutput(fields.name("operation"), fields.value("output"));
    return JsonValue.object().put("fits", true).build();
  }

  private static JsonValue.Obj document(Fields fields) {
    JsonValue document = fields.value("document");
    JsonValue read =
        switch (fields.name("type")) {
          case "request" -> Request.read(document).toJson();
          case "decision" -> Decision.read(document).toJson();
          case "intent" -> Intent.read(document).toJson();
          case "approval" -> Approval.read(document).toJson();
          case "delegation" -> Delegation.read(document).toJson();
          case "tool-manifest" -> ToolManifest.read(document).toJson();
          default -> throw new AssertionError("unknown type");
        };
    return digest("id", Jcs.digest(read));
  }

  private static Policy policyOf(Fields fields) {
    return Policy.ofCanonical(fields.value("policy"));
  }

  private static Envelope envelope(JsonValue value) {
    return Envelope.parse(Jcs.write(value));
  }

  private static Trust trust(Fields fields) {
    return Trust.of(fields.list("trust", VectorRunner::key));
  }

  private static TrustedKey key(String path, JsonValue value) {
    Fields fields = Fields.of(path, value);
    TrustedKey key =
        new TrustedKey(
            VerifyingKey.ed25519(Base64.getUrlDecoder().decode(fields.string("x"))),
            fields.oneOf("role", List.of(KeyRole.values()), KeyRole::text),
            fields.optional("tenant", fields::name),
            fields.name("subject"),
            fields.time("not_before"),
            fields.optional("not_after", fields::time),
            fields.optional("revoked_at", fields::time));
    fields.end();
    return key;
  }

  static JsonValue.Obj keyJson(TrustedKey key) {
    return JsonValue.object()
        .put("x", Base64.getUrlEncoder().withoutPadding().encodeToString(key.key().bytes()))
        .put("role", key.role().text())
        .putIfPresent("tenant", key.tenant(), JsonValue::of)
        .put("subject", key.subject())
        .put("not_before", key.notBefore())
        .putIfPresent("not_after", key.notAfter(), VectorRunner::time)
        .putIfPresent("revoked_at", key.revokedAt(), VectorRunner::time)
        .build();
  }

  private static JsonValue time(Instant time) {
    return JsonValue.of(Timestamps.format(time));
  }
}
