package dev.writ.sinks.outcome;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.replay.export.ExportedOutcome;
import dev.writ.replay.export.TlogProofs;
import dev.writ.sinks.feed.RecordReader;
import java.util.Optional;
import java.util.function.LongFunction;

/** Reads the outcomes of all runs as proofs that they are in the log (spec/export.md, 11). */
public final class ProofReader implements RecordReader {
  private final LedgerView ledger;
  private final LongFunction<Checkpoint> covering;

  /**
   * @param covering the checkpoint of the least size that is so large or larger; it is made where
   *     there is none
   */
  public ProofReader(LedgerView ledger, LongFunction<Checkpoint> covering) {
    this.ledger = ledger;
    this.covering = covering;
  }

  @Override
  public Optional<Found> read(Event event) {
    if (!ExportedOutcome.isOutcome(event)) {
      return Optional.empty();
    }
    long index = ledger.indexOf(event.runId(), event.seq()).orElseThrow();
    return ExportedOutcome.of(ledger::document, index, event)
        .map(outcome -> new Found(outcome.request().scope(), proof(index, event)));
  }

  private JsonValue.Obj proof(long index, Event event) {
    Checkpoint checkpoint = covering.apply(index + 1);
    String proof =
        TlogProofs.proof(index, event, ledger.inclusionProof(index, checkpoint.size()), checkpoint);
    return JsonValue.object().put("proof", proof).build();
  }
}
