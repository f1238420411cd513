package dev.writ.cli.command.policy;

import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.guardian.policy.Approver;
import dev.writ.guardian.policy.Policy;
import java.time.Instant;
import java.util.List;

/**
 * Warnings on approvers of whom no key is enrolled: policy counts them, and no word of theirs ever
 * comes.
 */
final class UnknownApprovers {
  private UnknownApprovers() {}

  /**
   * @param trust the keys of the data directory
   */
  static List<String> of(Policy policy, Trust trust, Instant now) {
    return policy.approvers().stream()
        .filter(approver -> !hasKey(approver, trust, now))
        .map(approver ->
            "approvers ("
                + approver.tenant()
                + "/"
                + approver.subject()
                + "): no key of theirs is enrolled and in force, so no approval of theirs counts"
                + " (writ key new, writ key enrol)")
        .toList();
  }

  /** Whether approvals of theirs count. */
  static boolean hasKey(Approver approver, Trust trust, Instant now) {
    return trust.keys().values().stream()
        .filter(key -> key.role() == KeyRole.APPROVER)
        .filter(key -> key.subject().equals(approver.subject()))
        .filter(key -> key.tenant().filter(approver.tenant()::equals).isPresent())
        .anyMatch(key -> key.revokedAt().isEmpty() && key.isValidAt(now));
  }
}
