package dev.writ.executor.stage;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.guardian.document.Receipt;
import java.util.Optional;

/**
 * A receipt that is on disk.
 *
 * @param envelope the signed receipt, the same bytes at every repeat
 * @param resolution the operator's signed statement, where the receipt was in doubt and is resolved
 * @param output the output's canonical bytes after success: always in the first answer, in a repeat
 *     only if they were retained
 * @param rawOutput the tool's output if the effect did not succeed; only in the first answer, even
 *     if nothing is retained
 * @param repeated whether this was served before
 */
public record Served(
    Envelope envelope,
    Receipt receipt,
    Optional<Envelope> resolution,
    Optional<byte[]> output,
    Optional<byte[]> rawOutput,
    boolean repeated) {

  /** The receipt alone, for a caller that may no longer read the output. */
  public Served withoutOutput() {
    return new Served(envelope, receipt, resolution, Optional.empty(), Optional.empty(), repeated);
  }

  public Digest id() {
    return envelope.id();
  }
}
