package dev.writ.verify.audit;

import dev.writ.canonicalize.Digest;
import dev.writ.guardian.CarriedAccounts;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.limit.Rate;
import dev.writ.verify.audit.AccountSums.Account;
import dev.writ.verify.audit.AccountSums.Bounds;
import dev.writ.verify.audit.AccountSums.Counter;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What the accounts hold by the decisions of the log that were walked over so far: an entry for
 * each request, sums for those that are settled, and what may be missing of steps that never
 * reached the log.
 */
final class AuditedAccounts {
  private final AccountSums sums = new AccountSums();
  private final AccountSums.Definitions definitions = new AccountSums.Definitions();
  private final AccountSums.Gaps gaps = new AccountSums.Gaps();
  private final TreeMap<Digest, AuditedEntry> entries = new TreeMap<>();
  private final TreeMap<String, Digest> nonces = new TreeMap<>();
  private final TreeMap<Instant, TreeSet<Digest>> expiries = new TreeMap<>();
  private final SettledEntries settled = new SettledEntries();
  private Optional<Instant> latest = Optional.empty();

  /** When a tenant came or left last: policies are in use then, too. */
  private Optional<Instant> lastMove = Optional.empty();

  private Optional<Digest> inUse = Optional.empty();

  /** Numbers of which the accounts may have any. */
  record Range(long least, long most) {
    boolean has(long number) {
      return number >= least && number <= most;
    }

    String text() {
      return least == most
          ? String.valueOf(least)
          : most >= AccountSums.UNKNOWN ? least + " or more" : least + " to " + most;
    }
  }

  /**
   * What one account of a budget may hold.
   *
   * @param taken used and reserved together
   * @param usedMost the most that may be used
   * @param isExact whether the log says all of it
   */
  record Held(Range taken, long usedMost, boolean isExact) {}

  /** The time of the latest judgement; none before the first. */
  Optional<Instant> latest() {
    return latest;
  }

  /** Has a policy define budgets and rates from now on. */
  void define(Policy policy) {
    Optional<Instant> now =
        latest.flatMap(l -> lastMove.filter(l::isBefore)).or(() -> latest).or(() -> lastMove);
    definitions.use(policy, now);
  }

  /** A tenant came or left, while that policy was in force. */
  void moved(Policy policy, Instant at) {
    define(policy);
    lastMove = Optional.of(at);
  }

  /** A step is judged under that policy. */
  void judgeUnder(Policy policy, long step) {
    define(policy);
    if (!inUse.equals(Optional.of(policy.digest()))) {
      inUse = Optional.of(policy.digest());
      entries.replaceAll((_, entry) -> entry.under(policy));
      settled.under(policy, step);
    }
  }

  /** A step was judged at that time. */
  void judgedAt(Instant time) {
    latest = latest.filter(l -> l.isAfter(time)).or(() -> Optional.of(time));
  }

  /** So many steps are not in the log; they may have charged anything. */
  void skip(long steps) {
    gaps.add(steps);
  }

  /** All steps that were skipped so far were taken before that time. */
  void skippedBefore(Instant time) {
    gaps.before(time);
  }

  /** Whether all that an account of a budget holds since then was charged under its definition. */
  boolean holdsSince(Budget budget, Instant start) {
    return definitions.holdsSince(budget, start);
  }

  /** The same for a rate. */
  boolean holdsSince(Rate rate, Instant start) {
    return definitions.holdsSince(rate, start);
  }

  /** What the log alone says of an account, whatever was skipped. */
  Bounds bounds(Account account) {
    return sums.bounds(account).plus(settled.bounds(account));
  }

  /** What an account may hold, with what skipped steps may have charged. */
  Held held(Account account, Budget budget) {
    Bounds bounds = bounds(account);
    long lost = gaps.since(account.windowStart());
    boolean calls = budget.unit() == Budget.Unit.CALLS;
    boolean open = bounds.unknown() > 0 || lost > 0 && !calls;
    long least = lost > 0 ? calls ? Math.max(0, bounds.least() - lost) : 0 : bounds.least();
    long most = open ? AccountSums.UNKNOWN : bounds.most() + lost;
    return new Held(
        new Range(least, most),
        open ? AccountSums.UNKNOWN : bounds.usedMost() + lost,
        lost == 0 && least == most);
  }

