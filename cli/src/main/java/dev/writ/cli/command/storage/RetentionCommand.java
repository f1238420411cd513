package dev.writ.cli.command.storage;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandGroup;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.home.HomeSurface;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.Text;
import dev.writ.embed.error.EmbedError;
import dev.writ.executor.SystemState;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.document.LegalHold;
import dev.writ.executor.retention.ContentRetention;
import dev.writ.executor.retention.RetentionPlan;
import dev.writ.ledger.LedgerView;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/** {@code writ retention}: what policy's section {@code retention} deletes, and has deleted. */
public final class RetentionCommand implements CommandGroup {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
        "retention", "Delete contents as the policy's rules say, or show which.");
  }

  @Override
  public List<CliCommand> subcommands() {
    return List.of(new Plan(), new Run(), new Status());
  }

  private static JsonValue rules(RetentionPlan plan) {
    return JsonValue.of(
        plan.rules().entrySet().stream()
            .map(rule ->
                JsonValue.object()
                    .put("rule", rule.getKey())
                    .put("contents", rule.getValue().kept())
                    .put("bytes", rule.getValue().keptBytes())
                    .put("doomed", rule.getValue().doomed())
                    .put("doomed_bytes", rule.getValue().doomedBytes())
                    .build())
            .toList());
  }

  private static void print(RetentionPlan plan, Terminal terminal) {
    if (plan.rules().isEmpty()) {
      terminal.out().println("the policy has no rules of retention: everything is kept");
      return;
    }
    Table table =
        new Table()
            .column("rule", Table.Fit.CUT)
            .numbers("contents")
            .numbers("bytes")
            .numbers("to delete")
            .numbers("bytes");
    for (Map.Entry<String, RetentionPlan.Sum> rule : plan.rules().entrySet()) {
      table.row(
          Table.cell(rule.getKey()),
          Table.cell(String.valueOf(rule.getValue().kept())),
          Table.cell(String.valueOf(rule.getValue().keptBytes())),
          Table.cell(String.valueOf(rule.getValue().doomed())),
          Table.cell(String.valueOf(rule.getValue().doomedBytes())));
    }
    terminal.print(table);
    terminal
        .out()
        .println(
            plan.needed()
                + " contents are old enough and stay: a hold, an effect without a known end,"
                + " another event or an upload needs them");
  }

  /** Bytes of all files below a directory. */
  static long bytesBelow(Path directory) {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, directory + ": " + e.getMessage(), e);
    }
  }

  record Planned(RetentionPlan plan, List<Erasure> pending) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("contents", plan.contents().size())
          .put("bytes", plan.bytes())
          .put("needed", plan.needed())
          .put("erasures", Erasure.json(pending))
          .put("rules", rules(plan))
          .build();
    }
  }

  /** {@code writ retention plan}. */
  static final class Plan implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
          "plan", "Show what would be deleted now.", "Only reads, also while a server runs.");
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      session.show(
          Homes.read(session, ledger -> new Planned(plan(ledger), pending(ledger))),
          (shown, terminal) -> {
            print(shown.plan(), terminal);
            shown.pending().forEach(erasure -> erasure.print(terminal));
          });
      return ExitCode.OK;
    }

    private static List<Erasure> pending(LedgerView ledger) {
      return Erasure.all(ledger).stream().filter(erasure -> erasure.done().isEmpty()).toList();
    }

    private static RetentionPlan plan(LedgerView ledger) {
      SystemState state = SystemState.read(ledger);
      return ContentRetention.plan(
          ledger, state.policyInForce(), state::isHeld, Homes.clock().instant());
    }
  }

  record Done(ContentRetention.Run run, long before, long after) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("contents", run.deleted().contents())
          .put("bytes", run.deleted().bytes())
          .put("statements", run.deleted().statements())
          .put("disk_before", before)
          .put("disk_after", after)
          .put("rules", rules(run.plan()))
          .build();
    }
  }

  /** {@code writ retention run}. */
  static final class Run implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
          "run",
          "Delete what the rules say; each deletion is a signed statement in the log.",
          "A server does it by itself as often as the section's every_s says.");
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Path data = Homes.home(session).ledger();
      long before = bytesBelow(data);
      ContentRetention.Run run =
          Homes.write(
              session,
              home -> home.kernel().contents().retain(home.kernel().now()),
              server -> {
                RetentionPlan plan = Homes.read(session, Plan::plan);
                Fields done = Fields.of("answer", server.order(HomeSurface.RETAIN, new byte[0]));
                return new ContentRetention.Run(
                    plan,
                    new ContentRetention.Deleted(
                        done.count("contents"), done.count("bytes"), done.count("statements")));
              });
      session.show(new Done(run, before, bytesBelow(data)), Run::print);
      return ExitCode.OK;
    }

    private static void print(Done done, Terminal terminal) {
      RetentionCommand.print(done.run().plan(), terminal);
      ContentRetention.Deleted deleted = done.run().deleted();
      terminal
          .out()
          .println(
              "deleted "
                  + deleted.contents()
                  + " contents, "
                  + deleted.bytes()
                  + " bytes, by "
                  + deleted.statements()
                  + " signed statements; on disk "
                  + done.before()
                  + " bytes before, "
                  + done.after()
                  + " after");
    }
  }

  /**
   * What one rule of one policy had deleted. Each run that names a content has a statement of its
   * own, and the content counts once for the deletion.
   */
  private static final class Sum {
    private final TreeSet<Digest> ofLast = new TreeSet<>();
    private long contents;
    private long bytes;
    private Instant last = Instant.EPOCH;

    void add(Deletion deletion) {
      if (!deletion.deletedAt().equals(last)) { // the statements of one deletion are of one time
        last = deletion.deletedAt();
        ofLast.clear();
      }
      for (Deletion.Item item : deletion.contents()) {
        if (ofLast.add(item.digest())) {
          contents++;
          bytes += item.size();
        }
      }
    }
  }

  /** An order of erasure, and when it was carried out. */
  private record Erasure(Digest order, String about, Optional<Instant> done) {
    static List<Erasure> all(LedgerView ledger) {
      return SystemState.read(ledger).erasures().entrySet().stream()
          .map(order ->
              new Erasure(
                  order.getKey(),
                  order.getValue().toString(),
                  ContentRetention.erasedAt(ledger, order.getKey())))
          .toList();
    }

    static JsonValue json(List<Erasure> all) {
      return JsonValue.of(
          all.stream()
              .map(erasure ->
                  JsonValue.object()
                      .put("order", erasure.order)
                      .put("about", erasure.about)
                      .putIfPresent("done", erasure.done, at -> JsonValue.of(Timestamps.format(at)))
                      .build())
              .toList());
    }

    void print(Terminal terminal) {
      terminal
          .out()
          .println(
              "erasure of "
                  + about
                  + ": "
                  + done.map(at -> "carried out at " + Timestamps.format(at))
                      .orElse("not carried out yet")
                  + ", order "
                  + order);
    }
  }

  record Found(
      TreeMap<String, Sum> rules,
      List<Erasure> erasures,
      List<LegalHold> holds,
      boolean purgePending)
      implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put(
              "rules",
              JsonValue.of(
                  rules.entrySet().stream()
                      .map(rule ->
                          JsonValue.object()
                              .put("rule", rule.getKey())
                              .put("contents", rule.getValue().contents)
                              .put("bytes", rule.getValue().bytes)
                              .put("last", rule.getValue().last)
                              .build())
                      .toList()))
          .put("erasures", Erasure.json(erasures))
          .putList("holds", holds, hold -> JsonValue.of(hold.name()))
          .putList("held", holds, LegalHold::toJson)
          .put("purge_pending", purgePending)
          .build();
    }
  }

  /** {@code writ retention status}. */
  static final class Status implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
          "status",
          "Show what was deleted so far, by which rules, and which holds are placed.",
          "Only reads, also while a server runs.");
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      session.show(Homes.read(session, Status::found), Status::print);
      return ExitCode.OK;
    }

    private static Found found(LedgerView ledger) {
      TreeMap<String, Sum> rules = new TreeMap<>();
      ledger.events(
          Deletion.RUN,
          0,
          event -> {
            Deletion deletion =
                Deletion.read(ledger.document(event.body()).orElseThrow().document());
            rules.computeIfAbsent(deletion.reason().name(), _ -> new Sum()).add(deletion);
          });
      return new Found(
          rules,
          Erasure.all(ledger),
          List.copyOf(SystemState.read(ledger).holds().values()),
          ledger.isPurgePending());
    }

    private static void print(Found found, Terminal terminal) {
      if (found.rules().isEmpty()) {
        terminal.out().println("nothing was deleted so far");
      } else {
        Table table =
            new Table()
                .column("rule", Table.Fit.CUT)
                .numbers("contents")
                .numbers("bytes")
                .column("last", Table.Fit.KEEP);
        found
            .rules()
            .forEach((rule, sum) ->
                table.row(
                    Table.cell(rule),
                    Table.cell(String.valueOf(sum.contents)),
                    Table.cell(String.valueOf(sum.bytes)),
                    Table.cell(Timestamps.format(sum.last))));
        terminal.print(table);
      }
      found.erasures().forEach(erasure -> erasure.print(terminal));
      found
          .holds()
          .forEach(hold ->
              terminal
                  .out()
                  .println(
                      Text.printable("hold: " + hold.name() + ", " + HoldCommand.inWords(hold))));
      if (found.purgePending()) {
        terminal
            .out()
            .println(
                "bytes of deleted contents may still be on disk: "
                    + Homes.name(terminal)
                    + " retention run removes them");
      }
    }
  }
}
