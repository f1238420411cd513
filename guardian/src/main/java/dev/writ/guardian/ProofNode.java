package dev.writ.guardian;

import java.util.List;
import java.util.Locale;

/**
 * A node of the proof requirement graph with what it saw.
 *
 * @param what the node as the policy writes it
 * @param truth whether it holds
 * @param saw what was found, for people
 */
public record ProofNode(String what, Truth truth, String saw, List<ProofNode> children) {

  /** Whether a node holds. */
  public enum Truth {
    HOLDS,
    FAILS,
    /** It would hold if approvals came that can still come. */
    AWAITS_APPROVAL,
    /** An expression failed; that is never a yes, not even below {@code none}. */
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
