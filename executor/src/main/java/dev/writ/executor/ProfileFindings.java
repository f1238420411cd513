package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.journal.RequestRow;
import dev.writ.guardian.Admitted;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.profile.Finding;
import dev.writ.guardian.profile.ProfileError;
import dev.writ.guardian.profile.Profiles;
import dev.writ.ledger.LedgerState;
import java.util.List;
import java.util.Optional;

/**
 * What surfaces' profiles find in the raw requests behind vouched ones, when they are asked and
 * when they are judged again.
 */
final class ProfileFindings {
  private final LedgerState ledger;

  ProfileFindings(LedgerState ledger) {
    this.ledger = ledger;
  }

  /**
   * The finding of the vouching surface's profile. Without the raw request the earlier finding is
   * used, but only where policy still says the same of all that the profile reads, or where an
   * approver rejects it, which needs no policy.
   */
  Optional<Finding> find(
      Admitted admitted,
      Optional<RequestRow> before,
      List<Envelope> approvals,
      Optional<byte[]> raw,
      Policy policy) {
    if (Profiles.of(admitted.request()).isEmpty()) {
      return Optional.empty();
    }
    if (raw.isPresent()) {
      return Optional.of(
          Profiles.find(
              admitted.request(),
              raw.get(),
              policy,
              new PastExecutions(ledger, admitted.request().scope(), Digest.sha256(raw.get())),
              admitted.receivedAt()));
    }
    return approvals.stream().anyMatch(ProfileFindings::isRejection)
        ? found(before)
        : finding(admitted.request(), before, policy);
  }

  private static boolean isRejection(Envelope approval) {
    return Approval.read(approval.document()).verdict() == Approval.Verdict.REJECT;
  }

  /** That of its latest decision, where policy still says the same of what the profile reads. */
  private Optional<Finding> finding(Request request, Optional<RequestRow> before, Policy policy) {
    return before
        .map(this::decision)
        .filter(decision -> Profiles.readTheSame(request, policyOf(decision, policy), policy))
        .flatMap(decision -> JudgeInputs.read(decision.inputs()).profile());
  }

  /** That of its latest decision, whatever policy says now. */
  private Optional<Finding> found(Optional<RequestRow> before) {
    return before.flatMap(row -> JudgeInputs.read(decision(row).inputs()).profile());
  }

  private Decision decision(RequestRow row) {
    return Decision.read(ledger.document(row.decision()).orElseThrow().document());
  }

  private Policy policyOf(Decision decision, Policy inForce) {
    return decision.policy().equals(inForce.digest())
        ? inForce
        : Policy.ofCanonical(ledger.document(decision.policy()).orElseThrow().document());
  }

  /**
   * Refuses an approval of what nobody can judge now without the surface's raw request: it would
   * become a denial for good.
   *
   * @throws WritException {@code GRD-701}
   */
  void requireFinding(Approval approval, Request request, RequestRow row, Policy policy) {
    if (approval.verdict() == Approval.Verdict.APPROVE
        && Profiles.of(request).isPresent()
        && finding(request, Optional.of(row), policy).isEmpty()) {
      throw new WritException(
          ProfileError.BODY_MISSING,
          "policy says something else of surface "
              + Profiles.of(request).get()
              + " than when it was asked: reject it, and have it asked again");
    }
  }
}
