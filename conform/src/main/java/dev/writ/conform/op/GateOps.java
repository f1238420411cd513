package dev.writ.conform.op;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.conform.adapter.Operation;
import dev.writ.executor.journal.PendingWrites;
import dev.writ.executor.journal.Runs;
import dev.writ.executor.stage.Gate;
import dev.writ.executor.stage.IntentSubmission;
import dev.writ.executor.stage.Preflight;
import dev.writ.guardian.document.Audience;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.Optional;
import java.util.SortedMap;

/** Stages 0 and 1 of the executor: refusals that need no ledger. */
final class GateOps {
  private GateOps() {}

  static void addTo(SortedMap<String, Operation> operations) {
    operations.put("executor.gate", GateOps::gate);
  }

  private static JsonValue.Obj gate(Fields input) {
    Trust trust = BasicOps.trust(input);
    Policy policy = GuardianOps.policyOf(input);
    Instant now = input.time("now");
    Gate gate = new Gate(Audience.read(input.fields("audience")));
    RunId run = new RunId(input.name("tenant"), input.name("run"));
    String kid = input.name("submitter");
    TrustedKey submitter =
        trust
            .key(kid)
            .orElseThrow(() -> new WritException(CanonicalizeError.KEY_UNKNOWN, "key " + kid));
    Optional<Envelope> decision = envelope(input, "decision");
    Optional<Envelope> intent = envelope(input, "intent");
    Optional<Request> request = input.optional("request", key -> Request.read(input.value(key)));
    // The Gate uses only the run's name, so this run needs no ledger.
    try (Runs.Borrowed borrowed = new Runs(null, null).borrow(run)) {
      IntentSubmission submission =
          new IntentSubmission(
              decision, intent, request, submitter, PendingWrites.nothing(), borrowed, false);
      Preflight.Order order = new Preflight().check(submission);
      gate.pass(order, trust, policy, now);
      gate.requireUnexpired(order.intent(), now);
      return JsonValue.object()
          .put("effect", order.effectDigest())
          .put("intent", order.intentEnvelope().id())
          .build();
    }
  }

  private static Optional<Envelope> envelope(Fields input, String key) {
    return input.optional(key, k -> GuardianOps.envelope(input.value(k)));
  }
}
