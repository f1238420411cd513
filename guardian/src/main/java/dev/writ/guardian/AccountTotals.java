package dev.writ.guardian;

import dev.writ.guardian.AccountEntry.Charge;
import dev.writ.guardian.AccountEntry.Mark;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.limit.Rate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;

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

  private final boolean prunable;
  private Policy policy;
  private Instant over = Instant.MIN;

  /** When all counters were last looked through; others are pruned when they are used. */
  private Instant swept = Instant.EPOCH;

  /** By name of the budget, then by key. */
  private final TreeMap<String, TreeMap<String, WindowSums>> sums = new TreeMap<>();

  /** By name of the rate limit, then by key. */
  private final TreeMap<String, TreeMap<String, UseTimes>> uses = new TreeMap<>();

  /** The ends of windows of budgets, each with where it ends. */
  private final TreeMap<Instant, List<Ending>> ends = new TreeMap<>();

  private record Ending(String budget, String key, long startS) {}

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
    return same(policy, other);
  }

  /** Whether sums under both policies are equal. */
  static boolean same(Policy policy, Policy other) {
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
      for (Ending ending : ends.pollFirstEntry().getValue()) {
        TreeMap<String, WindowSums> accounts = sums.get(ending.budget());
        WindowSums windows = accounts.get(ending.key());
        windows.end(ending.startS());
        if (windows.isEmpty()) {
          accounts.remove(ending.key());
        }
      }
    }
    if (time.isAfter(swept.plusSeconds(LATE_S))) {
      swept = time;
      uses.values().forEach(counters -> counters.values().removeIf(this::isOver));
    }
  }

  /** Forgets the uses of a counter that are over; whether none is left. */
  private boolean isOver(UseTimes times) {
    return over.isAfter(Instant.EPOCH) && times.forget(over.minusSeconds(LATE_S).toEpochMilli());
  }

  private static Instant end(Budget budget, Instant at) {
    return budget.windowEnd(at).plusSeconds(LATE_S);
  }

  private static Instant end(Rate rate, Instant at) {
    return at.plusSeconds(rate.perS() + LATE_S);
  }

  void add(AccountEntry entry) {
    charge(entry, 1);
    mark(entry, 1);
  }

  /** Adds what a summary says, which is under a policy with the same sums. */
  void add(AccountSummary summary) {
    for (AccountSummary.Sum sum : summary.sums()) {
      Budget budget = Objects.requireNonNull(policy.budgets().get(sum.budget()), sum.budget());
      Instant start = Instant.ofEpochSecond(sum.start());
      if (end(budget, start).isAfter(over)) {
        add(budget, sum.key(), start, sum.used(), sum.reserved());
      }
    }
    for (AccountSummary.Uses used : summary.uses()) {
      Rate rate = Objects.requireNonNull(policy.rates().get(used.rate()), used.rate());
      for (long at : used.times()) {
        mark(rate, used.key(), Instant.ofEpochMilli(at), 1);
      }
    }
  }

  /** What the windows hold, by budget, account and start. */
  List<AccountSummary.Sum> sums() {
    List<AccountSummary.Sum> all = new ArrayList<>();
    sums.forEach((budget, accounts) ->
        accounts.forEach((key, windows) ->
            windows.forEach((start, used, reserved) ->
                all.add(new AccountSummary.Sum(budget, key, start, used, reserved)))));
    return all;
  }

  /** The uses of rate limits, by rate and account. */
  List<AccountSummary.Uses> uses() {
    List<AccountSummary.Uses> all = new ArrayList<>();
    uses.forEach((rate, counters) ->
        counters.forEach(
            (key, times) -> all.add(new AccountSummary.Uses(rate, key, times.times()))));
    return all;
  }

  void remove(AccountEntry entry) {
    charge(entry, -1);
    mark(entry, -1);
  }

  /** Replaces an entry by another that differs in state and charges alone. */
  void recharge(AccountEntry before, AccountEntry after) {
    charge(before, -1);
    charge(after, 1);
  }

  private void charge(AccountEntry entry, long sign) {
    boolean isUsed = entry.state() == AccountEntry.State.SETTLED;
    for (Charge charge : entry.charges()) {
      Budget budget = policy.budgets().get(charge.budget());
      if (budget != null && end(budget, entry.at()).isAfter(over)) {
        long amount = sign * charge.amount();
        add(budget, charge.key(), entry.at(), isUsed ? amount : 0, isUsed ? 0 : amount);
      }
    }
  }

  private void add(Budget budget, String key, Instant at, long used, long reserved) {
    TreeMap<String, WindowSums> accounts =
        sums.computeIfAbsent(budget.name(), _ -> new TreeMap<>());
    WindowSums windows = accounts.computeIfAbsent(key, _ -> new WindowSums());
    long startS = budget.windowStart(at).getEpochSecond();
    boolean isNew = windows.add(startS, used, reserved);
    if (prunable) {
      if (isNew) {
        ends.computeIfAbsent(end(budget, at), _ -> new ArrayList<>())
            .add(new Ending(budget.name(), key, startS));
      }
    } else if (windows.endIfZero(startS)) {
      accounts.remove(key);
    }
  }

  private void mark(AccountEntry entry, int sign) {
    for (Mark mark : entry.marks()) {
      Rate rate = policy.rates().get(mark.rate());
      if (rate != null) {
        mark(rate, mark.key(), mark.at(), sign);
      }
    }
  }

  private void mark(Rate rate, String key, Instant at, int sign) {
    if (!end(rate, at).isAfter(over)) {
      return;
    }
    TreeMap<String, UseTimes> counters = uses.computeIfAbsent(rate.name(), _ -> new TreeMap<>());
    UseTimes times = counters.computeIfAbsent(key, _ -> new UseTimes(1000 * rate.perS()));
    if (prunable) {
      isOver(times);
    }
    times.add(at.toEpochMilli(), sign);
    if (times.isEmpty()) {
      counters.remove(key);
    }
  }

  /** The bytes that single uses take; sums are a few for each account. */
  long bytes() {
    long bytes = 0;
    for (TreeMap<String, UseTimes> counters : uses.values()) {
      for (UseTimes times : counters.values()) {
        bytes += times.bytes();
      }
    }
    return bytes;
  }

  JudgeInputs.Balance balance(Budget budget, String key, Instant now) {
    Instant start = budget.windowStart(now);
    TreeMap<String, WindowSums> accounts = sums.get(budget.name());
    WindowSums windows = accounts == null ? null : accounts.get(key);
    return new JudgeInputs.Balance(
        budget.name(),
        key,
        start,
        windows == null ? 0 : windows.used(start.getEpochSecond()),
        windows == null ? 0 : windows.reserved(start.getEpochSecond()),
        budget.limit());
  }

  /** How often the counter was used after {@code now − per}; uses later than now count, too. */
  JudgeInputs.RateCount count(Rate rate, String key, Instant now) {
    TreeMap<String, UseTimes> counters = uses.get(rate.name());
    UseTimes times = counters == null ? null : counters.get(key);
    return new JudgeInputs.RateCount(
        rate.name(), key, times == null ? 0 : times.after(rate.spanStart(now).toEpochMilli()));
  }

  /**
   * The end of the time in which another request with the entry's nonce must be refused: the
   * freshness window, plus the clock skew, plus how late a judgement may be.
   */
  Instant freshUntil(AccountEntry entry) {
    return freshUntil(policy, entry);
  }

  /** The same for an entry of that time, in milliseconds. */
  long freshUntil(long atMs) {
    return atMs + 1000 * (policy.limits().requestAgeMaxS() + LATE_S) + Admission.SKEW.toMillis();
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
    for (Charge charge : entry.charges()) {
      Budget budget = policy.budgets().get(charge.budget());
      if (budget != null) {
        until = AccountEntry.later(until, end(budget, entry.at()));
      }
    }
    for (Mark mark : entry.marks()) {
      Rate rate = policy.rates().get(mark.rate());
      if (rate != null) {
        until = AccountEntry.later(until, end(rate, mark.at()));
      }
    }
    return until;
  }
}
