package dev.writ.cli.command.storage;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandGroup;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.Since;
import dev.writ.cli.error.CliError;
import dev.writ.cli.home.ArchiveOrder;
import dev.writ.cli.home.HomeSurface;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.Text;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.HomeArchive;
import dev.writ.embed.home.InstalledTools;
import dev.writ.executor.SystemState;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.retention.ArchivedRuns;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.archive.ArchivePlace;
import dev.writ.ledger.event.RunId;
import dev.writ.tools.registry.ToolRegistry;
import dev.writ.verify.archive.ArchiveCheck;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/** {@code writ archive}: closed runs whose contents are kept as bundles elsewhere. */
public final class ArchiveCommand implements CommandGroup {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
        "archive", "Move closed runs to an archive, list what it has, and verify that.");
  }

  @Override
  public List<CliCommand> subcommands() {
    return List.of(new Move(), new Listing(), new Check());
  }

  private static List<RunId> named(Session session, Arguments arguments) {
    String tenant = arguments.option("--tenant").orElseGet(Homes.home(session)::tenant);
    return arguments.moreArguments("RUN").stream().map(run -> new RunId(tenant, run)).toList();
  }

  record Done(ArchiveOrder.Moved moved, long before, long after) implements Report {
    @Override
    public JsonValue toJson() {
      TreeMap<String, JsonValue> members = new TreeMap<>(moved.toJson().members());
      members.put("disk_before", JsonValue.of(before));
      members.put("disk_after", JsonValue.of(after));
      return new JsonValue.Obj(members);
    }
  }

  /** {@code writ archive run}. */
  static final class Move implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
              "run",
              "Keep the bundles of closed runs in the archive, and remove their contents from the"
                  + " ledger; each removal is a signed statement in the log.",
              "Policy has to allow it: archive_after_s in its section retention. Given again after"
                  + " a failure it goes on where it was.")
          .moreArguments("RUN", "The runs, see `writ runs`.")
          .option("--older-than", "TIME", "All runs that were closed before: 90d, 2026-11-24.")
          .option("--tenant", "TENANT", "Whose runs (default: the home's own tenant).")
          .option(
              "--to",
              "PLACE",
              "Where the archive is begun: a folder that is there, or s3://BUCKET/PREFIX. The home"
                  + " remembers it.")
          .example("archive run main --to /mnt/archive")
          .example("archive run --older-than 90d");
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      List<RunId> named = named(session, arguments);
      Optional<String> older = arguments.option("--older-than");
      if (named.isEmpty() == older.isEmpty()) {
        throw new WritException(CliError.USAGE, "name runs, or --older-than TIME");
      }
      Home home = Homes.home(session);
      List<RunId> runs =
          older
              .map(time -> {
                Instant before = Since.parse(time, Homes.clock().instant());
                String tenant = arguments.option("--tenant").orElseGet(home::tenant);
                return Homes.read(session, ledger -> closedBefore(ledger, tenant, before));
              })
              .orElse(named);
      ArchiveOrder order = new ArchiveOrder(runs, arguments.option("--to").map(Move::absolute));
      long before = RetentionCommand.bytesBelow(home.ledger());
      ArchiveOrder.Moved moved =
          Homes.write(
              session,
              order::work,
              server ->
                  ArchiveOrder.Moved.read(server.order(HomeSurface.ARCHIVE, order.toBytes())));
      session.show(
          new Done(moved, before, RetentionCommand.bytesBelow(home.ledger())), Move::print);
      return moved.kept().isEmpty() ? ExitCode.OK : ExitCode.REFUSED;
    }

    /** A server has another working directory. */
    private static String absolute(String place) {
      return place.contains("://") ? place : Path.of(place).toAbsolutePath().normalize().toString();
    }

    /** Those that are not archived yet. */
    private static List<RunId> closedBefore(LedgerView ledger, String tenant, Instant before) {
      List<RunId> runs = new ArrayList<>();
      ledger.runs(run ->
          ledger
              .head(run)
              .filter(head -> run.tenant().equals(tenant))
              .filter(head -> head.kind().equals(EventKind.RUN_CLOSED))
              .filter(head -> head.at().isBefore(before))
              .filter(_ -> ArchivedRuns.bundle(ledger, run).isEmpty())
              .ifPresent(_ -> runs.add(run)));
      return runs;
    }

    private static void print(Done done, Terminal terminal) {
      ArchiveOrder.Moved moved = done.moved();
      moved
          .archived()
          .forEach(line ->
              terminal
                  .out()
                  .println(Text.printable("archived " + line.run() + ": bundle " + line.text())));
      moved
          .kept()
          .forEach(line ->
              terminal
                  .out()
                  .println(Text.printable("not archived " + line.run() + ": " + line.text())));
      terminal
          .out()
          .println(
              "moved "
                  + moved.contents()
                  + " contents, "
                  + moved.bytes()
                  + " bytes, by "
                  + moved.statements()
                  + " signed statements; on disk "
                  + done.before()
                  + " bytes before, "
                  + done.after()
                  + " after");
    }
  }

  /**
   * An archived run.
   *
   * @param isThere whether the archive has a bundle of that name; what is in it is not looked at
   * @param held whether a hold keeps it, so that nobody removes the bundle
   * @param erased the orders of erasure that cover contents of it
   */
  record Entry(RunId run, Digest bundle, boolean isThere, boolean held, List<Digest> erased) {
    JsonValue toJson() {
      return JsonValue.object()
          .put("tenant", run.tenant())
          .put("run", run.run())
          .put("bundle", bundle)
          .put("there", isThere)
          .put("held", held)
          .putList("erased_by", erased, order -> JsonValue.of(order.toString()))
          .build();
    }

    String remarks() {
      List<String> remarks = new ArrayList<>();
      if (!isThere) {
        remarks.add("missing");
      }
      if (held) {
        remarks.add("held: do not remove it");
      }
      if (!erased.isEmpty() && isThere) {
        remarks.add("erased: remove it");
      }
      return remarks.isEmpty() ? "–" : String.join(", ", remarks);
    }
  }

  /**
   * @param unnamed bundles in the archive that this log does not name
   */
  record Listed(String place, List<Entry> entries, List<Digest> unnamed) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("archive", place)
          .putList("runs", entries, Entry::toJson)
          .putList("unnamed", unnamed, digest -> JsonValue.of(digest.toString()))
          .build();
    }
  }

  /** {@code writ archive list}. */
  static final class Listing implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
              "list",
              "List the archived runs and their bundles, and which of these are missing, held, or"
                  + " covered by an order of erasure.",
              "Only reads, also while a server runs.")
          .list();
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      ArchivePlace place = new HomeArchive(Homes.home(session)).place();
      place.require();
      session.show(Homes.read(session, ledger -> listed(ledger, place)), Listing::print);
      return ExitCode.OK;
    }

    private static Listed listed(LedgerView ledger, ArchivePlace place) {
      SystemState state = SystemState.read(ledger);
      TreeSet<Digest> there = new TreeSet<>();
      place.visit(there::add);
      SortedMap<RunId, Digest> all = ArchivedRuns.all(ledger);
      List<Entry> entries =
          all.entrySet().stream()
              .map(run ->
                  new Entry(
                      run.getKey(),
                      run.getValue(),
                      there.contains(run.getValue()),
                      state.isHeld(run.getKey()),
                      ArchivedRuns.erasedBy(ledger, run.getKey())))
              .toList();
      there.removeAll(all.values());
      return new Listed(place.address(), entries, List.copyOf(there));
    }

    private static void print(Listed listed, Terminal terminal) {
      Table table =
          new Table()
              .column("run", Table.Fit.CUT)
              .column("bundle", Table.Fit.KEEP)
              .column("remarks", Table.Fit.CUT);
      for (Entry entry : listed.entries()) {
        table.row(
            Table.cell(entry.run().toString()),
            Table.cell(entry.bundle().toString()),
            Table.cell(entry.remarks()));
      }
      terminal.print(table);
      listed
          .unnamed()
          .forEach(bundle ->
              terminal
                  .err()
                  .println(
                      bundle
                          + " is in the archive, and no statement names it: of a run that stayed,"
                          + " left by an attempt that ended early, or of another installation"));
    }
  }

  record Checked(List<ArchiveCheck.Line> lines) implements Report {
    /** A bundle that could not be read may be sound: the archive was away, or its disk full. */
    private static boolean isUnread(ArchiveCheck.Line line) {
      return line.problem().filter(e -> ExitCode.of(e.code()) == ExitCode.UNAVAILABLE).isPresent();
    }

    private long sound() {
      return lines.stream().filter(line -> line.problem().isEmpty()).count();
    }

    private long unread() {
      return lines.stream().filter(Checked::isUnread).count();
    }

    ExitCode exitCode() {
      if (sound() + unread() < lines.size()) {
        return ExitCode.BROKEN_INPUT;
      }
      return unread() > 0 ? ExitCode.UNAVAILABLE : ExitCode.OK;
    }

    String summary() {
      String read = sound() + " of " + lines.size() + " archived runs are sound";
      return unread() == 0
          ? read
          : read + "; of " + unread() + " nothing is known, since the archive did not give them";
    }

    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .putList(
              "runs",
              lines,
              line ->
                  JsonValue.object()
                      .put("tenant", line.run().tenant())
                      .put("run", line.run().run())
                      .put("bundle", line.bundle())
                      .putIfPresent("problem", line.problem(), e -> JsonValue.of(e.getMessage()))
                      .build())
          .build();
    }
  }

  /** {@code writ archive verify}. */
  static final class Check implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
              "verify",
              "Read bundles of archived runs back: that each is the one that the log names,"
                  + " verifies, is of this log, and has every content that was moved there.",
              "Only reads, also while a server runs.")
          .moreArguments("RUN", "The runs; all archived ones where none is named.")
          .option("--tenant", "TENANT", "Whose runs (default: the home's own tenant).");
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Home home = Homes.home(session);
      ArchivePlace place = new HomeArchive(home).place();
      InstalledTools tools = new InstalledTools(ToolRegistry.open(home.tools()), List.of());
      List<RunId> named = named(session, arguments);
      List<ArchiveCheck.Line> lines =
          Homes.read(session, ledger -> ArchiveCheck.of(ledger, place, tools, named));
      Checked checked = new Checked(lines);
      session.show(checked, Check::print);
      return checked.exitCode();
    }

    private static void print(Checked checked, Terminal terminal) {
      for (ArchiveCheck.Line line : checked.lines()) {
        terminal
            .out()
            .println(
                Text.printable(
                    line.run()
                        + ": "
                        + line.problem()
                            .map(WritException::getMessage)
                            .orElse("verified, bundle " + line.bundle())));
      }
      terminal.out().println(checked.summary());
    }
  }
}
