package dev.writ.guardian;

import dev.writ.guardian.document.Effect;
import dev.writ.guardian.policy.Budget;
import dev.writ.guardian.policy.Policy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The amounts that an effect would be charged, for each account in the order of budget name and
 * key.
 */
final class Charges {
  private Charges() {}

  /** One account and the amount. */
  record Due(Budget budget, String key, Optional<Long> amount) {}

  static List<Due> of(Policy policy, String tenant, List<String> subjects, Effect effect) {
    List<Due> dues = new ArrayList<>();
    for (Budget budget : policy.budgets().values()) {
      for (String key : policy.accountsOf(budget, tenant, subjects, effect.tool())) {
        dues.add(new Due(budget, key, amount(policy, budget, effect)));
      }
    }
    return dues;
  }

  /** The declared ceiling in the budget's unit; empty if the tool has no price. */
  private static Optional<Long> amount(Policy policy, Budget budget, Effect effect) {
    return switch (budget.unit()) {
      case CALLS -> Optional.of(1L);
      case CPU_MS -> Optional.of(effect.resources().cpuMs());
      case COST -> policy.price(effect.tool(), effect.operation());
    };
  }
}
