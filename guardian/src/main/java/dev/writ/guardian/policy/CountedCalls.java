package dev.writ.guardian.policy;

import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.rule.Match;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
  private final List<Budget> budgets;
  private final BitSet priced;
  private final Consumer<String> unwritten;
  private int faults;

  private CountedCalls(PolicyParts parts, Consumer<String> unwritten) {
    this.tools = new RoleTools(parts.roles().values());
    this.budgets = List.copyOf(parts.budgets().values());
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
    Counting calls = counting(principal, roles, Budget.Unit.CALLS);
    Counting cost = counting(principal, roles, Budget.Unit.COST);
    BitSet uncounted = calls.ofAll().isPresent() ? new BitSet() : (BitSet) usable.clone();
    uncounted.andNot(tools.named(calls.ofOne().keySet()));
    BitSet unpriced = cost.ofAll().isPresent() ? usable : tools.named(cost.ofOne().keySet());
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
                + cost.of(tool)
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

  private Counting counting(Principal principal, Set<String> roles, Budget.Unit unit) {
    Optional<String> ofAll = Optional.empty();
    Map<String, String> ofOne = new LinkedHashMap<>();
    for (Budget budget : budgets) {
      Match match = budget.match();
      if (budget.unit() != unit || !counts(match, principal, roles)) {
        continue;
      }
      if (match.tool().isPresent()) {
        ofOne.putIfAbsent(match.tool().get(), budget.name());
      } else if (ofAll.isEmpty()) {
        ofAll = Optional.of(budget.name());
      }
    }
    return new Counting(ofAll, ofOne);
  }

  /** Whether it counts calls of a principal, with whatever tool. */
  private static boolean counts(Match match, Principal principal, Set<String> roles) {
    return match.tenant().filter(tenant -> !tenant.equals(principal.tenant())).isEmpty()
        && match.subject().filter(subject -> !subject.equals(principal.subject())).isEmpty()
        && match.role().filter(role -> !roles.contains(role)).isEmpty();
  }

  /**
   * The budgets in one unit that count a principal's calls.
   *
   * @param ofAll the first that counts any tool
   * @param ofOne the first of each tool that counts that tool alone
   */
  private record Counting(Optional<String> ofAll, Map<String, String> ofOne) {
    /** The name of one that counts calls of a tool, where any does. */
    String of(String tool) {
      return Optional.ofNullable(ofOne.get(tool)).or(() -> ofAll).orElse("");
    }
  }
}
