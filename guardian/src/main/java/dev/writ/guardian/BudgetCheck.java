package dev.writ.guardian;

import dev.writ.guardian.document.CheckOutcome;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.mandate.MandateAccounts;
import java.util.List;
import java.util.Optional;

/** Check 2, budget: the declared ceiling fits into every account that it is charged to. */
final class BudgetCheck {
  static final String NAME = "budget";

  private BudgetCheck() {}

  static CheckOutcome run(Matter matter) {
    List<Charges.Due> dues = matter.charges().dues();
    if (!countsCalls(dues)) {
      return Outcomes.refuse(
          NAME,
          GuardianError.BUDGET_NONE,
          matter.scope().tenant()
              + "/"
              + matter.scope().subject()
              + " with "
              + matter.effect().tool());
    }
    for (Charges.Due due : dues) {
      Optional<CheckOutcome> refusal = refusal(due, matter.inputs());
      if (refusal.isPresent()) {
        return refusal.get();
      }
    }
    return Outcomes.pass(NAME, dues.size() + " accounts have room");
  }

  private static boolean countsCalls(List<Charges.Due> dues) {
    for (Charges.Due due : dues) {
      if (due.budget().unit() == Budget.Unit.CALLS && !MandateAccounts.isOne(due.budget().name())) {
        return true;
      }
    }
    return false;
  }

  private static Optional<CheckOutcome> refusal(Charges.Due due, JudgeInputs inputs) {
    String account = due.budget().name() + " " + due.key();
    if (due.amount().isEmpty()) {
      return Optional.of(Outcomes.refuse(NAME, GuardianError.BUDGET_NO_PRICE, account));
    }
    Optional<JudgeInputs.Balance> balance =
        inputs.balance(due.budget().name(), due.key(), due.budget().windowStart(inputs.time()));
    if (balance.isEmpty()) {
      return Optional.of(Outcomes.refuse(NAME, GuardianError.BUDGET_UNKNOWN, account));
    }
    if (due.budget().limit().isEmpty()) {
      return Optional.empty();
    }
    long limit = due.budget().limit().get();
    long taken = balance.get().used() + balance.get().reserved();
    // Each is below 2^53, so the sum cannot overflow.
    return taken + due.amount().get() <= limit
        ? Optional.empty()
        : Optional.of(
            Outcomes.refuse(
                NAME,
                MandateAccounts.isOne(due.budget().name())
                    ? GuardianError.MANDATE_SPENT
                    : GuardianError.BUDGET_EXHAUSTED,
                account
                    + ": "
                    + due.amount().get()
                    + " "
                    + due.budget().unit().text()
                    + " asked, "
                    + taken
                    + " of "
                    + limit
                    + " taken"));
  }
}
