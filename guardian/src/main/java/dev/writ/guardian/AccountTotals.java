package dev.writ.guardian;

import dev.writ.guardian.policy.Budget;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.Rate;
import java.time.Instant;
import java.util.Comparator;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The sums over entries, under one policy: what each account of a budget holds in each window, and
 * when each account of a rate limit was used. Sums over entries in memory end when each entry is
 * removed; sums over folded entries are dropped by {@link #prune}, when no judgement can need them
 * any more. Not thread safe.
 */
final class AccountTotals {
  /**
   * How far behind the newest time a judgement's time may be, in seconds: sums are exact for that
   * long.
   */
  static final long LATE_S = 60;

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

  /** The times of one counter; {@code total} is the sum of the values in {@code at}. */
  private static final class Times {
    private final TreeMap<Instant, Long> at = new TreeMap<>();
    private long total;

    void add(Instant time, long sign) {
      total += sign;
      at.merge(time, sign, (a, b) -> a + b == 0 ? null : a + b);
    }
  }

  /** One use of a counter, for dropping it when its time is over. */
  private record Use(Counter counter, Instant at) implements Comparable<Use> {
    private static final Comparator<Use> ORDER =
        Comparator.comparing(Use::counter).thenComparing(Use::at);

    @Override
    public int compareTo(Use other) {
      return ORDER.compare(this, other);
    }
  }

  private final boolean prunable;
  private final TreeMap<Instant, TreeSet<Account>> ends = new TreeMap<>();
  private final TreeMap<Instant, TreeSet<Use>> useEnds = new TreeMap<>();
  private Policy policy;
  private Instant over = Instant.MIN;
  private final TreeMap<Account, Long> used = new TreeMap<>();
  private final TreeMap<Account, Long> reserved = new TreeMap<>();
  private final TreeMap<Counter, Times> times = new TreeMap<>();

  private AccountTotals(Policy policy, boolean prunable) {
    this.policy = policy;
    this.prunable = prunable;
  }

  /** Sums over entries that are removed one by one. */
  static AccountTotals ofEntries(Policy policy) {
    return new AccountTotals(policy, false);
  }

  /** Sums over entries that were folded. */
  static AccountTotals ofFolded(Policy policy) {
    return new AccountTotals(policy, true);
  }

  Policy policy() {
    return policy;
  }

  /** Whether the sums under that policy equal those under this one. */
  boolean sameUnder(Policy other) {
    return policy.budgets().equals(other.budgets())
        && policy.rates().equals(other.rates())
        && policy.limits().requestAgeMaxS() == other.limits().requestAgeMaxS();
  }

  /** Continues under a policy with the same sums. */
  void use(Policy same) {
    policy = same;
  }

  /** Drops sums that no judgement at that time, or a little before it, can need. */
  void prune(Instant time) {
    if (!time.isAfter(over)) {
      return;
    }
    over = time;
    while (!ends.isEmpty() && !ends.firstKey().isAfter(over)) {
      for (Account account : ends.pollFirstEntry().getValue()) {
        used.remove(account);
        reserved.remove(account);
      }
    }
    while (!useEnds.isEmpty() && !useEnds.firstKey().isAfter(over)) {
      for (Use use : useEnds.pollFirstEntry().getValue()) {
        Times marked = times.get(use.counter());
        Long count = marked == null ? null : marked.at.get(use.at());
        if (count != null) {
          mark(use.counter(), use.at(), -count);
        }
      }
    }
  }

  private static Instant end(Budget budget, Instant at) {
    return budget.windowEnd(at).plusSeconds(LATE_S);
  }

  private static Instant end(Rate rate, Instant at) {
    return at.plusSeconds(rate.perS() + LATE_S);
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
      if (budget != null && end(budget, entry.at()).isAfter(over)) {
        Account account =
            new Account(charge.budget(), charge.key(), budget.windowStart(entry.at()));
        sums.merge(account, sign * charge.amount(), (a, b) -> a + b == 0 ? null : a + b);
        if (prunable) {
          ends.computeIfAbsent(end(budget, entry.at()), _ -> new TreeSet<>()).add(account);
        }
      }
    }
    for (AccountEntry.Mark mark : entry.marks()) {
      Rate rate = policy.rates().get(mark.rate());
      if (rate != null && end(rate, mark.at()).isAfter(over)) {
        Counter counter = new Counter(mark.rate(), mark.key());
        mark(counter, mark.at(), sign);
        if (prunable) {
          useEnds
              .computeIfAbsent(end(rate, mark.at()), _ -> new TreeSet<>())
              .add(new Use(counter, mark.at()));
        }
      }
    }
  }

  private void mark(Counter counter, Instant at, long sign) {
    Times marked = times.computeIfAbsent(counter, _ -> new Times());
    marked.add(at, sign);
    if (marked.at.isEmpty()) {
      times.remove(counter);
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

  /** How often the counter was used after {@code now − per}; uses later than now count, too. */
  JudgeInputs.RateCount count(Rate rate, String key, Instant now) {
    Times marked = times.get(new Counter(rate.name(), key));
    long count = 0;
    if (marked != null) {
      // Uses before the span belong to entries that are about to be dropped; usually there are
      // none.
      long before =
          marked.at.headMap(rate.spanStart(now), true).values().stream()
              .mapToLong(Long::longValue)
              .sum();
      count = marked.total - before;
    }
    return new JudgeInputs.RateCount(rate.name(), key, count);
  }

  /**
   * The end of the time in which another request with the entry's nonce must be refused: the
   * freshness window, plus the clock skew, plus how late a judgement may be.
   */
  Instant freshUntil(AccountEntry entry) {
    return freshUntil(policy, entry);
  }

  private static Instant freshUntil(Policy policy, AccountEntry entry) {
    return entry
        .at()
        .plusSeconds(policy.limits().requestAgeMaxS())
        .plus(Admission.SKEW)
        .plusSeconds(LATE_S);
  }

  /** When the entry is no longer needed under this policy. */
  Instant neededUntil(AccountEntry entry) {
    return neededUntil(policy, entry);
  }

  /** When the entry is no longer needed under that policy. */
  static Instant neededUntil(Policy policy, AccountEntry entry) {
    Instant until = freshUntil(policy, entry);
    for (AccountEntry.Charge charge : entry.charges()) {
      Budget budget = policy.budgets().get(charge.budget());
      if (budget != null) {
        until = AccountEntry.later(until, end(budget, entry.at()));
      }
    }
    for (AccountEntry.Mark mark : entry.marks()) {
      Rate rate = policy.rates().get(mark.rate());
      if (rate != null) {
        until = AccountEntry.later(until, end(rate, mark.at()));
      }
    }
    return until;
  }
}
