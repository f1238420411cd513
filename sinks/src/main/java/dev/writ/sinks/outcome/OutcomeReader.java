package dev.writ.sinks.outcome;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.replay.export.ExportedOutcome;
import dev.writ.replay.export.InTotoStatements;
import dev.writ.replay.export.JsonFormat;
import dev.writ.sinks.feed.RecordReader;
import dev.writ.sinks.file.FileSettings;
import java.util.Optional;
import java.util.function.Function;

/** Reads the outcomes of all runs, in a format of others (spec/export.md). */
public final class OutcomeReader implements RecordReader {
  private final LedgerView ledger;
  private final Function<ExportedOutcome, JsonValue.Obj> format;

  /**
   * @param format one of {@link FileSettings#FORMATS} without proofs; what is signed there is not
   *     signed yet
   */
  public OutcomeReader(LedgerView ledger, String format) {
    this.ledger = ledger;
    this.format =
        switch (format) {
          case FileSettings.IN_TOTO -> new InTotoStatements(ledger.origin())::of;
          case FileSettings.SCITT -> OutcomeReader::envelope;
          default -> JsonFormat.of(format, ledger.origin())::json;
        };
  }

  private static JsonValue.Obj envelope(ExportedOutcome outcome) {
    return JsonValue.object()
        .put("envelope", Jcs.parse(outcome.envelope().toBytes()))
        .put("request", outcome.decision().request())
        .build();
  }

  @Override
  public Optional<Found> read(Event event) {
    if (!ExportedOutcome.isOutcome(event)) {
      return Optional.empty();
    }
    long index = ledger.indexOf(event.runId(), event.seq()).orElseThrow();
    return ExportedOutcome.of(ledger::document, index, event)
        .map(outcome -> new Found(outcome.request().scope(), format.apply(outcome)));
  }
}
