package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.guardian.AccountEntry.State;
import dev.writ.guardian.NonceUses.Named;
import dev.writ.guardian.policy.Policy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What entries that the accounts let go of added since the last summary. An entry that no step can
 * change any more is in the sums of one summary; any other is <em>open</em>, named by its request
 * alone, and its row is read at a start. Not thread safe.
 */
final class Unsummarized {
  private static final int SWEPT_FROM = 1024;

  private AccountTotals sums;
  private final List<Named> nonces = new ArrayList<>();

  /** Open entries, with until when they are kept; whether in memory or not. */
  private final TreeMap<Digest, Instant> open = new TreeMap<>();

  private final TreeSet<Digest> opened = new TreeSet<>();
  private final TreeSet<Digest> closed = new TreeSet<>();

  /** Settled entries that were read back into memory, and whose charges are in a sum. */
  private final TreeSet<Digest> counted = new TreeSet<>();

  private int length;
  private int sweptTo = SWEPT_FROM;

  Unsummarized(Policy policy) {
    sums = AccountTotals.ofFolded(policy);
  }

  /** How many entries the next summary has. */
  int length() {
    return length;
  }

  /**
   * An entry was let go of.
   *
   * @param isDurable whether the log is known to have its last event; else it is open
   */
  void add(AccountEntry entry, boolean isDurable) {
    if (counted.remove(entry.request())) {
      return;
    }
    length++;
    if (isDurable && isOver(entry)) {
      close(entry.request());
      sums.add(entry);
      nonces.add(
          new Named(
              UsedNonces.Key.of(entry.nonce()),
              new UsedNonces.Use(entry.request(), entry.at().toEpochMilli(), entry.step())));
    } else {
      open(entry);
    }
  }

  /**
   * Whether no later step takes anything back: what is settled stays, and where nothing is charged
   * or marked there is nothing to take.
   */
  private static boolean isOver(AccountEntry entry) {
    return entry.state() == State.SETTLED || entry.charges().isEmpty() && entry.marks().isEmpty();
  }

  /** An entry that was let go of is in memory again. */
  void takeBack(AccountEntry entry) {
    if (entry.state() == State.SETTLED && !open.containsKey(entry.request())) {
      counted.add(entry.request());
    }
  }

  /** An entry in memory is not needed any more. */
  void drop(Digest request) {
    counted.remove(request);
  }

  private void open(AccountEntry entry) {
    if (open.put(entry.request(), entry.keptUntil()) == null && !closed.remove(entry.request())) {
      opened.add(entry.request());
    }
  }

  /** Nothing of an open request needs to be read any more. */
  void close(Digest request) {
    if (open.remove(request) != null && !opened.remove(request)) {
      closed.add(request);
    }
  }

  /** Takes over what an earlier summary said. */
  void restore(AccountSummary summary) {
    summary.opened().forEach(request -> open.put(request, Instant.MAX));
    summary.closed().forEach(open::remove);
  }

  /** Takes over what earlier summaries said, to say it again in the next one. */
  void repeat(AccountSummary summary) {
    sums.add(summary);
    length++;
    for (Digest request : summary.opened()) {
      open.put(request, Instant.MAX);
      opened.add(request);
    }
    for (Digest request : summary.closed()) {
      open.remove(request);
      opened.remove(request);
    }
  }

  /** Requests whose rows a start has to read. */
  List<Digest> openRequests() {
    return List.copyOf(open.keySet());
  }

  /**
   * The summary of what came since the last one, and begins the next.
   *
   * @param inMemory entries that are in memory: their rows are to be read, since they can change
   */
  AccountSummary.Taken take(
      Policy policy,
      Iterable<AccountEntry> inMemory,
      Instant now,
      long logSize,
      long restarts,
      long step) {
    for (AccountEntry entry : inMemory) {
      if (!counted.contains(entry.request())) {
        open(entry);
      }
    }
    sweep(now);
    AccountSummary summary =
        new AccountSummary(
            policy.digest(),
            logSize,
            restarts,
            step,
            sums.sums(),
            sums.uses(),
            List.copyOf(opened),
            List.copyOf(closed));
    AccountSummary.Taken taken = new AccountSummary.Taken(summary, NonceUses.all(nonces));
    sums = AccountTotals.ofFolded(policy);
    nonces.clear();
    opened.clear();
    closed.clear();
    length = 0;
    return taken;
  }

  /** Forgets open entries that are not needed any more, once there are twice as many. */
  private void sweep(Instant now) {
    if (open.size() < sweptTo) {
      return;
    }
    List<Digest> over = new ArrayList<>();
    for (Iterator<Map.Entry<Digest, Instant>> all = open.entrySet().iterator(); all.hasNext(); ) {
      Map.Entry<Digest, Instant> next = all.next();
      if (!next.getValue().isAfter(now)) {
        over.add(next.getKey());
      }
    }
    over.forEach(this::close);
    sweptTo = Math.max(SWEPT_FROM, 2 * open.size());
  }
}
