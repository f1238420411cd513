package dev.writ.replay.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.SystemState;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.Admission;
import dev.writ.guardian.Admitted;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.PolicyExplain;
import dev.writ.guardian.WhatIf;
import dev.writ.guardian.document.CheckOutcome;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.governance.ApprovedTool;
import dev.writ.ledger.event.Event;
import dev.writ.verify.bundle.RecordedRun;
import dev.writ.verify.error.BundleError;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Judges the recorded requests of a run under another policy. Each decision is judged on its own,
 * with the recorded balances, even if the policy would have changed an earlier decision. An
 * approval counts as if it had been given under that policy.
 */
public final class PolicyCounterfactual {
  /** The result under the policy: one of three verdicts, or why there is none. */
  public enum Answer {
    ALLOW,
    ESCALATE,
    DENY,
    /** The request would not be admitted. */
    NOT_ADMITTED,
    /** The result depends on state that was not recorded. */
    UNKNOWN
  }

  /**
   * One decision.
   *
   * @param seq of its event
   * @param recordedCode of the recorded refusal
   * @param check the check that decides under the policy; empty where it is not admitted
   * @param code of the refusal under the policy
   * @param why what the check found: for requirements, the node that fails
   * @param explained the decision under the policy and the requirement's tree
   */
  public record Judged(
      long seq,
      Digest request,
      String subject,
      String effect,
      Verdict recorded,
      Optional<String> recordedCode,
      Answer answer,
      Optional<String> check,
      Optional<String> code,
      String why,
      Optional<JsonValue.Obj> explained) {

    /** Whether the policy gives another verdict; false if that is UNKNOWN. */
    public boolean changes() {
      return answer != Answer.UNKNOWN && !answer.name().equals(recorded.name());
    }

    public JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("seq", seq)
          .put("request", request)
          .put("subject", subject)
          .put("effect", effect)
          .put("recorded", recorded.name())
          .putIfPresent("recorded_code", recordedCode, JsonValue::of)
          .put("under_policy", answer.name())
          .put("changes", JsonValue.of(changes()))
          .putIfPresent("check", check, JsonValue::of)
          .putIfPresent("code", code, JsonValue::of)
          .put("why", why)
          .putIfPresent("explained", explained, o -> o)
          .build();
    }
  }

  private final RecordedDecisions recording;
  private final Policy policy;
  private final SystemStates states;
  private final TreeSet<String> done = new TreeSet<>();
  private final List<Judged> judged = new ArrayList<>();

  private PolicyCounterfactual(RecordedDecisions recording, Policy policy) {
    this.recording = recording;
    this.policy = policy;
    this.states = new SystemStates(recording);
  }

  /** All decisions of a verified recording, in the order of the run. */
  public static List<Judged> judge(RecordedRun recording, Policy policy) {
    return judge(RecordedDecisions.of(recording), policy);
  }

  /** Decisions of one run or of several, in the order in which they are told. */
  public static List<Judged> judge(RecordedDecisions recording, Policy policy) {
    PolicyCounterfactual against = new PolicyCounterfactual(recording, policy);
    recording.events(event -> {
      if (event.runId().equals(SystemState.RUN)) {
        against.states.event(event);
      } else {
        against.event(event);
      }
    });
    return List.copyOf(against.judged);
  }

  private void event(Event event) {
    if (event.kind().equals(EventKind.DECISION_MADE)) {
      judged.add(decision(event));
    } else if (event.kind().equals(EventKind.RECEIPT_SIGNED)) {
      Receipt receipt = Receipt.read(document(event.body()).document());
      if (receipt.status() == Status.SUCCEEDED) {
        Request request = Request.read(document(receipt.request()).document());
        done.add(key(event.run(), receipt.tool().name(), request.effect().operation()));
      }
    }
  }

  private static String key(String run, String tool, String operation) {
    return run + "\u0000" + tool + "\u0000" + operation;
  }

  private Judged decision(Event event) {
    Decision decision = Decision.read(document(event.body()).document());
    Envelope envelope = document(decision.request());
    Effect effect = Request.read(envelope.document()).effect();
    JudgeInputs recorded = JudgeInputs.read(decision.inputs());
    Optional<Admitted> admitted = Optional.empty();
    WritException refused = null;
    for (SystemState state : states.at(event.at())) {
      try {
        admitted =
            Optional.of(
                Admission.readmit(
                    envelope, state.trust(), policy, recorded.receivedAt(), recorded.receivedAt()));
        break;
      } catch (WritException e) {
        refused = refused == null ? e : refused;
      }
    }
    if (admitted.isEmpty()) {
      return judged(
          event,
          decision,
          effect,
          Answer.NOT_ADMITTED,
          Optional.empty(),
          Optional.of(refused.code().code()),
          refused.code().meaning() + ": " + refused.found(),
          Optional.empty());
    }
    return judged(event, decision, effect, admitted.get(), recorded);
  }

  private Judged judged(
      Event event, Decision decision, Effect effect, Admitted admitted, JudgeInputs recorded) {
    Policy then = Policy.ofCanonical(document(decision.policy()).document());
    JudgeInputs inputs =
        WhatIf.inputs(
            admitted,
            then,
            policy,
            recorded,
            (tool, operation) -> done.contains(key(event.run(), tool, operation)));
    Optional<ToolManifest> manifest = manifest(effect, then, recorded);
    PolicyExplain explained =
        PolicyExplain.of(
            admitted,
            manifest.orElseGet(() -> ToolManifest.unregistered(effect.tool(), effect.version())),
            policy,
            inputs,
            decision.snapshot());
    CheckOutcome deciding = WhatIf.deciding(explained.decision());
    boolean noTool = manifest.isEmpty() && WhatIf.restsOnTheTool(explained.decision());
    Answer answer =
        noTool || WhatIf.isUnknown(explained.decision())
            ? Answer.UNKNOWN
            : Answer.valueOf(explained.decision().verdict().name());
    return judged(
        event,
        decision,
        effect,
        answer,
        Optional.of(deciding.check()),
        noTool ? Optional.empty() : explained.decision().code(),
        noTool ? "the tool's manifest is not in the bundle" : deciding.detail(),
        Optional.of(explained.toJson()));
  }

  /** The package that the policy approves, or else the one that was approved then. */
  private Optional<ToolManifest> manifest(Effect effect, Policy then, JudgeInputs recorded) {
    return policy
        .tool(effect.tool(), effect.version())
        .or(() -> then.tool(effect.tool(), effect.version()))
        .or(() ->
            recorded
                .governed()
                .map(governed -> ApprovedTool.of(effect.tool(), effect.version(), governed)))
        .flatMap(tool -> recording.tool(tool.ref()));
  }

  private static Judged judged(
      Event event,
      Decision decision,
      Effect effect,
      Answer answer,
      Optional<String> check,
      Optional<String> code,
      String why,
      Optional<JsonValue.Obj> explained) {
    return new Judged(
        event.seq(),
        decision.request(),
        decision.scope().subject(),
        effect.tool() + " " + effect.version() + " " + effect.operation(),
        decision.verdict(),
        decision.code(),
        answer,
        check,
        code,
        why,
        explained);
  }

  private Envelope document(Digest id) {
    return recording
        .document(id)
        .orElseThrow(() -> new WritException(BundleError.ENTRY_MISSING, "document " + id));
  }
}
