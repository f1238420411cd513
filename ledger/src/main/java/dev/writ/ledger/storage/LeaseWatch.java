package dev.writ.ledger.storage;

import java.time.Duration;

/** Shows who owns a log. */
public interface LeaseWatch extends AutoCloseable {

  /**
   * Who owns it.
   *
   * @param cell the number of the log in its database
   * @param epoch of its last opening by a writer
   * @param owner who took it last
   * @param address of that owner; empty where it had no lease
   * @param isHeld whether the lease runs
   * @param left how long, by the database's clock; zero where it does not
   */
  record Ownership(
      int cell, long epoch, String owner, String address, boolean isHeld, Duration left) {}

  /**
   * Asks the database.
   *
   * @throws dev.writ.canonicalize.WritException where it does not answer; the next call tries again
   */
  Ownership ask();

  @Override
  void close();
}
