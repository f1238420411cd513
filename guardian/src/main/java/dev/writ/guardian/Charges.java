package dev.writ.guardian;

import dev.writ.canonicalize.Comparing;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.mandate.SeenMandate;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.limit.Rate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What an effect would be charged and would count in. Computed once for a judgement, before the
 * accounts are locked.
 *
 * @param dues the amounts, for each account in the order of budget name and key
 * @param counted the accounts of rate limits, in the order of their names and keys
 */
record Charges(List<Due> dues, List<Counted> counted) {
  Charges {
    dues = List.copyOf(dues);
    counted = List.copyOf(counted);
  }

  /** One account and the amount. */
  record Due(Budget budget, String key, Optional<Long> amount) {}

  /** One account of a rate limit. */
  record Counted(Rate rate, String key) {}

  static Charges of(
      Policy policy, Request request, List<String> subjects, List<SeenMandate> mandates) {
    String tenant = request.scope().tenant();
    return new Charges(
        dues(policy, request, subjects, mandates),
        counted(policy, tenant, subjects, request.effect().tool()));
  }

  private static List<Counted> counted(
      Policy policy, String tenant, List<String> subjects, String tool) {
    List<Counted> counted = new ArrayList<>();
    for (Rate rate : policy.rates().values()) {
      for (String key : policy.accountsOf(rate, tenant, subjects, tool)) {
        counted.add(new Counted(rate, key));
      }
    }
    return counted;
  }

  static List<Due> dues(
      Policy policy, Request request, List<String> subjects, List<SeenMandate> mandates) {
    String tenant = request.scope().tenant();
    Effect effect = request.effect();
    List<Due> dues = new ArrayList<>();
    for (Budget budget : policy.budgets().values()) {
      for (String key : policy.accountsOf(budget, tenant, subjects, effect.tool())) {
        dues.add(new Due(budget, key, amount(policy, budget, effect)));
      }
    }
    MandateUse.of(policy, request, mandates).map(MandateUse::dues).orElse(List.of()).stream()
        .map(due -> new Due(due.budget(), due.key(), Optional.of(due.amount())))
        .forEach(dues::add);
    dues.sort(Comparing.by(due -> due.budget().name())); // keys are in order
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
