package dev.writ.cli.command.cells;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.SystemWords;
import dev.writ.cli.error.CliError;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.executor.CellOperations;
import dev.writ.executor.Placements;
import dev.writ.executor.document.TenantMove;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.ledger.LedgerView;
import java.time.Duration;
import java.util.List;

/**
 * {@code writ cells move}: states that a tenant goes to another cell, and waits until it is there
 * (spec/cells.md, "Moving"). The owners of both cells do it, also where this ends before.
 */
final class CellsMove implements CliCommand {
  private static final long WAIT_S = 60;
  private static final long WAIT_MAX_S = 86_400;
  private static final Duration LOOKS_EVERY = Duration.ofMillis(100);

  @Override
  public CommandUsage usage() {
    return SystemWords.signer(
        SystemWords.options(
            CommandUsage.of(
                    "move",
                    "Move a tenant that has begun to another cell, and wait until it has arrived.",
                    "The gateways that own the two cells move it. Where the tenant is on its way to"
                        + " that cell already, this only waits. What there is of it stays in its"
                        + " former cell and is read there.")
                .argument("TENANT", "The tenant.")
                .argument("CELL", "The number of the cell where it goes, from 1.")
                .option(
                    "--wait",
                    "SECONDS",
                    "How long to wait for it; the move goes on afterwards (default: 60).")
                .example("cells move acme 3")));
  }

  /** A tenant that has arrived. */
  private record Arrived(String tenant, int cell, Digest statement) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("cell", cell)
          .put("statement", statement)
          .put("tenant", tenant)
          .build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    String tenant = arguments.argument("TENANT");
    int cell = CellsPlace.cell(arguments.argument("CELL"));
    Duration atMost = Duration.ofSeconds(arguments.integer("--wait", 0, WAIT_MAX_S).orElse(WAIT_S));
    session.meansSystem();
    Home home = Homes.home(session);
    if (cell >= home.cells()) {
      throw new WritException(ExecutorError.CELL_UNKNOWN, "cell " + cell + " of " + home.cells());
    }
    Digest statement = statement(session, arguments, home, tenant, cell);
    await(home, tenant, cell, statement, atMost);
    session.show(
        new Arrived(tenant, cell, statement),
        (arrived, terminal) ->
            terminal.out().println("tenant " + arrived.tenant() + " is in cell " + arrived.cell()));
    return ExitCode.OK;
  }

  /** The id of the statement by which it is on its way, stated now unless it was before. */
  private static Digest statement(
      Session session, Arguments arguments, Home home, String tenant, int cell) {
    Placements placed = Homes.inForce(session).placements();
    int from = placed.cellOf(tenant, home.cells());
    if (from == cell && placed.lastMove(tenant).isPresent()) {
      return placed.lastMove(tenant).get().statement();
    }
    Envelope signed =
        SystemWords.change(
            home, arguments, EventKind.TENANT_MOVED, new TenantMove(tenant, cell, from).toJson());
    SystemWords.send(session, arguments, List.of(signed));
    return signed.id();
  }

  private static void await(Home home, String tenant, int cell, Digest statement, Duration atMost) {
    long begun = System.nanoTime();
    try (LedgerView log = OpenHome.read(home.inCell(cell))) {
      while (!CellOperations.hasArrived(log, statement)) {
        if (System.nanoTime() - begun >= atMost.toNanos()) {
          throw new WritException(CliError.NOT_ARRIVED, "tenant " + tenant + " in cell " + cell);
        }
        Thread.sleep(LOOKS_EVERY);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WritException(CliError.NOT_ARRIVED, "tenant " + tenant + " in cell " + cell, e);
    }
  }
}
