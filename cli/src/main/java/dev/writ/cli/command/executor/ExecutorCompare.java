package dev.writ.cli.command.executor;

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
import dev.writ.cli.error.CliError;
import dev.writ.embed.home.ExecutorCard;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.executor.SystemState;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.document.Receipt;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * {@code writ executor compare}: holds the guardian's log and the executor's against each other.
 */
final class ExecutorCompare implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "compare",
            "Compare this log, a guardian's, with that of its executor: the system run, and the"
                + " receipts of each run in their order.",
            "A receipt that the guardian has asked for and not got yet is no difference.")
        .argument("DIR", "The executor's data directory, or a copy of it.")
        .example("executor compare executor");
  }

  /**
   * What agrees.
   *
   * @param awaited receipts of the executor whose effects the guardian has dispatched, and has no
   *     receipt of
   */
  record Agrees(long system, long runs, long receipts, long awaited) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("awaited", awaited)
          .put("receipts", receipts)
          .put("runs", runs)
          .put("system_events", system)
          .build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Home guardian = Homes.home(session);
    Home executor = guardian.at(Path.of(arguments.argument("DIR")));
    String kid = ExecutorCard.read(ExecutorCard.of(executor)).executor().kid();
    try (LedgerView here = OpenHome.read(guardian);
        LedgerView there = OpenHome.read(executor)) {
      session.show(
          compare(here, there, kid),
          (agrees, terminal) ->
              terminal
                  .out()
                  .println(
                      "in both logs: receipts "
                          + agrees.receipts()
                          + ", runs "
                          + agrees.runs()
                          + ", events of the system run "
                          + agrees.system()
                          + "; awaited: receipts "
                          + agrees.awaited()));
    }
    return ExitCode.OK;
  }

  /**
   * @param kid of the executor's key
   * @throws WritException {@code CLI-107}
   */
  private static Agrees compare(LedgerView here, LedgerView there, String kid) {
    long system = system(here, there);
    Map<RunId, List<Digest>> guardians = receipts(here, kid);
    Map<RunId, List<Digest>> executors = receipts(there, kid);
    long same = 0;
    long awaited = 0;
    for (Map.Entry<RunId, List<Digest>> run : executors.entrySet()) {
      List<Digest> known = guardians.getOrDefault(run.getKey(), List.of());
      for (int i = 0; i < run.getValue().size(); i++) {
        Digest receipt = run.getValue().get(i);
        if (i < known.size() && known.get(i).equals(receipt)) {
          same++;
        } else if (i >= known.size() && isAwaited(here, there, receipt)) {
          awaited++;
        } else {
          throw differ(
              run.getKey()
                  + ": receipt "
                  + (i + 1)
                  + " is "
                  + receipt
                  + " in the executor's log, "
                  + (i < known.size() ? known.get(i) : "none")
                  + " in the guardian's");
        }
      }
    }
    for (Map.Entry<RunId, List<Digest>> run : guardians.entrySet()) {
      int known = executors.getOrDefault(run.getKey(), List.of()).size();
      if (run.getValue().size() > known) {
        throw differ(
            run.getKey()
                + ": receipt "
                + (known + 1)
                + " is "
                + run.getValue().get(known)
                + " in the guardian's log, none in the executor's");
      }
    }
    return new Agrees(system, executors.size(), same, awaited);
  }

  /** The executor's copy is a beginning of the guardian's. */
  private static long system(LedgerView here, LedgerView there) {
    long[] same = {0};
    there.events(
        SystemState.RUN,
        0,
        event -> {
          if (here.event(SystemState.RUN, event.seq()).filter(event::equals).isEmpty()) {
            throw differ("event " + event.seq() + " of the system run is another one");
          }
          same[0]++;
        });
    return same[0];
  }

  /** By runs, in their order; those of an executor before this one are left out. */
  private static Map<RunId, List<Digest>> receipts(LedgerView ledger, String kid) {
    TreeMap<RunId, List<Digest>> all = new TreeMap<>();
    ledger.eventsByIndex(
        0,
        ledger.treeSize(),
        (_, event) -> {
          if (event.kind().equals(EventKind.RECEIPT_SIGNED) && isBy(ledger, event, kid)) {
            all.computeIfAbsent(event.runId(), _ -> new ArrayList<>()).add(event.body());
          }
        });
    return all;
  }

  private static boolean isBy(LedgerView ledger, Event event, String kid) {
    Envelope receipt =
        ledger.document(event.body()).orElseThrow(() -> differ("no document " + event.body()));
    return receipt.signatures().stream().anyMatch(signature -> signature.kid().equals(kid));
  }

  private static boolean isAwaited(LedgerView here, LedgerView there, Digest receipt) {
    Digest request = Receipt.read(there.document(receipt).orElseThrow().document()).request();
    return here.get(Tables.DISPATCHED, Tables.key(request)).isPresent();
  }

  private static WritException differ(String found) {
    return new WritException(CliError.LOGS_DIFFER, found);
  }
}
