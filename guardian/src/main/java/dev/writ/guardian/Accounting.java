package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.guardian.Accounts.Judged;
import dev.writ.guardian.Accounts.Row;
import dev.writ.guardian.policy.Policy;
import java.time.Instant;
import java.util.List;

/**
 * Judges with the state that spans runs: balances, rates and nonces. {@link Accounts} own it; a
 * replay, which sees one run only, uses {@link RecordedAccounts}.
 */
public interface Accounting {

  /** Judges a request and reserves what it needs; the rows go into the decision's batch. */
  Judged judge(Admitted a, Circumstances c, Policy p, Trust trust, Instant now);

  /** The inputs that {@link #judge} would use now; reserves nothing. */
  JudgeInputs look(Admitted a, Circumstances c, Policy p, Trust trust, Instant now);

  /**
   * Settles: replaces the reservation by the measured use, once the effect has its receipt.
   *
   * @param cpuMsMeasured a recorded input, see the receipt
   */
  List<Row> settle(Digest request, long cpuMsMeasured);

  /** Releases the reservation: the effect was refused before its dispatch. */
  List<Row> release(Digest request);

  /** Says that the rows of the last step on a request are stored. */
  default void durable(Digest request) {}

  /** Undoes the last step on a request: the batch that carried its rows was never committed. */
  void forget(Digest request);
}
