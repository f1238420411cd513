package dev.writ.verify.audit;

import dev.writ.canonicalize.Digest;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.verify.audit.OpenRun.Asked;

/**
 * Hears what the events of runs add up to. A ledger holds it against the rows that its kernel acts
 * on; a bundle has no rows, and remembers what was served.
 */
interface RunRows {
  /** Whether there is such a row by now. */
  boolean has(String table, String key);

  /** A request on which nothing more follows. */
  void request(OpenRun run, Asked asked);

  void approval(Digest request, Digest approval);

  /** A receipt in doubt was resolved, by the document whose digest is the value. */
  void doubt(Digest receipt, byte[] value);

  /** An effect is dispatched. */
  void dispatched(Digest id, Request request, String place);

  /** An effect has its receipt. */
  void served(OpenRun run, Asked asked, Request request, Digest id, Receipt receipt);

  /** A run that is open at the end of the log. */
  void openRun(OpenRun run);

  /**
   * @param index of {@code run.closed} in the log
   */
  void closedRun(OpenRun run, long index);
}
