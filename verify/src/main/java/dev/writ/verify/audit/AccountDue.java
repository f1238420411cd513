package dev.writ.verify.audit;

import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.MandateUse;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.limit.Budget;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * What an effect is charged in one account: of a budget, or of the mandate that it is done under.
 */
record AccountDue(Budget budget, String key, long amount) {

  /** In the order of the accounts' names and keys. */
  static List<AccountDue> of(Policy policy, Request request, JudgeInputs inputs) {
    List<AccountDue> dues = new ArrayList<>();
    for (Budget budget : policy.budgets().values()) {
      for (String key :
          policy.accountsOf(
              budget, request.scope().tenant(), inputs.charged(), request.effect().tool())) {
        dues.add(new AccountDue(budget, key, amount(policy, budget, request.effect())));
      }
    }
    MandateUse.of(policy, request, inputs.mandates())
        .map(MandateUse::dues)
        .orElse(List.of())
        .stream()
        .map(due -> new AccountDue(due.budget(), due.key(), due.amount()))
        .forEach(dues::add);
    dues.sort(Comparator.comparing(due -> due.budget().name()));
    return dues;
  }

  private static long amount(Policy policy, Budget budget, Effect effect) {
    return switch (budget.unit()) {
      case CALLS -> 1;
      case CPU_MS -> effect.resources().cpuMs();
      case COST -> policy.price(effect.tool(), effect.operation()).orElse(0L);
    };
  }
}
