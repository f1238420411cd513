package dev.writ.sinks.outcome;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.note.SignedRoot;
import dev.writ.replay.export.ExportedOutcome;
import dev.writ.sinks.feed.RecordReader;
import java.util.Base64;
import java.util.Optional;
import java.util.function.LongFunction;

/**
 * Reads the outcomes of all runs with receipts of COSE that they are in the log (spec/export.md, 13
 * to 16), and with what a statement of SCITT on each has.
 */
public final class ReceiptReader implements RecordReader {
  private final LedgerView ledger;
  private final LongFunction<SignedRoot> roots;

  /**
   * @param roots the signed root of the checkpoint of the least size that is so large or larger,
   *     and that the log's present key signed; it is made where there is none
   */
  public ReceiptReader(LedgerView ledger, LongFunction<SignedRoot> roots) {
    this.ledger = ledger;
    this.roots = roots;
  }

  @Override
  public Optional<Found> read(Event event) {
    if (!ExportedOutcome.isOutcome(event)) {
      return Optional.empty();
    }
    long index = ledger.indexOf(event.runId(), event.seq()).orElseThrow();
    return ExportedOutcome.of(ledger::document, index, event)
        .map(outcome -> new Found(outcome.request().scope(), fields(outcome)));
  }

  private JsonValue.Obj fields(ExportedOutcome outcome) {
    SignedRoot root = roots.apply(outcome.index() + 1);
    byte[] receipt =
        root.inclusion(
            outcome.index(),
            ledger.inclusionProof(outcome.index(), root.checkpoint().size()),
            outcome.event().toBytes());
    return JsonValue.object()
        .put("envelope", Jcs.parse(outcome.envelope().toBytes()))
        .put("receipt", Base64.getEncoder().encodeToString(receipt))
        .put("request", outcome.decision().request())
        .build();
  }
}
