package dev.writ.cli.command;

import dev.writ.cli.base.Homes;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Table;
import dev.writ.gateway.view.EffectView;
import dev.writ.guardian.document.Status;
import java.time.Instant;
import java.util.Optional;

/** Effects as the rows of a table. */
public final class EffectTable {
  private EffectTable() {}

  /** The columns, without a row. */
  public static Table empty() {
    return new Table()
        .column("received", Table.Fit.KEEP)
        .column("outcome", Table.Fit.KEEP)
        .column("subject", Table.Fit.CUT)
        .column("tool", Table.Fit.CUT)
        .column("code", Table.Fit.KEEP)
        .column("request", Table.Fit.KEEP)
        .numbers("ms", Table.Fit.OMIT)
        .column("run", Table.Fit.OMIT)
        .column("operation", Table.Fit.OMIT)
        .column("tenant", Table.Fit.DATA)
        .column("version", Table.Fit.DATA)
        .column("surface", Table.Fit.DATA)
        .column("verdict", Table.Fit.DATA)
        .column("state", Table.Fit.DATA)
        .column("cost", Table.Fit.DATA)
        .column("decided", Table.Fit.DATA)
        .column("finished", Table.Fit.DATA)
        .column("decision", Table.Fit.DATA)
        .column("receipt", Table.Fit.DATA)
        .column("reason", Table.Fit.DATA)
        .column("index", Table.Fit.DATA);
  }

  /** Adds the row of an effect. */
  public static void add(Table table, EffectView row) {
    Instant now = Homes.clock().instant();
    table.row(
        Table.time(row.receivedAt(), now),
        Table.cell(outcome(row), style(row)),
        Table.cell(row.scope().subject()),
        Table.cell(row.tool()),
        text(row.code()),
        Table.id(row.request(), Style.NAME),
        text(row.durationMs().map(String::valueOf)),
        Table.cell(row.scope().run()),
        Table.cell(row.operation()),
        Table.cell(row.scope().tenant()),
        Table.cell(row.version()),
        text(row.surface()),
        Table.cell(row.verdict().name()),
        Table.cell(row.state().text()),
        text(row.cost().map(String::valueOf)),
        Table.time(row.decidedAt(), now),
        row.finishedAt().map(at -> Table.time(at, now)).orElse(Table.none()),
        Table.id(row.decision(), Style.DIM),
        row.receipt().map(id -> Table.id(id, Style.DIM)).orElse(Table.none()),
        text(row.reason()),
        Table.cell(row.index()));
  }

  private static Table.Cell text(Optional<String> text) {
    return text.map(Table::cell).orElse(Table.none());
  }

  /** One word for what became of it. */
  public static String outcome(EffectView row) {
    return switch (row.state()) {
      case JUDGED -> "allowed";
      case DONE -> row.outcome().map(EffectTable::end).orElse("done");
      case WAITING, EXECUTING, REFUSED, IN_DOUBT, DENIED -> row.state().text().replace('_', ' ');
    };
  }

  /** One that was in doubt and is done was resolved by an operator. */
  private static String end(Status status) {
    return status == Status.IN_DOUBT ? "resolved" : status.text().replace('_', ' ');
  }

  static Style style(EffectView row) {
    return switch (row.state()) {
      case JUDGED, EXECUTING -> Style.PLAIN;
      case WAITING, IN_DOUBT -> Style.WARN;
      case DONE -> row.outcome().equals(Optional.of(Status.SUCCEEDED)) ? Style.GOOD : Style.BAD;
      case REFUSED, DENIED -> Style.BAD;
    };
  }
}
