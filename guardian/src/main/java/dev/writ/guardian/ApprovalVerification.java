package dev.writ.guardian;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Delegation;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.Policy;
import java.time.Instant;
import java.util.List;

/** Verifies approvals (protocol rule 8). */
public final class ApprovalVerification {
  private ApprovalVerification() {}

  /**
   * Returns the approval if it is valid for that request, now, under that policy. A rejection is
   * final: it stays valid after its expiry and under a later policy.
   *
   * @throws WritException {@code GRD-607}, {@code GRD-61x}, {@code CAN-0xx}
   */
  public static Approval verify(
      Envelope envelope, Admitted admitted, Policy policy, Trust trust, Instant now) {
    return verified(envelope, admitted, policy, trust, now).approval();
  }

  /** A valid approval, and the key that names its approver. */
  public record Verified(Approval approval, TrustedKey signer) {}

  /** As {@link #verify}. */
  public static Verified verified(
      Envelope envelope, Admitted admitted, Policy policy, Trust trust, Instant now) {
    List<TrustedKey> signers = trust.verify(envelope, Approval.TYPE, now);
    Approval approval = Approval.read(envelope.document());
    for (TrustedKey signer : signers) {
      requireSigner(signer, approval);
    }
    if (policy.revokes(envelope.id())) {
      throw new WritException(GuardianError.DOCUMENT_REVOKED, envelope.id().toString());
    }
    requireSame("tenant", approval.tenant(), admitted.request().scope().tenant());
    requireSame("request", approval.request(), admitted.id());
    requireSame("effect", approval.effect(), admitted.request().effect().digest());
    requireOther(approval, signers, admitted);
    if (!policy.approverRoles(approval.tenant(), approval.approver()).contains(approval.role())) {
      throw new WritException(
          GuardianError.APPROVAL_ROLE, approval.approver() + " as " + approval.role());
    }
    if (approval.verdict() == Approval.Verdict.APPROVE) {
      requireSame("policy", approval.policy(), policy.digest());
      if (approval.approvedAt().minus(Admission.SKEW).isAfter(now)
          || !now.isBefore(approval.expiresAt())) {
        throw new WritException(
            GuardianError.APPROVAL_TIME,
            "approved at "
                + Timestamps.format(approval.approvedAt())
                + " until "
                + Timestamps.format(approval.expiresAt())
                + ", now is "
                + Timestamps.format(now));
      }
    }
    return new Verified(approval, signers.getFirst());
  }

  private static void requireSigner(TrustedKey signer, Approval approval) {
    if (!signer.subject().equals(approval.approver())
        || signer.tenant().filter(approval.tenant()::equals).isEmpty()) {
      throw new WritException(
          GuardianError.APPROVAL_SIGNER,
          "it is by "
              + approval.tenant()
              + "/"
              + approval.approver()
              + ", its key of "
              + signer.tenant().orElse("no tenant")
              + "/"
              + signer.subject());
    }
  }

  private static void requireSame(String field, Object found, Object wanted) {
    if (!found.equals(wanted)) {
      throw new WritException(
          GuardianError.APPROVAL_OTHER, field + " " + found + " instead of " + wanted);
    }
  }

  /**
   * Requires that the approver is neither the subject, nor the agent, nor a delegator, by name and
   * by key.
   */
  private static void requireOther(Approval approval, List<TrustedKey> signers, Admitted admitted) {
    boolean byName =
        admitted.charged().contains(approval.approver())
            || admitted.holder().subject().equals(approval.approver())
            || admitted
                .request()
                .origin()
                .filter(o -> o.principal().equals(approval.approver()))
                .isPresent();
    List<Delegation> links = DelegationChain.read(admitted.request().delegations());
    boolean byKey =
        signers.stream()
            .anyMatch(s ->
                s.kid().equals(admitted.holder().kid())
                    || links.stream()
                        .anyMatch(l -> l.from().equals(s.kid()) || l.to().equals(s.kid())));
    if (byName || byKey) {
      throw new WritException(GuardianError.APPROVAL_SELF, approval.approver());
    }
  }
}
