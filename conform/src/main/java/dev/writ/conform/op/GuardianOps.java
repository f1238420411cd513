package dev.writ.conform.op;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.conform.ConformError;
import dev.writ.conform.adapter.Operation;
import dev.writ.guardian.Accounts;
import dev.writ.guardian.Admission;
import dev.writ.guardian.Admitted;
import dev.writ.guardian.ApprovalVerification;
import dev.writ.guardian.Circumstances;
import dev.writ.guardian.Judge;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.ToolSchemas;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Delegation;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/** Admission, judgement, accounts and policy: the Guardian without its keys. */
final class GuardianOps {
  private GuardianOps() {}

  static void addTo(SortedMap<String, Operation> operations) {
    operations.put("guardian.admit", GuardianOps::admit);
    operations.put("guardian.judge", GuardianOps::judge);
    operations.put("guardian.accounts", GuardianOps::accounts);
    operations.put("guardian.approval", GuardianOps::approval);
    operations.put("guardian.document", GuardianOps::document);
    operations.put("guardian.manifest", GuardianOps::manifest);
    operations.put("guardian.output", GuardianOps::output);
    operations.put("guardian.policy", GuardianOps::policy);
    operations.put("guardian.policy-canonical", GuardianOps::policyCanonical);
    operations.put("guardian.tool", GuardianOps::tool);
  }

  private static JsonValue.Obj digest(String name, Digest digest) {
    return JsonValue.object().put(name, digest).build();
  }

  private static JsonValue.Obj admit(Fields input) {
    Admitted admitted =
        Admission.readmit(
            envelope(input.value("envelope")),
            BasicOps.trust(input),
            policyOf(input),
            input.time("received_at"),
            input.time("now"));
    return JsonValue.object()
        .put("id", admitted.id())
        .put("holder", admitted.holder().kid())
        .putList("charged", admitted.charged(), JsonValue::of)
        .build();
  }

  private static JsonValue.Obj judge(Fields input) {
    Policy policy = policyOf(input);
    JudgeInputs inputs = JudgeInputs.read(input.value("inputs"));
    Envelope envelope = envelope(input.value("envelope"));
    Request request = Request.read(envelope.document());
    TrustedKey holder = TrustedKey.fromJson("holder", input.value("holder"));
    Admitted admitted =
        new Admitted(
            envelope, request, envelope.id(), holder, inputs.charged(), inputs.receivedAt());
    return outcome(
        Judge.judge(
            admitted,
            ToolManifest.read(input.value("manifest")),
            policy,
            inputs,
            input.digest("snapshot"),
            input.optional("supersedes", input::digest)));
  }

  private static JsonValue.Obj outcome(Decision decision) {
    return JsonValue.object()
        .put("verdict", decision.verdict().name())
        .putIfPresent("code", decision.code(), JsonValue::of)
        .putList("checks", decision.checks(), c -> JsonValue.of(c.outcome().name()))
        .put("decision", Jcs.digest(decision.toJson()))
        .putIfPresent(
            "observed",
            decision.observed(),
            o ->
                JsonValue.of(
                    o.code().map(code -> o.verdict() + " " + code).orElse("" + o.verdict())))
        .build();
  }

  /** Judges one request after another; the output is that of the last. */
  private static JsonValue.Obj accounts(Fields input) {
    Policy policy = policyOf(input);
    Trust trust = BasicOps.trust(input);
    ToolManifest manifest = ToolManifest.read(input.value("manifest"));
    Digest snapshot = input.digest("snapshot");
    Accounts accounts = Accounts.restore(List.of(), policy, Instant.EPOCH);
    List<Decision> decisions =
        input.list(
            "steps",
            (path, value) -> {
              Fields step = Fields.of(path, value);
              Instant now = step.time("now");
              Admitted admitted =
                  Admission.admit(envelope(step.value("envelope")), trust, policy, now);
              Circumstances circumstances =
                  new Circumstances(
                      manifest,
                      snapshot,
                      step.list("approvals", (_, v) -> envelope(v)),
                      step.list("evidence", (_, v) -> new Circumstances.Evidence(envelope(v))),
                      (_, _) -> false,
                      Optional.empty());
              Decision decision =
                  accounts.judge(admitted, circumstances, policy, trust, now).decision();
              step.optional("settle_cpu_ms", step::count)
                  .ifPresent(ms -> accounts.settle(admitted.id(), ms));
              step.end();
              return decision;
            });
    return outcome(decisions.getLast());
  }

  private static JsonValue.Obj approval(Fields input) {
    Policy policy = policyOf(input);
    Trust trust = BasicOps.trust(input);
    Instant now = input.time("now");
    Admitted admitted = Admission.admit(envelope(input.value("envelope")), trust, policy, now);
    Approval approval =
        ApprovalVerification.verify(
            envelope(input.value("approval")), admitted, policy, trust, now);
    return JsonValue.object().put("approver", approval.approver()).build();
  }

  private static JsonValue.Obj policy(Fields input) {
    byte[] text = input.string("text").getBytes(StandardCharsets.UTF_8);
    return digest("policy", Policy.parse(text, "policy.yaml").digest());
  }

  private static JsonValue.Obj policyCanonical(Fields input) {
    return digest("policy", Policy.ofCanonical(input.value("document")).digest());
  }

  private static JsonValue.Obj tool(Fields input) {
    return policyOf(input).requireTool(input.name("name"), input.name("version")).ref().toJson();
  }

  private static JsonValue.Obj manifest(Fields input) {
    ToolManifest manifest = ToolManifest.read(input.value("manifest"));
    ToolSchemas.of(manifest);
    return digest("package", manifest.packageDigest());
  }

  private static JsonValue.Obj output(Fields input) {
    ToolSchemas.of(ToolManifest.read(input.value("manifest")))
        .requireOutput(input.name("operation"), input.value("output"));
    return Bytes.valid();
  }

  private static JsonValue.Obj document(Fields input) {
    JsonValue document = input.value("document");
    String type = input.name("type");
    JsonValue read =
        switch (type) {
          case "request" -> Request.read(document).toJson();
          case "decision" -> Decision.read(document).toJson();
          case "intent" -> Intent.read(document).toJson();
          case "approval" -> Approval.read(document).toJson();
          case "delegation" -> Delegation.read(document).toJson();
          case "tool-manifest" -> ToolManifest.read(document).toJson();
          default -> throw new WritException(ConformError.SCENARIO, "no document type " + type);
        };
    return digest("id", Jcs.digest(read));
  }

  static Policy policyOf(Fields input) {
    return Policy.ofCanonical(input.value("policy"));
  }

  static Envelope envelope(JsonValue value) {
    return Envelope.parse(Jcs.write(value));
  }
}
