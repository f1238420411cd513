package dev.writ.replay.export;

import dev.writ.canonicalize.Digest;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.replay.export.parquet.ParquetColumn.Kind;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * A column of the table of outcomes, which CSV and Parquet have alike.
 *
 * @param kind what its values are: a {@link String}, {@link Instant} or {@link Long}
 * @param isOptional whether an outcome may have none
 */
record OutcomeColumn(
    String name, Kind kind, boolean isOptional, Function<ExportedOutcome, Optional<?>> value) {

  /** All of them, in their order. */
  static final List<OutcomeColumn> ALL =
      List.of(
          always("time", Kind.TIME, o -> o.event().at()),
          always("outcome", Kind.TEXT, o -> o.kind().text()),
          always("status", Kind.TEXT, ExportedOutcome::status),
          maybe("code", Kind.TEXT, ExportedOutcome::code),
          maybe("reason", Kind.TEXT, o -> o.receipt().map(Receipt::reason)),
          always("tenant", Kind.TEXT, o -> o.event().tenant()),
          always("run", Kind.TEXT, o -> o.event().run()),
          always("subject", Kind.TEXT, o -> o.request().scope().subject()),
          always("tool", Kind.TEXT, o -> o.request().effect().tool()),
          always("version", Kind.TEXT, o -> o.request().effect().version()),
          always("operation", Kind.TEXT, o -> o.request().effect().operation()),
          maybe("started_at", Kind.TIME, o -> o.receipt().map(Receipt::startedAt)),
          maybe("finished_at", Kind.TIME, o -> o.receipt().map(Receipt::finishedAt)),
          always("policy", Kind.TEXT, o -> o.decision().policy().toString()),
          always("request", Kind.TEXT, o -> o.decision().request().toString()),
          always("decision", Kind.TEXT, o -> decision(o).toString()),
          always("document", Kind.TEXT, o -> o.id().toString()),
          maybe(
              "output",
              Kind.TEXT,
              o -> o.receipt().flatMap(Receipt::output).map(Content::digest).map(Digest::toString)),
          maybe("lamport", Kind.NUMBER, o -> o.receipt().map(Receipt::lamport)),
          always("log_index", Kind.NUMBER, ExportedOutcome::index));

  private static OutcomeColumn always(
      String name, Kind kind, Function<ExportedOutcome, Object> value) {
    return new OutcomeColumn(name, kind, false, outcome -> Optional.of(value.apply(outcome)));
  }

  private static OutcomeColumn maybe(
      String name, Kind kind, Function<ExportedOutcome, Optional<?>> value) {
    return new OutcomeColumn(name, kind, true, value);
  }

  /** The decision under which it was executed or refused, or which the outcome is. */
  private static Digest decision(ExportedOutcome outcome) {
    return outcome
        .receipt()
        .map(Receipt::decision)
        .or(() -> outcome.refusal().map(Refusal::decision))
        .orElse(outcome.id());
  }
}
