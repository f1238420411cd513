package dev.writ.guardian;

import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.Principal;
import dev.writ.guardian.policy.limit.AccountScope;
import dev.writ.guardian.policy.limit.Budget;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** The accounts of budgets that a tenant's principals are charged to, whatever tool they use. */
final class TenantAccounts {
  /** Any tool, for budgets that do not ask for it. */
  private static final List<String> ANY = List.of("");

  private TenantAccounts() {}

  /** One account. */
  record Account(Budget budget, String key) {}

  /** In the order of budget name and key. */
  static List<Account> of(Policy policy, String tenant) {
    List<Account> accounts = new ArrayList<>();
    for (Budget budget : policy.budgets().values()) {
      TreeSet<String> keys = new TreeSet<>();
      for (Principal principal : policy.principals()) {
        if (principal.tenant().equals(tenant)) {
          for (String tool : tools(policy, budget)) {
            keys.addAll(policy.accountsOf(budget, tenant, List.of(principal.subject()), tool));
          }
        }
      }
      keys.forEach(key -> accounts.add(new Account(budget, key)));
    }
    return accounts;
  }

  private static List<String> tools(Policy policy, Budget budget) {
    List<String> all =
        budget.scope() == AccountScope.TOOL
            ? policy.tools().stream().map(tool -> tool.ref().name()).distinct().toList()
            : ANY;
    return budget.match().tool().map(List::of).orElse(all);
  }
}
