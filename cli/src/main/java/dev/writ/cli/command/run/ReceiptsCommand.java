package dev.writ.cli.command.run;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.NearWord;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Status;
import dev.writ.ledger.LedgerView;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** {@code writ receipts}: what was done, run by run in the order of the chain. */
public final class ReceiptsCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of("receipts", "List receipts, in the order of each run's chain.")
        .option("--run", "RUN", "Only those of this run.")
        .option("--last", "N", "At most so many, the latest of all (default: 50).")
        .list()
        .example("receipts --run main --last 10");
  }

  record Entry(Digest id, Receipt receipt) {
    JsonValue toJson() {
      return JsonValue.object().put("id", id).put("receipt", receipt.toJson()).build();
    }
  }

  record Receipts(List<Entry> entries) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object().putList("receipts", entries, Entry::toJson).build();
    }
  }

  @Override
  public boolean endsAtOnce() {
    return true;
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    session.show(
        Homes.readOne(session, (_, ledger) -> find(ledger, arguments)), ReceiptsCommand::print);
    if (arguments.option("--run").isEmpty()) {
      Homes.tellOfFormerCells(session);
    }
    return ExitCode.OK;
  }

  private static Receipts find(LedgerView ledger, Arguments arguments) {
    Optional<String> run = arguments.option("--run");
    long last = arguments.integer("--last", 1, 1_000_000).orElse(50L);
    List<Entry> entries = new ArrayList<>();
    run.ifPresent(name -> requireRun(ledger, name));
    ledger.runs(id -> {
      if (run.filter(name -> !name.equals(id.run())).isPresent()) {
        return;
      }
      ArrayDeque<Digest> latest = new ArrayDeque<>();
      ledger.scan(
          Tables.RECEIPTS,
          Tables.prefix(id.tenant(), id.run()),
          (_, value) -> {
            latest.addLast(Digest.ofBytes(value));
            if (latest.size() > last) {
              latest.removeFirst();
            }
            return true;
          });
      latest.forEach(receipt ->
          entries.add(
              new Entry(receipt, Receipt.read(ledger.document(receipt).orElseThrow().document()))));
      keepLatest(entries, last);
    });
    return new Receipts(entries);
  }

  /** Those that finished last, in the order that they have. */
  private static void keepLatest(List<Entry> entries, long most) {
    if (entries.size() <= most) {
      return;
    }
    Set<Digest> kept =
        entries.stream()
            .sorted(Comparator.comparing((Entry e) -> e.receipt().finishedAt()).reversed())
            .limit(most)
            .map(Entry::id)
            .collect(Collectors.toSet());
    entries.removeIf(entry -> !kept.contains(entry.id()));
  }

  private static void requireRun(LedgerView ledger, String name) {
    TreeSet<String> runs = new TreeSet<>();
    ledger.runs(id -> runs.add(id.run()));
    if (!runs.contains(name)) {
      String near = NearWord.of(name, runs).map(run -> "; did you mean " + run + "?").orElse("");
      throw Homes.notFound("the run " + name + near);
    }
  }

  static void print(Receipts receipts, Terminal terminal) {
    Instant now = Homes.clock().instant();
    Table table =
        new Table()
            .column("run", Table.Fit.CUT)
            .numbers("lamport")
            .column("receipt", Table.Fit.KEEP)
            .column("prev", Table.Fit.OMIT)
            .column("tool", Table.Fit.CUT)
            .column("status", Table.Fit.KEEP)
            .column("finished", Table.Fit.OMIT);
    for (Entry entry : receipts.entries()) {
      Receipt receipt = entry.receipt();
      boolean good = receipt.status() == Status.SUCCEEDED;
      table.row(
          Table.cell(receipt.scope().tenant() + "/" + receipt.scope().run()),
          Table.cell(receipt.lamport()),
          Table.id(entry.id(), Style.NAME),
          Table.id(receipt.prev(), Style.DIM),
          Table.cell(receipt.tool().name()),
          Table.cell(receipt.status().text(), good ? Style.GOOD : Style.BAD),
          Table.time(receipt.finishedAt(), now));
    }
    terminal.print(
        table, "No receipts yet. Try: " + Homes.name(terminal) + " run js --param source='6*7'");
  }
}
