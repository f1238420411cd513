package dev.writ.replay.export;

import dev.writ.ledger.event.Event;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.SignedRoot;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.InclusionPaths;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** Receipts of COSE (RFC 9942): the log's own signed proof that an outcome's event is in it. */
public final class CoseReceipts implements FileFormat {
  private final Function<Checkpoint, SignedRoot> log;

  /**
   * @param log signs the root of the bundle's checkpoint with the log's key, or refuses
   */
  public CoseReceipts(Function<Checkpoint, SignedRoot> log) {
    this.log = log;
  }

  @Override
  public void each(Bundle bundle, BiConsumer<Event, byte[]> taker) {
    outcomes(bundle, (outcome, receipt) -> taker.accept(outcome.event(), receipt));
  }

  /** Makes the receipt of each outcome of a verified bundle, in the order of the log. */
  void outcomes(Bundle bundle, BiConsumer<ExportedOutcome, byte[]> taker) {
    SignedRoot root = log.apply(bundle.checkpoint());
    InclusionPaths.each(
        bundle,
        ExportedOutcome::isOutcome,
        (index, event, path) ->
            ExportedOutcome.of(bundle, index, event)
                .ifPresent(outcome ->
                    taker.accept(outcome, root.inclusion(index, path, event.toBytes()))));
  }
}
