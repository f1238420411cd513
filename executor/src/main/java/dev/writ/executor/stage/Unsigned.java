package dev.writ.executor.stage;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.journal.Runs;
import java.time.Instant;
import java.util.function.Consumer;

/**
 * An effect that ended, whose dispatch is durable and whose receipt could not be signed.
 *
 * @param finishedAt the time that its receipt has
 * @param bytes how much of what it gave is in memory
 * @param receipt signs and commits it, once; throws {@code EXE-801} where it cannot be signed
 */
public record Unsigned(
    Digest request, Instant finishedAt, long bytes, Consumer<Runs.Borrowed> receipt) {

  /**
   * Whoever has the request's lock signs it.
   *
   * @param run of the request
   * @throws WritException {@code EXE-801}, and as the ledger's
   */
  public void sign(Runs.Borrowed run) {
    receipt.accept(run);
  }
}
