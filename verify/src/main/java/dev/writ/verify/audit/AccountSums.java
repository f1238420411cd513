package dev.writ.verify.audit;

import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.limit.Rate;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * What the accounts hold, as far as the ledger shows it: for budgets a lower and an upper bound,
 * since the time of settlement is not recorded; for rates the times themselves.
 */
final class AccountSums {
  /** More than any account can hold, and far below an overflow. */
  static final long UNKNOWN = 1L << 61;

  record Account(String budget, String key, Instant windowStart) implements Comparable<Account> {
    private static final Comparator<Account> ORDER =
        Comparator.comparing(Account::budget)
            .thenComparing(Account::key)
            .thenComparing(Account::windowStart);

    @Override
    public int compareTo(Account other) {
      return ORDER.compare(this, other);
    }
  }

  /**
   * The charge of one request in one account.
   *
   * @param least lower bound of used and reserved together; {@code most} is the upper one
   * @param usedMost the most of it that can be settled
   */
  record Charge(Account account, long least, long most, long usedMost) {}

  record Counter(String rate, String key) implements Comparable<Counter> {
    private static final Comparator<Counter> ORDER =
        Comparator.comparing(Counter::rate).thenComparing(Counter::key);

    @Override
    public int compareTo(Counter other) {
      return ORDER.compare(this, other);
    }
  }

  /**
   * One use of a counter.
   *
   * @param sure false if the accounts may have dropped it before the request was judged again
   */
  record Mark(Counter counter, Instant at, boolean sure) {}

  /** The bounds of one account; unknown amounts are counted, not added. */
  record Bounds(long least, long most, long usedMost, long unknown) {
    static final Bounds NONE = new Bounds(0, 0, 0, 0);

    Bounds plus(Bounds other) {
      return new Bounds(
          least + other.least,
          most + other.most,
          usedMost + other.usedMost,
          unknown + other.unknown);
    }

    private Bounds plus(Charge charge, int sign) {
      boolean open = charge.most() >= UNKNOWN;
      return new Bounds(
          least + sign * charge.least(),
          most + sign * (open ? 0 : charge.most()),
          usedMost + sign * (open ? 0 : charge.usedMost()),
          unknown + sign * (open ? 1 : 0));
    }
  }

  private final TreeMap<Account, Bounds> bounds = new TreeMap<>();
  private final TreeMap<Counter, Times> times = new TreeMap<>();
  private final TreeMap<Counter, Times> unsure = new TreeMap<>();

  /**
   * The times of one counter. Judgements ask for the count since the beginning of a span, which
   * moves with them: the last count is kept and corrected by the times that the beginning passed,
   * instead of adding up a span of perhaps a million uses for each judgement.
   */
  private static final class Times {
    private final TreeMap<Instant, Long> counted = new TreeMap<>();
    private Instant since = Instant.MIN;
    private long sinceThen;

    void add(Instant at, long sign) {
      counted.merge(at, sign, (a, b) -> a + b == 0 ? null : a + b);
      sinceThen += at.isAfter(since) ? sign : 0;
    }

    /** How many are later than that time. */
    long after(Instant start) {
      if (start.isAfter(since)) {
        sinceThen -= sum(since, start);
      } else {
        sinceThen += sum(start, since);
      }
      since = start;
      return sinceThen;
    }

    /** Forgets uses up to that time. */
    void forget(Instant until) {
      if (until.isAfter(since)) {
        sinceThen -= sum(since, until);
        since = until;
      }
      counted.headMap(until, true).clear();
    }

    private long sum(Instant from, Instant to) {
      return counted.subMap(from, false, to, true).values().stream()
          .mapToLong(Long::longValue)
          .sum();
    }
  }

  void add(List<Charge> charges, List<Mark> marks, int sign) {
    for (Charge charge : charges) {
      Bounds sum = bounds.getOrDefault(charge.account(), Bounds.NONE).plus(charge, sign);
      if (sum.equals(Bounds.NONE)) {
        bounds.remove(charge.account());
      } else {
        bounds.put(charge.account(), sum);
      }
    }
    for (Mark mark : marks) {
      add(times, mark, sign);
      if (!mark.sure()) {
        add(unsure, mark, sign);
      }
    }
  }

  private static void add(TreeMap<Counter, Times> times, Mark mark, long sign) {
    Times of = times.computeIfAbsent(mark.counter(), _ -> new Times());
    of.add(mark.at(), sign);
    if (of.counted.isEmpty()) {
      times.remove(mark.counter());
    }
  }

