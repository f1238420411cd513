package dev.writ.cli.command.run;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.executor.journal.RunState;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.retention.ArchivedRuns;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code writ runs}. */
public final class RunsCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of("runs", "List the runs, with what keeps each from being closed.").list();
  }

  /**
   * @param bundle digest of the bundle in the archive that has the run's contents
   */
  record Entry(RunId id, RunState state, Event head, Optional<Digest> bundle) {
    JsonValue toJson() {
      return JsonValue.object()
          .put("tenant", id.tenant())
          .put("run", id.run())
          .put("events", head.seq() + 1)
          .put("head", head.id())
          .put("receipts", state.receipts())
          .put("last_receipt", state.lastReceipt())
          .put("pending", state.unfinished().pending())
          .put("running", state.unfinished().running())
          .put("in_doubt", state.unfinished().inDoubt())
          .put("closed", state.closed())
          .put("archived", bundle.isPresent())
          .putIfPresent("bundle", bundle, digest -> JsonValue.of(digest.toString()))
          .build();
    }
  }

  record Runs(List<Entry> entries) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object().putList("runs", entries, Entry::toJson).build();
    }
  }

  @Override
  public boolean endsAtOnce() {
    return true;
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    session.show(Homes.read(session, RunsCommand::find), RunsCommand::print);
    Homes.tellOfFormerCells(session);
    return ExitCode.OK;
  }

  private static Runs find(LedgerView ledger) {
    List<Entry> entries = new ArrayList<>();
    ledger.runs(id ->
        ledger
            .get(Tables.RUN, Tables.key(id.tenant(), id.run()))
            .map(RunState::parse)
            .ifPresent(state ->
                entries.add(
                    new Entry(
                        id,
                        state,
                        ledger.head(id).orElseThrow(),
                        ArchivedRuns.bundle(ledger, id)))));
    return new Runs(entries);
  }

  private static void print(Runs runs, Terminal terminal) {
    Instant now = Homes.clock().instant();
    Table table =
        new Table()
            .column("run", Table.Fit.CUT)
            .column("state", Table.Fit.KEEP)
            .numbers("events")
            .numbers("receipts")
            .numbers("pending")
            .numbers("running")
            .numbers("in doubt")
            .column("head", Table.Fit.OMIT)
            .column("last event", Table.Fit.KEEP);
    for (Entry entry : runs.entries()) {
      table.row(
          Table.cell(entry.id().tenant() + "/" + entry.id().run()),
          Table.cell(
              entry.bundle().isPresent() ? "archived" : entry.state().closed() ? "closed" : "open"),
          Table.cell(entry.head().seq() + 1),
          Table.cell(entry.state().receipts()),
          Table.cell(entry.state().unfinished().pending()),
          Table.cell(entry.state().unfinished().running()),
          Table.cell(entry.state().unfinished().inDoubt()),
          Table.id(entry.head().id(), Style.DIM),
          Table.time(entry.head().at(), now));
    }
    terminal.print(table);
  }
}
