package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.guardian.Accounts.Judged;
import dev.writ.guardian.Accounts.Row;
import dev.writ.guardian.policy.Policy;
import java.time.Instant;
import java.util.List;

/**
 * Judges with what spans runs: balances, rates and nonces. {@link Accounts} own them; a replay,
 * which sees one run, has {@link RecordedAccounts}.
 */
public interface Accounting {

  /** Judges a request and takes what it needs; the rows go into the decision's batch. */
  Judged judge(Admitted a, Circumstances c, Policy p, Trust trust, Instant now);

  /** What {@link #judge} would be given now, without taking anything. */
  JudgeInputs look(Admitted a, Circumstances c, Policy p, Trust trust, Instant now);

  /**
   * Replaces the reservation by what was measured, once the effect has its receipt.
   *
   * @param cpuMsMeasured a recorded input, see the receipt
   */
  List<Row> settle(Digest request, long cpuMsMeasured);

  /** Gives the reservation back: the effect failed before its dispatch. */
  List<Row> release(Digest request);

  /** Undoes the last step on a request: the batch that carried its rows was never committed. */
  void forget(Digest request);
}
