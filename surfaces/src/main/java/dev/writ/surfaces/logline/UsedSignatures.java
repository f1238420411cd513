package dev.writ.surfaces.logline;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.Kernel;
import dev.writ.executor.journal.Tables;
import dev.writ.gateway.error.GatewayError;
import dev.writ.ledger.form.Keys;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.TreeSet;

/**
 * The signatures that were accepted, until their timestamps are no longer fresh: each is accepted
 * once. That of an execution stands in the ledger as the key of its request. A call without a body
 * leaves no request, so its signature has a row of its own, and a restart forgets neither. Thread
 * safe.
 */
final class UsedSignatures {
  /** How many may be fresh at once. */
  static final int MOST = 65_536;

  private final Kernel kernel;
  private final Duration fresh;
  private final TreeSet<String> signatures = new TreeSet<>();

  /** The same ordered by time, so that the oldest are dropped without a scan. */
  private final PriorityQueue<Used> byTime = new PriorityQueue<>(Comparator.comparing(Used::until));

  /** Rows whose time is over: they are removed with the next that is written. */
  private List<String> over = new ArrayList<>();

  /** One that was accepted. */
  record Used(Instant until, String signature, boolean isStored) {
    private String key() {
      return Tables.key(LoglineSurface.NAME, Tables.number(until.toEpochMilli()), signature);
    }
  }

  /**
   * With those that the ledger has.
   *
   * @param fresh how long after its timestamp a signature may come
   */
  UsedSignatures(Kernel kernel, Duration fresh) {
    this.kernel = kernel;
    this.fresh = fresh;
    kernel
        .ledger()
        .scan(
            Tables.SIGNATURE,
            Tables.prefix(LoglineSurface.NAME),
            (key, _) -> {
              String[] parts = key.split(String.valueOf(Keys.SEPARATOR));
              Instant until = Instant.ofEpochMilli(Long.parseLong(parts[1], 16));
              signatures.add(parts[2]);
              byTime.add(new Used(until, parts[2], true));
              return true;
            });
  }

  /**
   * Accepts a signature that was verified: nobody else can fill the table.
   *
   * @param at its timestamp
   * @param isStored whether {@link #store} follows
   * @throws WritException {@code GWY-106}, {@code GWY-045}
   */
  synchronized Used take(String signature, Instant at, Instant now, boolean isStored) {
    removeOver(now);
    if (signatures.contains(signature)) {
      throw new WritException(LoglineError.REPLAYED, "");
    }
    if (signatures.size() >= MOST) {
      throw new WritException(GatewayError.SIGNATURES_FULL, "at most " + MOST);
    }
    Used used = new Used(at.plus(fresh), signature, isStored);
    signatures.add(signature);
    byTime.add(used);
    return used;
  }

  /** Writes it, and returns when that is durable; before anything is done for the call. */
  void store(Used used) {
    List<String> removed;
    synchronized (this) {
      removed = over;
      over = new ArrayList<>();
    }
    kernel.auxiliary().saveSignature(used.key(), removed);
  }

  /**
   * The same for that of an execution that is an earlier request's: it has no request of its own.
   */
  void storeAlone(Used used) {
    Used stored = new Used(used.until(), used.signature(), true);
    synchronized (this) {
      byTime.remove(used);
      byTime.add(stored);
    }
    store(stored);
  }

  private void removeOver(Instant now) {
    while (!byTime.isEmpty() && byTime.peek().until().isBefore(now)) {
      Used used = byTime.poll();
      signatures.remove(used.signature());
      if (used.isStored()) {
        over.add(used.key());
      }
    }
  }
}
