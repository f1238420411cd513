package dev.writ.ledger.storage;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * For whom and for how long a log is taken.
 *
 * @param owner names the server to people
 * @param address by which other servers reach it
 * @param length by the database's clock, from each renewal
 * @param margin what the owner does not use of it: it covers that clocks do not run alike, and that
 *     time passes between the owner's last look at its clock and what a tool does
 * @param elapsed the owner's monotonic clock, in nanoseconds
 * @param over called once, from another thread, when the owner has lost the log; it returns soon
 */
public record LeaseTerms(
    String owner,
    String address,
    Duration length,
    Duration margin,
    LongSupplier elapsed,
    Runnable over) {
  public LeaseTerms {
    if (margin.isNegative() || margin.compareTo(length) >= 0) {
      throw new IllegalArgumentException("a margin of " + margin + " in " + length);
    }
  }
}
