package dev.writ.guardian;

import dev.writ.guardian.document.CheckOutcome;
import dev.writ.guardian.document.CheckOutcome.Outcome;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.Policy;
import java.util.Optional;

/** Makes the outcomes of checks. */
final class Outcomes {
  private static final int SHOWN_MAX = 200;

  private Outcomes() {}

  static CheckOutcome pass(String check, String detail) {
    return new CheckOutcome(check, Outcome.PASS, Optional.empty(), detail);
  }

  static CheckOutcome refuse(String check, GuardianError code, String detail) {
    return new CheckOutcome(
        check, Outcome.REFUSE, Optional.of(code.code()), code.meaning() + ": " + detail);
  }

  static CheckOutcome escalate(String check, GuardianError code, String detail) {
    return new CheckOutcome(
        check, Outcome.ESCALATE, Optional.of(code.code()), code.meaning() + ": " + detail);
  }

  /** The outcome of a rule or a role, which a policy that only observes lets pass. */
  static CheckOutcome enforced(CheckOutcome outcome, Policy policy) {
    return policy.observes()
        ? new CheckOutcome(
            outcome.check(), outcome.outcome().observed(), outcome.code(), outcome.detail())
        : outcome;
  }

  static CheckOutcome notReached(String check) {
    return new CheckOutcome(check, Outcome.NOT_REACHED, Optional.empty(), "");
  }

  /** Bounds what a message shows, between characters. */
  static String cut(String text) {
    if (text.length() <= SHOWN_MAX) {
      return text;
    }
    int end = Character.isHighSurrogate(text.charAt(SHOWN_MAX - 1)) ? SHOWN_MAX - 1 : SHOWN_MAX;
    return text.substring(0, end) + "…";
  }
}
