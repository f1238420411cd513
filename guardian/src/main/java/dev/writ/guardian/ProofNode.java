package dev.writ.guardian;

import dev.writ.guardian.error.GuardianError;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A node of the proof requirement graph with its findings.
 *
 * @param what the node as the policy writes it
 * @param truth its truth value
 * @param saw what was found, for people
 * @param code of a node that fails with a code of its own
 */
public record ProofNode(
    String what, Truth truth, String saw, List<ProofNode> children, Optional<GuardianError> code) {

  ProofNode(String what, Truth truth, String saw, List<ProofNode> children) {
    this(what, truth, saw, children, Optional.empty());
  }

  /** Whether a node holds. */
  public enum Truth {
    HOLDS,
    FAILS,
    /** It would be true with approvals that can still come. */
    AWAITS_APPROVAL,
    /** An expression failed; this never counts as true, not even below {@code none}. */
    ERROR;

    public String text() {
      return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
  }

  public ProofNode {
    children = List.copyOf(children);
  }

  static ProofNode leaf(String what, Truth truth, String saw) {
    return new ProofNode(what, truth, saw, List.of());
  }
}
