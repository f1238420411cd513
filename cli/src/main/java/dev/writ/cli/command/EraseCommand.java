package dev.writ.cli.command;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.Text;
import dev.writ.executor.document.ErasureOrder;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.retention.ArchivedRuns;
import dev.writ.executor.retention.ContentRetention;
import dev.writ.ledger.RunId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** {@code writ erase}: an operator's order that contents be erased, and their keys destroyed. */
public final class EraseCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return SystemWords.options(
        SystemWords.signer(
            CommandUsage.of(
                    "erase",
                    "Erase contents of a subject or of a run, and destroy the keys they lie under.",
                    "It cannot be undone. Documents, digests and proofs stay.")
                .argument("TENANT", "Whose contents.")
                .option("--subject", "SUBJECT", "What requests of this subject name and made.")
                .option("--run", "RUN", "What requests in this run name and made.")));
  }

  /**
   * @param done when it was carried out, as the home's ledger says; absent where it waits, or is at
   *     another server
   * @param archived bundles in the archive that have contents of it, in the clear, by run
   */
  record Ordered(
      Digest order, Optional<Instant> done, boolean isHere, SortedMap<RunId, Digest> archived)
      implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("order", order)
          .putIfPresent("done", done, at -> JsonValue.of(Timestamps.format(at)))
          .putList(
              "archived",
              List.copyOf(archived.entrySet()),
              run ->
                  JsonValue.object()
                      .put("tenant", run.getKey().tenant())
                      .put("run", run.getKey().run())
                      .put("bundle", run.getValue())
                      .build())
          .build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Optional<String> subject = arguments.option("--subject");
    Optional<String> run = arguments.option("--run");
    if (subject.isPresent() == run.isPresent()) {
      throw new WritException(CliError.USAGE, "one of --subject and --run is needed");
    }
    ErasureOrder order = new ErasureOrder(arguments.argument("TENANT"), subject, run);
    Envelope signed =
        SystemWords.change(
            Homes.home(session), arguments, EventKind.CONTENTS_ERASED, order.toJson());
    SystemWords.send(session, arguments, List.of(signed));
    boolean isHere = arguments.option("--server").isEmpty();
    Optional<Instant> done =
        isHere
            ? Homes.read(session, ledger -> ContentRetention.erasedAt(ledger, signed.id()))
            : Optional.empty();
    SortedMap<RunId, Digest> archived =
        isHere
            ? Homes.read(session, ledger -> ArchivedRuns.coveredBy(ledger, order))
            : new TreeMap<>();
    session.show(new Ordered(signed.id(), done, isHere, archived), EraseCommand::print);
    return ExitCode.OK;
  }

  private static void print(Ordered ordered, Terminal terminal) {
    terminal.out().println("order " + ordered.order());
    if (ordered.done().isPresent()) {
      terminal
          .out()
          .println(
              "carried out at "
                  + Timestamps.format(ordered.done().get())
                  + ": the contents are gone, and their keys destroyed");
    } else if (ordered.isHere()) {
      terminal
          .out()
          .println(
              "not carried out yet: an effect, a request that can still be executed, a hold or a"
                  + " call at work needs contents of it. A server tries again every ten minutes, "
                  + Homes.name()
                  + " retention run at once");
    } else {
      terminal
          .out()
          .println(
              "given; retention status in that server's home says how far it is, archive list which"
                  + " bundles have contents of it");
    }
    ordered
        .archived()
        .forEach((run, bundle) ->
            terminal
                .out()
                .println(
                    Text.printable(
                        "not erased: the archive has contents of it in the bundle "
                            + bundle
                            + " of "
                            + run
                            + "; remove that bundle")));
  }
}
