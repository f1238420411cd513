package dev.writ.verify.audit;

import dev.writ.canonicalize.Digest;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.audit.OpenRun.Asked;

/**
 * Gets the state that follows from the events of runs. An audit compares it with the kernel's rows;
 * a bundle has no rows, so there it keeps which requests were served.
 */
interface RunRows {
  /** For requests of a run; none is marked. */
  RequestMarks marks();

  /** Whether such a row exists at this point. */
  boolean has(String table, String key);

  /** A request on which no further event follows. */
  void request(OpenRun run, Asked asked);

  void approval(Digest request, Digest approval);

  /** A receipt in doubt was resolved, by the document whose digest is the value. */
  void doubt(Digest receipt, byte[] value);

  /** An effect is dispatched. */
  void dispatched(Digest id, Request request, String place);

  /**
   * Whether a receipt that an effect of a run consumes is one that a kernel wrote.
   *
   * @param id of the document, which anybody can have made
   */
  boolean isWritten(RunId by, Digest id, Receipt receipt);

  /** An effect has its receipt. */
  void served(OpenRun run, Asked asked, Request request, Digest id, Receipt receipt);

  /** A run that is open at the end of the log. */
  void openRun(OpenRun run);

  /**
   * @param index of {@code run.closed} in the log
   */
  void closedRun(OpenRun run, long index);
}
