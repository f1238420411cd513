package dev.writ.ledger.storage;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * What the owner of a log knows of its lease, by its own monotonic clock alone. It counts from
 * before a renewal was sent, so it ends here before it ends in the database, by the margin at
 * least. Once it is over it stays over. Thread safe.
 */
public final class Lease {
  private final long epoch;
  private final long usable;
  private final LongSupplier elapsed;
  private long since;
  private boolean over;

  /**
   * @param epoch of the opening that the lease belongs to
   * @param terms how long it is, and what the owner leaves unused of it
   * @param sentAt a reading of the same clock from before the lease was asked for, in nanoseconds
   */
  public Lease(long epoch, LeaseTerms terms, long sentAt) {
    this.epoch = epoch;
    this.usable = terms.length().minus(terms.margin()).toNanos();
    this.elapsed = terms.elapsed();
    this.since = sentAt;
  }

  /** Rises with each owner; what an owner of an earlier one does is refused. */
  public long epoch() {
    return epoch;
  }

  /**
   * The database has renewed it.
   *
   * @param sentAt a reading of the clock from before the renewal was sent
   * @return false where it was over before the answer came: then it stays over
   */
  public synchronized boolean renewed(long sentAt) {
    if (isOver()) {
      return false;
    }
    since = Math.max(since, sentAt);
    return true;
  }

  /** Whether nothing may be dispatched under it any more. */
  public synchronized boolean isOver() {
    over = over || elapsed.getAsLong() - since >= usable;
    return over;
  }

  /** Ends it, because the database says that there is another owner, or to give the log up. */
  public synchronized void end() {
    over = true;
  }

  /** How long something may still be dispatched; zero or less where it is over. */
  public synchronized Duration left() {
    return isOver() ? Duration.ZERO : Duration.ofNanos(usable - (elapsed.getAsLong() - since));
  }

  /**
   * @throws WritException {@code LED-076}
   */
  public void require() {
    if (isOver()) {
      throw new WritException(LedgerError.LEASE_OVER, "epoch " + epoch);
    }
  }
}
