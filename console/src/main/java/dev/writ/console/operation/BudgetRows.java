package dev.writ.console.operation;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Kernel;
import dev.writ.guardian.JudgeInputs.Balance;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.limit.Budget;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** The accounts of a tenant's budgets, the fullest first. */
final class BudgetRows {
  private static final int ROWS_MAX = 1_000;

  private BudgetRows() {}

  static JsonValue.Obj of(Kernel kernel, String tenant) {
    Policy policy = kernel.system().policyInForce();
    List<Balance> all = kernel.balances(tenant);
    List<Balance> rows =
        all.stream()
            .filter(balance -> policy.budgets().containsKey(balance.budget()))
            .sorted(
                Comparator.comparingDouble((Balance balance) -> -fullness(balance))
                    .thenComparing(Balance::budget)
                    .thenComparing(Balance::key))
            .limit(ROWS_MAX)
            .toList();
    return JsonValue.object()
        .putList("budgets", rows, row -> row(policy.budgets().get(row.budget()), row))
        .put("complete", all.size() <= ROWS_MAX)
        .build();
  }

  /** From 0 to 1, or more where a limit was lowered; what is unlimited is never full. */
  private static double fullness(Balance balance) {
    double taken = (double) balance.used() + balance.reserved();
    return balance.limit().map(limit -> limit == 0 ? 1 : taken / limit).orElse(-1.0);
  }

  private static JsonValue.Obj row(Budget budget, Balance balance) {
    return JsonValue.object()
        .put("budget", budget.name())
        .put("scope", budget.scope().name().toLowerCase(Locale.ROOT))
        .put("holder", holder(balance.key()))
        .put("unit", budget.unit().text())
        .putIfPresent("limit", balance.limit(), JsonValue::of)
        .put("used", balance.used())
        .put("reserved", balance.reserved())
        .put("window_s", budget.windowS())
        .put("resets_at", balance.windowStart().plusSeconds(budget.windowS()))
        .build();
  }

  /** The tenant, or what of it: the last name in an account's key. */
  private static JsonValue holder(String key) {
    return ((JsonValue.Arr) Jcs.parse(key.getBytes(StandardCharsets.UTF_8))).items().getLast();
  }
}