  /** Forgets what an account holds. */
  void forget(Account account) {
    bounds.remove(account);
  }

  /** Forgets uses of a counter up to that time. */
  void forget(Counter counter, Instant until) {
    forget(times, counter, until);
    forget(unsure, counter, until);
  }

  private static void forget(TreeMap<Counter, Times> times, Counter counter, Instant until) {
    Times of = times.get(counter);
    if (of != null) {
      of.forget(until);
      if (of.counted.isEmpty()) {
        times.remove(counter);
      }
    }
  }

  /** The accounts that hold something. */
  Set<Account> accounts() {
    return bounds.keySet();
  }

  /** The counters that were used. */
  Set<Counter> counters() {
    return times.keySet();
  }

  /** How often a counter was used at each moment, at the most. */
  TreeMap<Instant, Long> uses(Counter counter) {
    Times of = times.get(counter);
    return of == null ? new TreeMap<>() : of.counted;
  }

  boolean isUsed(Counter counter) {
    return times.containsKey(counter);
  }

  Bounds bounds(Account account) {
    return bounds.getOrDefault(account, Bounds.NONE);
  }

  /** How often the counter was used after that time, at the most. */
  long count(Counter counter, Instant after) {
    return count(times, counter, after);
  }

  /** How many of these the accounts may have dropped. */
  long forgotten(Counter counter, Instant after) {
    return count(unsure, counter, after);
  }

  private static long count(TreeMap<Counter, Times> times, Counter counter, Instant after) {
    Times of = times.get(counter);
    return of == null ? 0 : of.after(after);
  }

  /**
   * Since when each budget and rate has its present definition: charges under another definition
   * are not added.
   */
  static final class Definitions {
    private record Since(Object definition, Instant from) {}

    private final TreeMap<String, Since> since = new TreeMap<>();
    private Optional<Policy> policy = Optional.empty();

    /**
     * @param now the latest time so far; none before the first judgement and the first move
     */
    void use(Policy next, Optional<Instant> now) {
      if (policy.filter(p -> p.digest().equals(next.digest())).isPresent()) {
        return;
      }
      policy = Optional.of(next);
      TreeMap<String, Object> definitions = new TreeMap<>();
      for (Budget b : next.budgets().values()) {
        definitions.put(
            "budget " + b.name(),
            new Budget(b.name(), b.scope(), b.unit(), Optional.empty(), b.windowS(), b.match()));
      }
      for (Rate r : next.rates().values()) {
        definitions.put("rate " + r.name(), new Rate(r.name(), r.scope(), 0, r.perS(), r.match()));
      }
      since.keySet().retainAll(definitions.keySet());
      for (Map.Entry<String, Object> entry : definitions.entrySet()) {
        Since known = since.get(entry.getKey());
        if (known == null || !known.definition().equals(entry.getValue())) {
          since.put(entry.getKey(), new Since(entry.getValue(), now.orElse(Instant.MIN)));
        }
      }
    }

    /** Time restarts: definitions from later times count as made at this time. */
    void restart(Instant now) {
      since.replaceAll(
          (_, known) -> known.from().isAfter(now) ? new Since(known.definition(), now) : known);
    }

    boolean holdsSince(Budget budget, Instant start) {
      // A charge at exactly that time was made under the earlier definition.
      return since.get("budget " + budget.name()).from().isBefore(start);
    }

    boolean holdsSince(Rate rate, Instant start) {
      return !since.get("rate " + rate.name()).from().isAfter(start);
    }
  }

  /**
   * Judgements that took a step but never reached the log, with the time until which they may have
   * charged.
   */
  static final class Gaps {
    private final TreeMap<Instant, Long> until = new TreeMap<>();
    private long open;

    void add(long count) {
      open += count;
    }

    /** All gaps so far occurred before this time. */
    void before(Instant time) {
      if (open > 0) {
        until.merge(time, open, Long::sum);
        open = 0;
      }
    }

    /** Time restarts: gaps that counted until a later time count until this time. */
    void restart(Instant now) {
      before(now);
      long later = until.tailMap(now, false).values().stream().mapToLong(Long::longValue).sum();
      until.tailMap(now, false).clear();
      if (later > 0) {
        until.merge(now, later, Long::sum);
      }
    }

    /** How many may count in a window or span that begins at this time. */
    long since(Instant start) {
      return open + until.tailMap(start, true).values().stream().mapToLong(Long::longValue).sum();
    }

    void forget(Instant time) {
      until.headMap(time.minus(Duration.ofDays(400))).clear();
    }
  }
}
