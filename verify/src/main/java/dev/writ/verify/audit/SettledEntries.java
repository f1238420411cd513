package dev.writ.verify.audit;

import dev.writ.canonicalize.Digest;
import dev.writ.guardian.UsedNonces;
import dev.writ.guardian.policy.Policy;
import dev.writ.verify.audit.AccountSums.Account;
import dev.writ.verify.audit.AccountSums.Bounds;
import dev.writ.verify.audit.AccountSums.Charge;
import dev.writ.verify.audit.AccountSums.Counter;
import dev.writ.verify.audit.AccountSums.Mark;
import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Requests that are settled, of which nothing can change any more: their sums, for as long as
 * windows and spans last, and their nonces. So an audit does not keep each of them, as it keeps
 * those that may be judged again.
 */
final class SettledEntries {
  private static final Duration SWEPT_EVERY = Duration.ofMinutes(1);

  private final AccountSums sums = new AccountSums();
  private final UsedNonces nonces = new UsedNonces();

  /** How long nonces are taken from a step on, in milliseconds. */
  private final TreeMap<Long, Long> freshMs = new TreeMap<>();

  /** Until when sums of windows are needed. */
  private final TreeMap<Account, Instant> ends = new TreeMap<>();

  /** How long uses count, the longest of all policies. */
  private final TreeMap<Counter, Duration> spans = new TreeMap<>();

  private Instant sweptAt = Instant.MIN;

  void add(
      Digest request,
      Policy policy,
      Instant at,
      long step,
      String nonce,
      List<Charge> charges,
      List<Mark> marks) {
    sums.add(charges, marks, 1);
    nonces.add(UsedNonces.Key.of(nonce), new UsedNonces.Use(request, at.toEpochMilli(), step));
    for (Charge charge : charges) {
      Instant end = policy.budgets().get(charge.account().budget()).windowEnd(at);
      ends.merge(charge.account(), end, (a, b) -> a.isAfter(b) ? a : b);
    }
    for (Mark mark : marks) {
      Optional.ofNullable(policy.rates().get(mark.counter().rate()))
          .map(rate -> Duration.ofSeconds(rate.perS()))
          .ifPresent(
              span -> spans.merge(mark.counter(), span, (a, b) -> a.compareTo(b) > 0 ? a : b));
    }
  }

  /** The sums of them all. */
  AccountSums sums() {
    return sums;
  }

  Bounds bounds(Account account) {
    return sums.bounds(account);
  }

  long count(Counter counter, Instant after) {
    return sums.count(counter, after);
  }

  long forgotten(Counter counter, Instant after) {
    return sums.forgotten(counter, after);
  }

  /** Which request took a nonce, and until when certainly. */
  Optional<Taken> nonce(String nonce) {
    return nonces
        .find(UsedNonces.Key.of(nonce))
        .map(use -> new Taken(use.request(), Instant.ofEpochMilli(until(use))));
  }

  /** A nonce that is taken. */
  record Taken(Digest owner, Instant until) {}

  /** By the shortest time that a nonce was taken under any policy since. */
  private long until(UsedNonces.Use use) {
    long shortest =
        freshMs.tailMap(freshMs.floorKey(use.step()), true).values().stream()
            .mapToLong(Long::longValue)
            .min()
            .orElseThrow();
    return use.atMs() + shortest;
  }

  /** Another policy is in use from that step on. */
  void under(Policy policy, long step) {
    freshMs.put(step, AuditedEntry.nonceUntil(policy, Instant.EPOCH).toEpochMilli());
  }

  /**
   * Forgets what no judgement at that time or later can count.
   *
   * @param time the latest so far, less the time that a judgement may be late
   */
  void forget(Instant time) {
    if (time.isBefore(sweptAt.plus(SWEPT_EVERY))) {
      return;
    }
    sweptAt = time;
    long longest = freshMs.values().stream().mapToLong(Long::longValue).max().orElse(0);
    nonces.expire(atMs -> atMs + longest < time.toEpochMilli());
    for (Iterator<Map.Entry<Account, Instant>> all = ends.entrySet().iterator(); all.hasNext(); ) {
      Map.Entry<Account, Instant> next = all.next();
      if (next.getValue().isBefore(time)) {
        sums.forget(next.getKey());
        all.remove();
      }
    }
    spans.forEach((counter, span) -> sums.forget(counter, time.minus(span)));
    spans.keySet().removeIf(counter -> !sums.isUsed(counter));
  }
}
