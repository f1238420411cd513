package dev.writ.guardian.policy.mandate;

import dev.writ.guardian.policy.limit.AccountScope;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.rule.Match;
import java.util.List;
import java.util.Optional;

/**
 * The two accounts of each mandate: what all its uses come to, and how many there were. Every
 * policy has them, so that none that comes between can let a mandate begin anew. Their one window
 * holds the present and never ends while a mandate of today is used.
 */
public final class MandateAccounts {
  private static final long WINDOW_S = 6_311_433_600L; // from 1970 on, two hundred years
  private static final String AMOUNT = "mandate/amount";
  private static final String USES = "mandate/uses";

  /** The two, without a mandate's limits. */
  public static final List<Budget> ALL = List.of(amount(Optional.empty()), uses(Optional.empty()));

  private MandateAccounts() {}

  /** Whether an account of that name is a mandate's. */
  public static boolean isOne(String budget) {
    return budget.equals(AMOUNT) || budget.equals(USES);
  }

  public static Budget amount(Optional<Long> limit) {
    return account(AMOUNT, Budget.Unit.COST, limit);
  }

  public static Budget uses(Optional<Long> limit) {
    return account(USES, Budget.Unit.CALLS, limit);
  }

  private static Budget account(String name, Budget.Unit unit, Optional<Long> limit) {
    return new Budget(name, AccountScope.TENANT, unit, limit, WINDOW_S, Match.everything());
  }
}
