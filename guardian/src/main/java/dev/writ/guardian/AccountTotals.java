package dev.writ.guardian;

import dev.writ.guardian.policy.Budget;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.Rate;
import java.time.Instant;
import java.util.Comparator;
import java.util.TreeMap;

/**
 * The sums over all entries, under one policy: what each account of a budget holds in each window,
 * and when each account of a rate limit was used. Not thread safe.
 */
final class AccountTotals {
  /** How far back behind the newest time a clock reading may still be judged exactly. */
  private static final long LATE_S = 60;

  private record Account(String budget, String key, Instant windowStart)
      implements Comparable<Account> {
    private static final Comparator<Account> ORDER =
        Comparator.comparing(Account::budget)
            .thenComparing(Account::key)
            .thenComparing(Account::windowStart);

    @Override
    public int compareTo(Account other) {
      return ORDER.compare(this, other);
    }
  }

  private record Counter(String rate, String key) implements Comparable<Counter> {
    private static final Comparator<Counter> ORDER =
        Comparator.comparing(Counter::rate).thenComparing(Counter::key);

    @Override
    public int compareTo(Counter other) {
      return ORDER.compare(this, other);
    }
  }

  /** The times of one counter; {@code total} is the sum of {@code at}'s values. */
  private static final class Times {
    private final TreeMap<Instant, Long> at = new TreeMap<>();
    private long total;

    void add(Instant time, long sign) {
      total += sign;
      at.merge(time, sign, (a, b) -> a + b == 0 ? null : a + b);
    }
  }

  private final Policy policy;
  private final TreeMap<Account, Long> used = new TreeMap<>();
  private final TreeMap<Account, Long> reserved = new TreeMap<>();
  private final TreeMap<Counter, Times> times = new TreeMap<>();

  AccountTotals(Policy policy) {
    this.policy = policy;
  }

  Policy policy() {
    return policy;
  }

  void add(AccountEntry entry) {
    apply(entry, 1);
  }

  void remove(AccountEntry entry) {
    apply(entry, -1);
  }

  private void apply(AccountEntry entry, long sign) {
    TreeMap<Account, Long> sums = entry.state() == AccountEntry.State.SETTLED ? used : reserved;
    for (AccountEntry.Charge charge : entry.charges()) {
      Budget budget = policy.budgets().get(charge.budget());
      if (budget != null) {
        sums.merge(
            new Account(charge.budget(), charge.key(), budget.windowStart(entry.at())),
            sign * charge.amount(),
            (a, b) -> a + b == 0 ? null : a + b);
      }
    }
    for (AccountEntry.Mark mark : entry.marks()) {
      Counter counter = new Counter(mark.rate(), mark.key());
      Times marked = times.computeIfAbsent(counter, _ -> new Times());
      marked.add(mark.at(), sign);
      if (marked.at.isEmpty()) {
        times.remove(counter);
      }
    }
  }

  JudgeInputs.Balance balance(Budget budget, String key, Instant now) {
    Instant start = budget.windowStart(now);
    Account account = new Account(budget.name(), key, start);
    return new JudgeInputs.Balance(
        budget.name(),
        key,
        start,
        used.getOrDefault(account, 0L),
        reserved.getOrDefault(account, 0L),
        budget.limit());
  }

  /** How often the counter was used after {@code now − per}; what is later than now counts too. */
  JudgeInputs.RateCount count(Rate rate, String key, Instant now) {
    Times marked = times.get(new Counter(rate.name(), key));
    long count = 0;
    if (marked != null) {
      // What is long out of the span is counted by entries that are about to go; usually none.
      long before =
          marked.at.headMap(rate.spanStart(now), true).values().stream()
              .mapToLong(Long::longValue)
              .sum();
      count = marked.total - before;
    }
    return new JudgeInputs.RateCount(rate.name(), key, count);
  }

  /** From when on nothing under this policy needs the entry. */
  Instant neededUntil(AccountEntry entry) {
    Instant until =
        entry
            .at()
            .plusSeconds(policy.limits().requestAgeMaxS())
            .plus(Admission.SKEW)
            .plusSeconds(LATE_S);
    for (AccountEntry.Charge charge : entry.charges()) {
      Budget budget = policy.budgets().get(charge.budget());
      if (budget != null) {
        until = AccountEntry.later(until, budget.windowEnd(entry.at()).plusSeconds(LATE_S));
      }
    }
    for (AccountEntry.Mark mark : entry.marks()) {
      Rate rate = policy.rates().get(mark.rate());
      if (rate != null) {
        until = AccountEntry.later(until, mark.at().plusSeconds(rate.perS() + LATE_S));
      }
    }
    return until;
  }
}