  /** How often a counter may have been used since then. */
  Range used(Counter counter, Instant start) {
    long all = sums.count(counter, start) + settled.count(counter, start);
    return new Range(
        all - sums.forgotten(counter, start) - settled.forgotten(counter, start),
        all + gaps.since(start));
  }

  /** How often a counter was used at each moment, at the most. */
  TreeMap<Instant, Long> uses(Counter counter) {
    TreeMap<Instant, Long> uses = new TreeMap<>();
    for (AccountSums all : List.of(sums, settled.sums())) {
      all.uses(counter).forEach((time, times) -> uses.merge(time, times, Long::sum));
    }
    return uses;
  }

  /** The accounts of a tenant that hold something in the windows of that time. */
  List<Account> accountsOf(String tenant, Policy policy, Instant at) {
    return Stream.of(sums, settled.sums())
        .flatMap(all -> all.accounts().stream())
        .filter(account -> CarriedAccounts.isOf(tenant, account.key()))
        .filter(account -> {
          Budget budget = policy.budgets().get(account.budget());
          return budget != null && account.windowStart().equals(budget.windowStart(at));
        })
        .distinct()
        .toList();
  }

  /** The counters of a tenant that were used. */
  TreeSet<Counter> countersOf(String tenant) {
    return Stream.of(sums, settled.sums())
        .flatMap(all -> all.counters().stream())
        .filter(counter -> CarriedAccounts.isOf(tenant, counter.key()))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Which request took a nonce, and until when certainly. */
  Optional<SettledEntries.Taken> nonce(String nonce) {
    return Optional.ofNullable(nonces.get(nonce))
        .map(owner -> new SettledEntries.Taken(owner, entries.get(owner).nonceUntil()))
        .or(() -> settled.nonce(nonce));
  }

  /** The entries of requests that may be judged again, and of arrivals. */
  TreeMap<Digest, AuditedEntry> entries() {
    return entries;
  }

  /** The entry of a request, which it no longer has then. */
  Optional<AuditedEntry> take(Digest request) {
    Optional<AuditedEntry> entry = Optional.ofNullable(entries.get(request));
    entry.ifPresent(found -> drop(request, found));
    return entry;
  }

  void add(Digest id, AuditedEntry entry) {
    entries.put(id, entry);
    nonces.put(entry.nonce(), id);
    sums.add(entry.charges(), entry.marks(), 1);
    expiries.computeIfAbsent(entry.keptUntil(), _ -> new TreeSet<>()).add(id);
  }

  /** Adds an entry that nothing changes any more: only its sums and its nonce are kept. */
  void addSettled(Digest id, AuditedEntry entry, long step) {
    nonces.remove(entry.nonce());
    settled.add(
        id, entry.policy(), entry.at(), step, entry.nonce(), entry.charges(), entry.marks());
  }

  private void drop(Digest id, AuditedEntry entry) {
    entries.remove(id);
    nonces.remove(entry.nonce(), id);
    sums.add(entry.charges(), entry.marks(), -1);
    TreeSet<Digest> same = expiries.get(entry.keptUntil());
    same.remove(id);
    if (same.isEmpty()) {
      expiries.remove(entry.keptUntil());
    }
  }

  /**
   * Drops entries that no judgement at that time can count any more.
   *
   * @param now the latest time, or that of a later restart of time, if that is earlier
   */
  void expire(Instant now) {
    Instant end = now.minus(SystemStateHistory.IN_FLIGHT);
    while (!expiries.isEmpty() && expiries.firstKey().isBefore(end)) {
      for (Digest id : List.copyOf(expiries.firstEntry().getValue())) {
        drop(id, entries.get(id));
      }
    }
    settled.forget(end);
    gaps.forget(now);
  }

  /**
   * Time restarts at an earlier one: charges and counts at later times count as made now, so that
   * no window is spent twice.
   *
   * @param arrived which entries came with tenants
   */
  void restart(Instant now, Set<Digest> arrived) {
    new TreeMap<>(entries)
        .forEach((request, entry) -> {
          drop(request, entry);
          add(request, entry.restarted(now, arrived.contains(request)));
        });
    definitions.restart(now);
    lastMove = lastMove.map(at -> AuditedEntry.earlier(at, now));
    gaps.restart(now);
    latest = Optional.of(now);
  }
}
