package dev.writ.cli.command.serve;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandGroup;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.PrettyJson;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.home.Home;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.sinks.ConfiguredSink;
import dev.writ.sinks.Sinks;
import dev.writ.sinks.error.SinkError;
import dev.writ.sinks.feed.DeadLetters;
import dev.writ.sinks.feed.RecordId;
import dev.writ.sinks.feed.RecordSource;
import dev.writ.sinks.feed.SinkOrder;
import dev.writ.sinks.feed.SinkOrder.Action;
import dev.writ.sinks.feed.SinkRecord;
import dev.writ.sinks.feed.SinkState;
import dev.writ.sinks.incident.IncidentFeed;
import dev.writ.sinks.webhook.CloudEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/** {@code writ incident}: what policy denied and what went wrong (spec/incidents.md). */
public final class IncidentCommand implements CommandGroup {
  private static final long LISTED = 20;
  private static final long LISTED_MAX = 10_000;

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
        "incident", "Show incidents of executions, and send them to a webhook again.");
  }

  @Override
  public List<CliCommand> subcommands() {
    return List.of(new Lists(), new Shown(), new Resent());
  }

  /** What reads incidents, and the webhooks of the configuration. */
  private record Incidents(GatewayConfig config, List<ConfiguredSink> webhooks) {
    static Incidents of(Session session, Arguments arguments) {
      Home home = Homes.home(session);
      return new Incidents(
          ServeCommand.file(session, arguments, home),
          SinkCommand.configured(session, arguments, home).stream()
              .filter(sink -> sink.messages().filter(IncidentFeed.class::isInstance).isPresent())
              .toList());
    }

    /** All incidents, whichever of them a webhook gets. */
    RecordSource source(LedgerView ledger) {
      IncidentFeed all = new IncidentFeed(new TreeSet<>(), config.extras().alerts(), Duration.ZERO);
      return new RecordSource(ledger, all.reader(ledger), Optional.empty());
    }

    SinkRecord require(LedgerView ledger, String id) {
      if (!id.matches("[0-9]{1,18}-[0-9]{1,18}")) {
        throw new WritException(SinkError.NO_INCIDENT, id);
      }
      RecordId wanted = RecordId.parse(id);
      return source(ledger)
          .record(wanted.index())
          .filter(record -> record.id().equals(wanted))
          .orElseThrow(() -> new WritException(SinkError.NO_INCIDENT, id));
    }

    List<Delivery> deliveries(LedgerView ledger, SinkRecord incident) {
      return webhooks.stream()
          .filter(hook -> gets(ledger, hook, incident))
          .map(hook -> Delivery.of(ledger, hook.name(), incident.id()))
          .toList();
    }
  }

  /** A webhook may get only some kinds, or only those of one tenant. */
  private static boolean gets(LedgerView ledger, ConfiguredSink hook, SinkRecord incident) {
    return Sinks.source(ledger, hook).record(incident.id().index()).isPresent();
  }

  /**
   * What became of an incident in a webhook.
   *
   * @param word {@code read} where the webhook is past it: delivered, or from before its time
   */
  private record Delivery(String webhook, String word, Optional<String> code) {
    static Delivery of(LedgerView ledger, String webhook, RecordId id) {
      Optional<DeadLetters.Letter> letter =
          DeadLetters.of(ledger, webhook).stream().filter(l -> l.id().equals(id)).findFirst();
      return letter
          .map(l -> new Delivery(webhook, l.due() ? "again" : "dead", l.code()))
          .orElseGet(() -> {
            boolean read = id.index() < SinkState.of(ledger, webhook).position();
            return new Delivery(webhook, read ? "read" : "waits", Optional.empty());
          });
    }

    boolean isDead() {
      return word.equals("dead");
    }

    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("webhook", webhook)
          .put("state", word)
          .putIfPresent("code", code, JsonValue::of)
          .build();
    }

    String text() {
      return webhook + ": " + word + code.map(c -> " " + c).orElse("");
    }
  }

  private record Incident(SinkRecord record, List<Delivery> deliveries) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("event", Jcs.parse(CloudEvent.INCIDENT.bytes(record)))
          .putList("deliveries", deliveries, Delivery::toJson)
          .build();
    }
  }

  /** {@code writ incident list}. */
  static final class Lists implements CliCommand {
    @Override
    public CommandUsage usage() {
      return SinkCommand.configured(
          CommandUsage.of("list", "List the latest incidents of the log, the last one first.")
              .flag("--dead", "Only those that a webhook gave up on.")
              .option("--limit", "N", "How many (default: 20).")
              .list());
    }

    private record Listed(List<Incident> incidents) implements Report {
      @Override
      public JsonValue toJson() {
        return JsonValue.object().putList("incidents", incidents, Incident::toJson).build();
      }
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Incidents incidents = Incidents.of(session, arguments);
      long limit = arguments.integer("--limit", 1, LISTED_MAX).orElse(LISTED);
      boolean dead = arguments.has("--dead");
      session.show(
          Homes.read(session, ledger -> listed(ledger, incidents, limit, dead)), Lists::print);
      return ExitCode.OK;
    }

    private static Listed listed(LedgerView ledger, Incidents incidents, long limit, boolean dead) {
      RecordSource source = incidents.source(ledger);
      List<Incident> found = new ArrayList<>();
      for (long at = ledger.treeSize() - 1; at >= 0 && found.size() < limit; at--) {
        source
            .record(at)
            .map(record -> new Incident(record, incidents.deliveries(ledger, record)))
            .filter(one -> !dead || one.deliveries().stream().anyMatch(Delivery::isDead))
            .ifPresent(found::add);
      }
      return new Listed(found);
    }

    private static void print(Listed listed, Terminal terminal) {
      Table table =
          new Table()
              .column("incident", Table.Fit.KEEP)
              .column("time", Table.Fit.KEEP)
              .column("kind", Table.Fit.KEEP)
              .column("code", Table.Fit.CUT)
              .column("tenant", Table.Fit.CUT)
              .column("tool", Table.Fit.CUT)
              .column("webhooks", Table.Fit.CUT);
      Instant now = Homes.clock().instant();
      for (Incident incident : listed.incidents()) {
        SinkRecord record = incident.record();
        table.row(
            Table.cell(record.id().toString()),
            Table.time(record.at(), now),
            Table.cell(record.text("kind")),
            Table.cell(record.text("code")),
            Table.cell(record.scope().tenant()),
            Table.cell(record.text("toolId")),
            Table.cell(
                incident.deliveries().isEmpty()
                    ? "–"
                    : String.join(
                        ", ", incident.deliveries().stream().map(Delivery::text).toList()),
                incident.deliveries().stream().anyMatch(Delivery::isDead)
                    ? Style.BAD
                    : Style.GOOD));
      }
      terminal.print(table);
    }
  }

  /** {@code writ incident show}. */
  static final class Shown implements CliCommand {
    @Override
    public CommandUsage usage() {
      return SinkCommand.configured(
          CommandUsage.of("show", "Show an incident as it is sent, and what became of it.")
              .argument("ID", "For example 1-4711."));
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Incidents incidents = Incidents.of(session, arguments);
      String id = arguments.argument("ID");
      session.show(
          Homes.read(
              session,
              ledger -> {
                SinkRecord record = incidents.require(ledger, id);
                return new Incident(record, incidents.deliveries(ledger, record));
              }),
          (incident, terminal) -> {
            PrettyJson.lines(Jcs.parse(CloudEvent.INCIDENT.bytes(incident.record())))
                .forEach(terminal.out()::println);
            incident.deliveries().forEach(delivery -> terminal.out().println(delivery.text()));
          });
      return ExitCode.OK;
    }
  }

  /** {@code writ incident resend}. */
  static final class Resent implements CliCommand {
    @Override
    public CommandUsage usage() {
      return SinkCommand.configured(
          CommandUsage.of(
                  "resend",
                  "Have an incident sent again, once: by the running server, or by the next one.")
              .argument("ID", "For example 1-4711.")
              .option("--to", "NAME", "A webhook (default: the only one)."));
    }

    private record Asked(String id, String webhook) implements Report {
      @Override
      public JsonValue toJson() {
        return JsonValue.object().put("incident", id).put("webhook", webhook).build();
      }
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Incidents incidents = Incidents.of(session, arguments);
      ConfiguredSink hook = webhook(incidents, arguments.option("--to"));
      String webhook = hook.name();
      String id = arguments.argument("ID");
      SinkRecord record =
          Homes.read(
              session,
              ledger ->
                  Optional.of(incidents.require(ledger, id))
                      .filter(found -> gets(ledger, hook, found))
                      .orElseThrow(() ->
                          new WritException(
                              SinkError.NO_INCIDENT, id + " is none that " + webhook + " gets")));
      SinkCommand.follow(
          session,
          Homes.home(session),
          webhook,
          new SinkOrder(Action.RESEND, record.id().index()),
          kernel ->
              DeadLetters.again(
                  kernel.ledger(),
                  webhook,
                  kernel.auxiliary()::saveDeadLetter,
                  record.id(),
                  Homes.clock().instant()));
      session.show(
          new Asked(record.id().toString(), webhook),
          (asked, terminal) ->
              terminal.out().println("incident " + asked.id() + ": again to " + asked.webhook()));
      return ExitCode.OK;
    }

    private static ConfiguredSink webhook(Incidents incidents, Optional<String> named) {
      List<ConfiguredSink> all = incidents.webhooks();
      List<String> names = all.stream().map(ConfiguredSink::name).toList();
      if (named.isEmpty() && all.size() == 1) {
        return all.getFirst();
      }
      return all.stream()
          .filter(hook -> named.filter(hook.name()::equals).isPresent())
          .findFirst()
          .orElseThrow(() ->
              new WritException(
                  SinkError.UNKNOWN,
                  named.orElse("no --to") + ", the webhooks are " + String.join(", ", names)));
    }
  }
}
