package dev.writ.verify.audit;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.limit.Rate;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A decision that took a step of the accounts.
 *
 * @param place where it lies, for findings
 * @param issuedAt when its intent was issued, if it has one
 */
record JudgedStep(
    String place,
    RunId run,
    Digest id,
    Decision decision,
    Request request,
    JudgeInputs inputs,
    Policy policy,
    Optional<Instant> issuedAt) {
  JudgedStep issuedAt(Instant at) {
    return new JudgedStep(place, run, id, decision, request, inputs, policy, Optional.of(at));
  }

  /** The accounts of a rate in which it counts. */
  List<String> keys(Rate rate) {
    return policy.accountsOf(
        rate, request.scope().tenant(), inputs.charged(), request.effect().tool());
  }

  /** Its nonce, by which the accounts know it. */
  String nonce() {
    return Tables.key(request.scope().tenant(), request.scope().subject(), request.nonce());
  }
}
