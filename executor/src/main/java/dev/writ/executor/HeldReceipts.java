package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.Runs;
import dev.writ.executor.stage.SignAgain;
import dev.writ.executor.stage.Unsigned;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Effects that ended while what keeps the executor's key did not sign, and whose patience ended as
 * well: how they ended is known, so their receipts are signed later. They are in memory alone; what
 * is here when the process ends is in doubt at the next start. While the key is away no further
 * effect is dispatched whose receipt would only wait here, too. Thread safe.
 */
final class HeldReceipts implements SignAgain {
  /** Verifiers let times of a run go back by a day. */
  static final Duration LONGEST = Duration.ofHours(12);

  static final int RECEIPTS_MAX = 1_000;
  static final long BYTES_MAX = 64L << 20;

  private final SignAgain patience;
  private final Supplier<Instant> latest;
  private final Predicate<Instant> maySign;
  private final LinkedHashMap<Digest, Unsigned> held = new LinkedHashMap<>();
  private final ReentrantLock probe = new ReentrantLock();
  private volatile Consumer<Digest> signing = _ -> {};
  private volatile Optional<WritException> failure = Optional.empty();

  /** Why the latest of them was not signed; empty once one was. */
  private volatile Optional<WritException> away = Optional.empty();

  private long bytes;

  /** How often one of them was signed, or could not be. */
  private long attempts;

  /**
   * @param patience with what is signed at once
   * @param latest the latest reading of the clock
   * @param maySign whether verifiers accept the executor's present key under a document of a time
   */
  HeldReceipts(SignAgain patience, Supplier<Instant> latest, Predicate<Instant> maySign) {
    this.patience = patience;
    this.latest = latest;
    this.maySign = maySign;
  }

  @Override
  public boolean after(int failures, WritException why) {
    failure = Optional.of(why);
    return patience.after(failures, why);
  }

  /** Where there is no room it is in doubt at the next start, as if nothing were held. */
  @Override
  public synchronized void later(Unsigned effect) {
    away = failure;
    if (held.size() < RECEIPTS_MAX && bytes + effect.bytes() <= BYTES_MAX) {
      held.put(effect.request(), effect);
      bytes += effect.bytes();
    }
  }

  /** Registers what has the receipt of a request signed, where nobody else works on it. */
  void signedBy(Consumer<Digest> attempt) {
    signing = attempt;
  }

  /**
   * While the key is away each call has a receipt signed that waits, one call at a time: where that
   * succeeds the key is back. Where none can be tried the effect itself shows it.
   */
  @Override
  public void requireSigns() {
    if (away.isEmpty()) {
      return;
    }
    if (!probe.tryLock()) {
      refuse();
      return;
    }
    try {
      if (isTried()) {
        refuse();
      }
    } finally {
      probe.unlock();
    }
  }

  /** Whether one of them could be tried. */
  private boolean isTried() {
    long before = attempts();
    for (Digest request : requests()) {
      signing.accept(request);
      if (attempts() != before) {
        return true;
      }
    }
    return false;
  }

  /** By a code of what keeps the key; a failure that has none says nothing of the next time. */
  private void refuse() {
    if (away.isPresent() && away.get().getCause() instanceof WritException told) {
      throw new WritException(told.code(), told.found() + "; nothing was dispatched");
    }
  }

  private synchronized long attempts() {
    return attempts;
  }

  private synchronized void tried(Optional<WritException> why) {
    attempts++;
    away = why;
  }

  /** The requests, those that have waited longest first. */
  synchronized List<Digest> requests() {
    return List.copyOf(held.keySet());
  }

  private synchronized Optional<Unsigned> of(Digest request) {
    return Optional.ofNullable(held.get(request));
  }

  private synchronized void drop(Unsigned effect) {
    if (held.remove(effect.request()) != null) {
      bytes -= effect.bytes();
    }
  }

  /**
   * Signs the receipt of a request, where it is held and can be signed. The request's lock is held.
   *
   * @param run of the request
   * @return whether there is nothing to sign any more
   * @throws WritException as the ledger's
   */
  boolean sign(Digest request, Runs.Borrowed run) {
    Optional<Unsigned> effect = of(request);
    if (effect.isEmpty()) {
      return true;
    }
    Instant at = effect.get().finishedAt();
    if (latest.get().isAfter(at.plus(LONGEST))) {
      drop(effect.get());
      return true;
    }
    if (!maySign.test(at)) {
      return false; // another key has come meanwhile, whose time began later
    }
    try {
      effect.get().sign(run);
    } catch (WritException e) {
      if (e.code() == ExecutorError.RECEIPT_FAILED) {
        tried(Optional.of(e));
        return false;
      }
      throw e;
    }
    drop(effect.get());
    tried(Optional.empty());
    return true;
  }
}
