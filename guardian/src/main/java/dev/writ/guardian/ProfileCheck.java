package dev.writ.guardian;

import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.CheckOutcome;
import dev.writ.guardian.document.CheckOutcome.Outcome;
import dev.writ.guardian.policy.rule.Requirement;
import dev.writ.guardian.profile.Finding;
import dev.writ.guardian.profile.ProfileError;
import dev.writ.guardian.profile.Profiles;
import java.util.Optional;

/**
 * Runs before the four checks if the vouching surface has a profile: the profile's finding on the
 * raw request must not be a refusal (protocol rule 34). Without a finding it refuses.
 */
final class ProfileCheck {
  static final String NAME = "profile";

  private ProfileCheck() {}

  /** Empty if there is no vouching surface or it has no profile. */
  static Optional<CheckOutcome> run(Matter matter) {
    return Profiles.of(matter.request()).map(profile -> run(matter, profile));
  }

  private static CheckOutcome run(Matter matter, String profile) {
    Optional<Finding> brought =
        matter.inputs().profile().filter(finding -> finding.profile().equals(profile));
    if (brought.isEmpty()) {
      return new CheckOutcome(
          NAME,
          Outcome.REFUSE,
          Optional.of(ProfileError.BODY_MISSING.code()),
          ProfileError.BODY_MISSING.meaning() + ": surface " + profile);
    }
    Finding finding = brought.get();
    if (finding.refusal().isEmpty()) {
      return Outcomes.pass(NAME, profile + ": accepted");
    }
    if (finding.approvals().isEmpty()) {
      return refuse(finding.refusal().get());
    }
    if (matter.inputs().approvals().stream()
        .anyMatch(seen -> seen.verdict() == Approval.Verdict.REJECT)) {
      return refuse(finding.refusal().get()); // for good: an approver said no
    }
    Requirement.Approvals needed = finding.approvals().get();
    ProofNode approvals = new Proofs(matter).evaluate(needed);
    if (approvals.truth() == ProofNode.Truth.HOLDS) {
      return finding
          .beyond()
          .map(ProfileCheck::refuse)
          .orElseGet(() -> Outcomes.pass(NAME, profile + ": " + approvals.saw()));
    }
    return finding.beyond().isPresent()
        ? refuse(finding.refusal().get())
        : new CheckOutcome(
            NAME,
            Outcome.ESCALATE,
            Optional.of(finding.refusal().get().code()),
            finding.refusal().get().reason() + ": " + approvals.saw());
  }

  private static CheckOutcome refuse(Finding.Refusal refusal) {
    return new CheckOutcome(
        NAME, Outcome.REFUSE, Optional.of(refusal.code()), Outcomes.cut(refusal.reason()));
  }
}
