package dev.writ.cli.command.run;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.EffectTable;
import dev.writ.cli.command.UntilStopped;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.home.Home;
import dev.writ.gateway.view.Effects;
import dev.writ.gateway.view.Sight;
import dev.writ.gateway.view.WaitingView;
import dev.writ.guardian.document.Scope;
import dev.writ.ledger.LedgerView;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** {@code writ approvals}: what waits for an approval, what has waited longest first. */
public final class ApprovalsCommand implements CliCommand {
  private static final Duration LOOK_EVERY = Duration.ofMillis(250);
  private static final String WAITS = "waits";

  /** It waits longer than policy lets it; somebody has to reject it. */
  private static final String LATE = "too late";

  /** Its tenant is in another cell now, where nobody answers it; here nobody can any more. */
  private static final String MOVED = "moved";

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "approvals",
            "List what waits for an approval: who asks for what, how long, and whose word is"
                + " missing.",
            "Reads the ledger itself, also while a server runs on it. `writ approve ID` shows one"
                + " whole, and asks.")
        .flag("--watch", "Go on with what comes, and with what became of it, until Ctrl-C.")
        .list();
  }

  @Override
  public boolean endsAtOnce() {
    return true;
  }

  /**
   * A request.
   *
   * @param state that it waits, that it did so for too long, or what became of it
   */
  record Row(WaitingView view, String state) {
    JsonValue.Obj toJson() {
      var json = JsonValue.object().put("tenant", view.request().scope().tenant());
      view.toJson().members().forEach(json::put);
      return json.put("state", state).build();
    }

    /** What of it is worth a line of its own when it changes. */
    String told() {
      return state + " " + WaitingHere.needed(view);
    }
  }

  private record Rows(List<Row> rows) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object().putList("waiting", rows, Row::toJson).build();
    }

    static Rows read(Home home, LedgerView ledger) {
      Instant now = Homes.clock().instant();
      return new Rows(
          WaitingHere.all(home, ledger).stream()
              .map(view -> new Row(view, state(view, now)))
              .toList());
    }

    private static String state(WaitingView view, Instant now) {
      if (view.movedTo().isPresent()) {
        return MOVED;
      }
      return view.isLate(now) ? LATE : WAITS;
    }

    boolean has(String state) {
      return rows.stream().anyMatch(row -> row.state().equals(state));
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Home home = Homes.home(session);
    if (arguments.has("--watch")) {
      try (UntilStopped until = new UntilStopped()) {
        return Homes.read(session, ledger -> new Watched(session, home, ledger).run(until));
      }
    }
    Rows rows = Homes.read(session, ledger -> Rows.read(home, ledger));
    session.show(rows, ApprovalsCommand::print);
    return ExitCode.OK;
  }

  private static void print(Rows rows, Terminal terminal) {
    Table table = table();
    rows.rows().forEach(row -> add(table, row));
    terminal.print(table, "Nothing waits for an approval.");
    if (rows.has(MOVED)) {
      terminal
          .err()
          .println(
              "What is moved waits in a cell that its tenant has left: nobody can answer it while"
                  + " the tenant is elsewhere, and its agent asks anew there.");
    }
    if (rows.has(LATE)) {
      terminal
          .err()
          .println(
              "What is too late is refused, whoever approves it, and keeps its run open until it is"
                  + " rejected: "
                  + Homes.name(terminal)
                  + " approve REQUEST --reject");
    }
  }

  private static Table table() {
    return new Table()
        .numbers("for")
        .column("subject", Table.Fit.CUT)
        .column("tool", Table.Fit.CUT)
        .column("arguments", Table.Fit.CUT)
        .column("needs", Table.Fit.CUT)
        .column("state", Table.Fit.KEEP)
        .column("request", Table.Fit.KEEP)
        .column("run", Table.Fit.OMIT)
        .column("operation", Table.Fit.OMIT)
        .column("tenant", Table.Fit.DATA)
        .column("version", Table.Fit.DATA)
        .column("on behalf of", Table.Fit.DATA)
        .column("cost", Table.Fit.DATA)
        .column("network", Table.Fit.DATA)
        .column("paths", Table.Fit.DATA)
        .column("since", Table.Fit.DATA)
        .column("until", Table.Fit.DATA)
        .column("policy", Table.Fit.DATA);
  }

  private static void add(Table table, Row row) {
    Instant now = Homes.clock().instant();
    WaitingView view = row.view();
    Scope scope = view.request().scope();
    var effect = view.request().effect();
    table.row(
        Table.cell(WaitingHere.length(Duration.between(view.since(), now))),
        Table.cell(scope.subject()),
        Table.cell(effect.tool()),
        Table.cell(new String(Jcs.write(effect.params()), StandardCharsets.UTF_8)),
        Table.cell(WaitingHere.needed(view)),
        Table.cell(row.state(), style(row.state())),
        Table.id(view.id(), Style.NAME),
        Table.cell(scope.run()),
        Table.cell(effect.operation()),
        Table.cell(scope.tenant()),
        Table.cell(effect.version()),
        Table.cell(String.join(" ", view.onBehalfOf())),
        view.cost().map(Table::cell).orElse(Table.none()),
        Table.cell(String.join(" ", view.network())),
        Table.cell(String.join(" ", view.paths())),
        Table.time(view.since(), now),
        Table.time(view.until(), now),
        Table.id(view.policy().digest(), Style.DIM));
  }

  private static Style style(String state) {
    return switch (state) {
      case WAITS -> Style.WARN;
      case LATE, MOVED -> Style.BAD;
      default -> Style.PLAIN;
    };
  }

  /** The list as it goes on. */
  private static final class Watched {
    private final Session session;
    private final Home home;
    private final LedgerView ledger;
    private final FollowedLedger followed;
    private final Effects effects;
    private final Table table = table();
    private Map<Digest, Row> waiting = new LinkedHashMap<>();

    Watched(Session session, Home home, LedgerView ledger) {
      this.session = session;
      this.home = home;
      this.ledger = ledger;
      this.followed = new FollowedLedger(home, ledger);
      this.effects = new Effects(ledger);
    }

    ExitCode run(UntilStopped until) {
      followed.refresh();
      changed().forEach(this::show);
      if (!session.json()) {
        session.terminal().print(table);
        table.drainCsv();
      }
      boolean isRead = session.terminal().printMore(table);
      while (isRead && session.terminal().isRead() && until.pause(LOOK_EVERY)) {
        if (followed.refresh() || hasBecomeLate()) {
          changed().forEach(this::show);
          isRead = session.terminal().printMore(table);
        }
      }
      return ExitCode.OK;
    }

    private boolean hasBecomeLate() {
      Instant now = Homes.clock().instant();
      return waiting.values().stream()
          .anyMatch(row -> row.state().equals(WAITS) && row.view().isLate(now));
    }

    /** What waits no more, what waits with more approvals, and what waits now. */
    private List<Row> changed() {
      Map<Digest, Row> now = new LinkedHashMap<>();
      Rows.read(home, ledger).rows().forEach(row -> now.put(row.view().id(), row));
      List<Row> changed = new ArrayList<>();
      waiting.forEach((id, row) -> {
        if (!now.containsKey(id)) {
          changed.add(new Row(row.view(), became(id)));
        }
      });
      now.forEach((id, row) -> {
        Row before = waiting.get(id);
        if (before == null || !before.told().equals(row.told())) {
          changed.add(row);
        }
      });
      waiting = now;
      return changed;
    }

    private String became(Digest id) {
      return effects
          .find(id, Sight.ALL)
          .map(shown -> EffectTable.outcome(shown.row()))
          .orElse("gone");
    }

    private void show(Row row) {
      if (session.json()) {
        session.terminal().out().writeBytes(Jcs.write(row.toJson()));
        session.terminal().out().println();
      } else {
        add(table, row);
      }
    }
  }
}
