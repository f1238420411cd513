package dev.writ.cli.command.serve;

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
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.home.Home;
import dev.writ.executor.Kernel;
import dev.writ.executor.journal.Tables;
import dev.writ.ledger.LedgerView;
import dev.writ.sinks.ConfiguredSink;
import dev.writ.sinks.error.SinkError;
import dev.writ.sinks.feed.SinkOrder;
import dev.writ.sinks.feed.SinkOrder.Action;
import dev.writ.sinks.feed.SinkOrders;
import dev.writ.sinks.feed.SinkState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/** {@code writ sink}: where executions are sent, and how far that is (spec/sinks.md). */
public final class SinkCommand implements CommandGroup {
  private static final Duration TAKEN_WITHIN = Duration.ofSeconds(10);
  private static final Duration LOOK_EVERY = Duration.ofMillis(50);

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
        "sink", "Show and steer the sinks to which a server sends what was executed.");
  }

  @Override
  public List<CliCommand> subcommands() {
    return List.of(
        new Lists(),
        new StatusOf(),
        new Ordered(Action.PAUSE, "Stop the deliveries of a sink until it is resumed."),
        new Ordered(Action.RESUME, "Go on with the deliveries of a sink."),
        new Ordered(
            Action.REPLAY, "Deliver what is in the log again; a target keeps one of each record."));
  }

  static CommandUsage configured(CommandUsage usage) {
    return usage.option(
        "--config", "FILE", "The server's configuration (default: gateway.yaml in the home).");
  }

  static List<ConfiguredSink> configured(Session session, Arguments arguments, Home home) {
    return ConfiguredSink.of(
        ServeCommand.file(session, arguments, home),
        session.environment(),
        ServeCommand.directory(arguments, home),
        Homes.clock());
  }

  /**
   * How a sink is, in a word.
   *
   * @param behind events of the log that were not read
   */
  static String word(SinkState state, long behind) {
    return state.paused()
        ? "paused"
        : state.trouble().isPresent() ? "failing" : behind == 0 ? "current" : "behind";
  }

  /** {@code writ sink list}. */
  static final class Lists implements CliCommand {
    @Override
    public CommandUsage usage() {
      return configured(CommandUsage.of("list", "List the sinks of the configuration.").list());
    }

    private record Listed(List<ConfiguredSink> sinks) implements Report {
      @Override
      public JsonValue toJson() {
        return JsonValue.object()
            .putList(
                "sinks",
                sinks,
                sink ->
                    JsonValue.object()
                        .put("name", sink.name())
                        .put("kind", sink.kind())
                        .put("target", sink.target())
                        .putIfPresent("tenant", sink.tenant(), JsonValue::of)
                        .build())
            .build();
      }
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Home home = Homes.home(session);
      session.show(new Listed(configured(session, arguments, home)), Lists::print);
      return ExitCode.OK;
    }

    private static void print(Listed listed, Terminal terminal) {
      Table table =
          new Table()
              .column("sink", Table.Fit.KEEP)
              .column("kind", Table.Fit.KEEP)
              .column("tenant", Table.Fit.CUT)
              .column("target", Table.Fit.CUT);
      for (ConfiguredSink sink : listed.sinks()) {
        table.row(
            Table.cell(sink.name()),
            Table.cell(sink.kind()),
            Table.cell(sink.tenant().orElse("all")),
            Table.cell(sink.target()));
      }
      terminal.print(table);
    }
  }

  /** {@code writ sink status}. */
  static final class StatusOf implements CliCommand {
    @Override
    public CommandUsage usage() {
      return configured(
          CommandUsage.of(
                  "status",
                  "Show how far each sink is, as the ledger has it: a few seconds old while a"
                      + " server runs.")
              .optionalArgument("NAME", "A sink (default: all).")
              .list());
    }

    /**
     * @param kind {@code –} if the configuration does not have it any more
     * @param behind events of the log that were not read
     * @param seconds age of the oldest of them
     */
    private record Status(String name, String kind, SinkState state, long behind, double seconds) {
      String word() {
        return SinkCommand.word(state, behind);
      }

      JsonValue.Obj toJson() {
        return JsonValue.object()
            .put("name", name)
            .put("kind", kind)
            .put("state", word())
            .put("position", state.position())
            .putIfPresent("last", state.last(), id -> JsonValue.of(id.toString()))
            .put("behind", behind)
            .put("seconds", Math.round(seconds))
            .put("delivered", state.delivered())
            .putIfPresent(
                "trouble",
                state.trouble(),
                t -> JsonValue.object().put("code", t.code()).put("since", t.since()).build())
            .build();
      }
    }

    private record Statuses(List<Status> all) implements Report {
      @Override
      public JsonValue toJson() {
        return JsonValue.object().putList("sinks", all, Status::toJson).build();
      }
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      TreeMap<String, String> kinds = new TreeMap<>();
      configured(session, arguments, Homes.home(session))
          .forEach(sink -> kinds.put(sink.name(), sink.kind()));
      Optional<String> name = arguments.optionalArgument("NAME");
      List<Status> all = Homes.read(session, ledger -> statuses(ledger, kinds));
      List<Status> asked =
          all.stream().filter(s -> name.isEmpty() || s.name().equals(name.get())).toList();
      if (name.isPresent() && asked.isEmpty()) {
        throw new WritException(SinkError.UNKNOWN, name.get());
      }
      session.show(new Statuses(asked), StatusOf::print);
      return ExitCode.OK;
    }

    private static List<Status> statuses(LedgerView ledger, TreeMap<String, String> kinds) {
      ledger.scan(
          Tables.SINK,
          "",
          (name, _) -> {
            kinds.putIfAbsent(name, "–");
            return true;
          });
      List<Status> all = new ArrayList<>();
      kinds.forEach((name, kind) -> {
        SinkState state = SinkState.of(ledger, name);
        long behind = Math.max(0, ledger.treeSize() - state.position());
        all.add(new Status(name, kind, state, behind, secondsBehind(ledger, state)));
      });
      return all;
    }

    private static double secondsBehind(LedgerView ledger, SinkState state) {
      List<Instant> oldest = new ArrayList<>();
      if (state.position() < ledger.treeSize()) {
        ledger.eventsByIndex(
            state.position(), state.position() + 1, (_, event) -> oldest.add(event.at()));
      }
      return oldest.isEmpty()
          ? 0
          : Math.max(
              0, Duration.between(oldest.getFirst(), Homes.clock().instant()).toMillis() / 1000.0);
    }

    private static void print(Statuses statuses, Terminal terminal) {
      Table table =
          new Table()
              .column("sink", Table.Fit.KEEP)
              .column("kind", Table.Fit.OMIT)
              .column("state", Table.Fit.KEEP)
              .numbers("position", Table.Fit.OMIT)
              .numbers("behind")
              .numbers("seconds")
              .numbers("delivered", Table.Fit.OMIT)
              .column("trouble", Table.Fit.KEEP);
      for (Status status : statuses.all()) {
        table.row(
            Table.cell(status.name()),
            Table.cell(status.kind()),
            Table.cell(
                status.word(), status.state().trouble().isPresent() ? Style.BAD : Style.GOOD),
            Table.cell(String.valueOf(status.state().position())),
            Table.cell(String.valueOf(status.behind())),
            Table.cell(String.valueOf(Math.round(status.seconds()))),
            Table.cell(String.valueOf(status.state().delivered())),
            Table.cell(
                status.state().trouble().map(t -> t.code() + " since " + t.since()).orElse("–")));
      }
      terminal.print(table);
    }
  }

  /** {@code writ sink pause}, {@code resume} and {@code replay}. */
  static final class Ordered implements CliCommand {
    private final Action action;
    private final String summary;

    Ordered(Action action, String summary) {
      this.action = action;
      this.summary = summary;
    }

    private String word() {
      return action.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public CommandUsage usage() {
      CommandUsage usage = CommandUsage.of(word(), summary).argument("NAME", "The sink.");
      return configured(
          action == Action.REPLAY
              ? usage.option("--from", "POSITION", "In the log (default: 0, its beginning).")
              : usage);
    }

    private record Done(String name, String what) implements Report {
      @Override
      public JsonValue toJson() {
        return JsonValue.object().put("name", name).put("sink", what).build();
      }
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Home home = Homes.home(session);
      String name = arguments.argument("NAME");
      long from =
          action == Action.REPLAY
              ? arguments.integer("--from", 0, JsonValue.Num.MAX_INTEGER).orElse(0L)
              : 0;
      SinkOrder order = new SinkOrder(action, from);
      boolean known =
          configured(session, arguments, home).stream().anyMatch(s -> s.name().equals(name));
      Homes.read(
          session,
          ledger -> {
            if (!known && ledger.get(Tables.SINK, name).isEmpty()) {
              throw new WritException(SinkError.UNKNOWN, name);
            }
            return order.applied(SinkState.of(ledger, name), ledger.treeSize());
          });
      follow(
          session,
          home,
          name,
          order,
          kernel -> {
            LedgerView ledger = kernel.ledger();
            SinkState next = order.applied(SinkState.of(ledger, name), ledger.treeSize());
            kernel.auxiliary().saveSink(name, next.toBytes());
          });
      session.show(
          new Done(name, word()),
          (done, terminal) -> terminal.out().println("sink " + done.name() + ": " + done.what()));
      return ExitCode.OK;
    }
  }

  /** Applies an order to the ledger where no server runs, and otherwise leaves it to the server. */
  static void follow(
      Session session, Home home, String name, SinkOrder order, Consumer<Kernel> apply) {
    Homes.write(
        session,
        open -> {
          apply.accept(open.kernel());
          return null;
        },
        server -> {
          SinkOrders orders = ServedSinks.orders(home);
          orders.leave(name, order);
          awaitTaken(orders, name);
          return null;
        });
  }

  private static void awaitTaken(SinkOrders orders, String name) {
    long until = System.nanoTime() + TAKEN_WITHIN.toNanos();
    try {
      while (orders.waits(name)) {
        if (System.nanoTime() - until > 0) {
          throw new WritException(SinkError.NOT_TAKEN, name);
        }
        Thread.sleep(LOOK_EVERY);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WritException(SinkError.NOT_TAKEN, name, e);
    }
  }
}
