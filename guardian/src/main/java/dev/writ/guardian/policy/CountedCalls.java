package dev.writ.guardian.policy;

import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.rule.Match;
import java.util.BitSet;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Everything that a principal may use, now or once governance adds it, must be counted by a budget
 * of calls, and must have a price if a budget of costs counts it. Who wrote a policy may be
 * hostile: each budget is looked at once for a principal, not once for each of its tools, and those
 * are counted by sets.
 */
final class CountedCalls {
  /** More of them help nobody, and a hostile policy has one for each principal and tool. */
  private static final int FAULTS_MAX = 50;

  private final RoleTools tools;
  private final List<Counting> budgets;
  private final BitSet priced;
  private final Consumer<String> unwritten;
  private int faults;

  private CountedCalls(PolicyParts parts, Consumer<String> unwritten) {
    this.tools = new RoleTools(parts.roles().values());
    this.budgets =
        parts.budgets().values().stream()
            .map(b ->
                new Counting(
                    b.name(), b.unit(), b.match(), b.match().tool().map(tools::number).orElse(-1)))
            .toList();
    this.priced = tools.named(parts.prices().keySet());
    this.unwritten = unwritten;
  }

  /**
   * @param unwritten is told what lacks a limit or price, 50 times at most; it may end the check by
   *     throwing
   */
  static void check(PolicyParts parts, Consumer<String> unwritten) {
    CountedCalls check = new CountedCalls(parts, unwritten);
    for (Principal principal : parts.principals().values()) {
      check.check(principal);
      if (check.faults >= FAULTS_MAX) {
        return;
      }
    }
  }

  private void check(Principal principal) {
    Set<String> roles = new LinkedHashSet<>(principal.roles());
    BitSet usable = tools.of(roles);
    BitSet uncounted = (BitSet) usable.clone();
    uncounted.andNot(counted(Budget.Unit.CALLS, principal, roles));
    BitSet unpriced = counted(Budget.Unit.COST, principal, roles);
    unpriced.and(usable);
    unpriced.andNot(priced);

    BitSet faulty = (BitSet) uncounted.clone();
    faulty.or(unpriced);
    for (int i = faulty.nextSetBit(0);
        i >= 0 && faults < FAULTS_MAX;
        i = faulty.nextSetBit(i + 1)) {
      String tool = tools.name(i);
      if (unpriced.get(i)) {
        told(
            "budget \""
                + costs(tool, principal, roles)
                + "\" counts the cost of \""
                + tool
                + "\", which has none in prices");
      }
      if (uncounted.get(i)) {
        told(
            "no budget in calls covers \""
                + tool
                + "\" for "
                + principal.tenant()
                + "/"
                + principal.subject());
      }
    }
  }

  private void told(String found) {
    faults++;
    unwritten.accept(found);
  }

  /** The tools whose calls by a principal a budget of that unit counts. */
  private BitSet counted(Budget.Unit unit, Principal principal, Set<String> roles) {
    BitSet counted = new BitSet();
    for (Counting budget : budgets) {
      if (budget.unit() == unit && counts(budget.match(), principal, roles)) {
        if (budget.match().tool().isEmpty()) {
          return tools.all();
        }
        if (budget.tool() >= 0) {
          counted.set(budget.tool());
        }
      }
    }
    return counted;
  }

  /** The budget that counts what a tool costs: the first of that tool alone, else of any. */
  private String costs(String tool, Principal principal, Set<String> roles) {
    return budgets.stream()
        .filter(budget -> budget.unit() == Budget.Unit.COST)
        .filter(budget -> budget.match().tool().filter(one -> !one.equals(tool)).isEmpty())
        .filter(budget -> counts(budget.match(), principal, roles))
        .min(Comparator.comparing(budget -> budget.match().tool().isEmpty()))
        .map(Counting::name)
        .orElseThrow();
  }

  /** Whether it counts calls of a principal, with whatever tool. */
  private static boolean counts(Match match, Principal principal, Set<String> roles) {
    return match.tenant().filter(tenant -> !tenant.equals(principal.tenant())).isEmpty()
        && match.subject().filter(subject -> !subject.equals(principal.subject())).isEmpty()
        && match.role().filter(role -> !roles.contains(role)).isEmpty();
  }

  /**
   * A budget.
   *
   * @param tool the number of the only tool that it counts; -1 where it counts any, or one that no
   *     role has
   */
  private record Counting(String name, Budget.Unit unit, Match match, int tool) {}
}
