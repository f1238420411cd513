package dev.writ.cli.command.storage;

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
import dev.writ.cli.command.SystemWords;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.Text;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.HomeArchive;
import dev.writ.embed.home.OpenHome;
import dev.writ.executor.document.ErasureOrder;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.retention.ArchivedRuns;
import dev.writ.executor.retention.ErasureOutcome;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.RunId;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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
   * @param about what the order is about
   * @param came what it has come to, as the home's ledger says; absent where it is at another
   *     server, or where several cells have it
   * @param cells of several, those where the tenant is and was, which carry it out by themselves
   * @param archived bundles in the archive that have contents of it, in the clear, by run
   */
  record Ordered(
      Digest order,
      ErasureOrder about,
      Optional<ErasureOutcome> came,
      List<Integer> cells,
      SortedMap<RunId, Digest> archived,
      Optional<List<Digest>> unnamed)
      implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("order", order)
          .putIfPresent(
              "done", came.flatMap(ErasureOutcome::done), at -> JsonValue.of(Timestamps.format(at)))
          .putList("cells", cells, JsonValue::of)
          .putIfPresent("removed", came, outcome -> JsonValue.of(outcome.removed()))
          .putIfPresent("kept", came, outcome -> JsonValue.of(outcome.kept()))
          .putIfPresent("keys_destroyed", came, outcome -> JsonValue.of(outcome.keysDestroyed()))
          .putList(
              "archived",
              List.copyOf(archived.entrySet()),
              run ->
                  JsonValue.object()
                      .put("tenant", run.getKey().tenant())
                      .put("run", run.getKey().run())
                      .put("bundle", run.getValue())
                      .build())
          .putIfPresent(
              "unnamed",
              unnamed,
              bundles ->
                  JsonValue.of(bundles.stream().map(one -> JsonValue.of(one.toString())).toList()))
          .build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Optional<String> subject = arguments.option("--subject");
    Optional<String> run = arguments.option("--run");
    if (subject.isPresent() == run.isPresent()) {
      throw new WritException(CliError.USAGE, "name --subject or --run, and not both");
    }
    ErasureOrder order = new ErasureOrder(arguments.argument("TENANT"), subject, run);
    Envelope signed =
        SystemWords.change(
            Homes.home(session), arguments, EventKind.CONTENTS_ERASED, order.toJson());
    SystemWords.send(session, arguments, List.of(signed));
    boolean isHere = arguments.option("--server").isEmpty();
    List<Home> homes = isHere ? homesOf(Homes.home(session), order.tenant()) : List.of();
    boolean isOne = homes.size() == 1 && homes.getFirst().cells() == 1;
    Optional<ErasureOutcome> came =
        isOne
            ? Optional.of(Homes.read(session, ledger -> ErasureOutcome.of(ledger, signed.id())))
            : Optional.empty();
    SortedMap<RunId, Digest> archived = new TreeMap<>();
    homes.forEach(home -> archived.putAll(read(home, l -> ArchivedRuns.coveredBy(l, order))));
    session.show(
        new Ordered(
            signed.id(),
            order,
            came,
            isOne ? List.of() : homes.stream().map(Home::cell).toList(),
            archived,
            unnamed(homes)),
        EraseCommand::print);
    return ExitCode.OK;
  }

  /** The cells where the tenant is, and was before its moves: each has contents of its own. */
  private static List<Home> homesOf(Home home, String tenant) {
    if (home.cells() == 1) {
      return List.of(home);
    }
    return Stream.concat(
            Stream.of(OpenHome.cellOf(home, tenant)), OpenHome.formerCells(home, tenant).stream())
        .map(home::inCell)
        .toList();
  }

  private static <T> T read(Home home, Function<LedgerView, T> looked) {
    try (LedgerView ledger = OpenHome.read(home)) {
      return looked.apply(ledger);
    }
  }

  /** Empty where the archive cannot be looked at: the order stands all the same. */
  private static Optional<List<Digest>> unnamed(List<Home> homes) {
    try {
      return Optional.of(
          homes.stream()
              .flatMap(home -> read(home, new HomeArchive(home)::unnamed).stream())
              .distinct()
              .toList());
    } catch (WritException e) {
      return Optional.empty();
    }
  }

  private static void printUnnamed(Optional<List<Digest>> unnamed, Terminal terminal) {
    if (unnamed.isEmpty()) {
      terminal
          .out()
          .println(
              "the archive cannot be looked at now, and may have bundles that no statement names: "
                  + Homes.name(terminal)
                  + " archive list");
    }
    unnamed
        .orElse(List.of())
        .forEach(bundle ->
            terminal
                .out()
                .println(
                    "perhaps not erased: the archive has the bundle "
                        + bundle
                        + ", which no statement names; remove it if it is of this installation"));
  }

  private static void print(Ordered ordered, Terminal terminal) {
    terminal.out().println("order " + ordered.order());
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
    printUnnamed(ordered.unnamed(), terminal);
    terminal
        .out()
        .println(
            Text.printable(
                ordered
                    .came()
                    .map(outcome -> says(outcome, ordered, terminal))
                    .or(() -> inCells(ordered, terminal))
                    .orElse(
                        "given; retention status in that server's home says how far it is, archive"
                            + " list which bundles have contents of it")));
  }

  private static Optional<String> inCells(Ordered ordered, Terminal terminal) {
    return ordered.cells().isEmpty()
        ? Optional.empty()
        : Optional.of(
            "given; the cells of the tenant carry it out by themselves, as soon as their owners see"
                + " it: "
                + ordered.cells().stream()
                    .map(cell -> Homes.name(terminal) + " --cell " + cell + " retention status")
                    .collect(Collectors.joining(", "))
                + (ordered.cells().size() == 1 ? " says" : " say")
                + " how far it is");
  }

  private static String says(ErasureOutcome came, Ordered ordered, Terminal terminal) {
    if (came.done().isEmpty()) {
      return "not carried out yet: an effect, a request that can still be executed, a hold or a"
          + " call at work needs contents of it, or one that others use is damaged, which"
          + " fsck tells; so far "
          + numbers(came)
          + ". A server tries again every ten minutes, "
          + Homes.name(terminal)
          + " retention run at once";
    }
    String at = "carried out at " + Timestamps.format(came.done().get()) + ": ";
    if (came.isOfNothing() && ordered.archived().isEmpty()) {
      return at
          + "it covers nothing so far, since this ledger has no content of "
          + ordered.about()
          + "; is the name right?";
    }
    return at + numbers(came);
  }

  /** What is so of contents and keys, one by one. */
  private static String numbers(ErasureOutcome came) {
    return "contents removed: "
        + came.removed()
        + ", kept because others use them: "
        + came.kept()
        + ", keys destroyed: "
        + came.keysDestroyed();
  }
}
