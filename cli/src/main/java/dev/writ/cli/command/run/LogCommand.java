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
import dev.writ.cli.command.Since;
import dev.writ.cli.command.UntilStopped;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.home.Home;
import dev.writ.gateway.view.EffectPage;
import dev.writ.gateway.view.EffectQuery;
import dev.writ.gateway.view.EffectView;
import dev.writ.gateway.view.Effects;
import dev.writ.gateway.view.Sight;
import dev.writ.guardian.document.Verdict;
import dev.writ.ledger.LedgerView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** {@code writ log}: what agents asked for and what became of it, the latest last. */
public final class LogCommand implements CliCommand {
  private static final long ROWS = 50;
  private static final long ROWS_MAX = 1_000_000;
  private static final Duration LOOK_EVERY = Duration.ofMillis(250);

  /** Events that are looked at between two writes to the terminal. */
  private static final long PIECE = 2_000;

  /** Effects whose last printed row is kept, so that none is printed again unchanged. */
  private static final int PRINTED_MAX = 10_000;

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "log",
            "List effects: who asked for what, and what became of it, the latest last.",
            "Reads the ledger itself, also while a server runs on it. Times are UTC.")
        .flag("-f", "Go on with what comes, and with what changes, until Ctrl-C.")
        .flag("--denied", "Only those that were denied.")
        .flag("--waiting", "Only those that wait for an approval; with --denied either.")
        .option("--tool", "NAME", "Only those of this tool.")
        .option("--subject", "NAME", "Only those that this subject asked for.")
        .option("--run", "RUN", "Only those of this run.")
        .option("--code", "CODE", "Only those that ended with this code.")
        .option(
            "--since", "TIME", "Only those that came since: 15m, 2h, 1d, a date, or a time in UTC.")
        .option(
            "--text",
            "TEXT",
            "Only those with this text in a name, an id, a code, the reason or the parameters.")
        .option("--limit", "N", "At most so many, the latest ones (default: 50).")
        .list()
        .example("log --denied --since 1d")
        .example("log -f --tool sql");
  }

  @Override
  public boolean endsAtOnce() {
    return true;
  }

  /** Which effects are listed. */
  private record Wanted(EffectQuery query, boolean denied, boolean waiting) {
    static Wanted of(Arguments arguments) {
      return new Wanted(
          new EffectQuery(
              EffectQuery.LIMIT_MAX,
              Optional.empty(),
              Optional.empty(),
              arguments.option("--run"),
              arguments.option("--subject"),
              arguments.option("--tool"),
              Optional.empty(),
              Optional.empty(),
              arguments.option("--code"),
              arguments.option("--since").map(t -> Since.parse(t, Homes.clock().instant())),
              Optional.empty(),
              arguments.option("--text")),
          arguments.has("--denied"),
          arguments.has("--waiting"));
    }

    boolean ended(EffectView row) {
      return !denied && !waiting
          || denied && row.verdict() == Verdict.DENY
          || waiting && row.state() == EffectView.State.WAITING;
    }

    boolean matches(EffectView row, Effects effects) {
      return ended(row) && query.matches(row, true, () -> effects.params(row.request()));
    }
  }

  /**
   * The latest rows, the latest last.
   *
   * @param complete whether there are no earlier ones
   */
  private record Log(List<EffectView> rows, boolean complete) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .putList("effects", rows, row -> row.toJson(true))
          .put("complete", complete)
          .build();
    }

    static Log read(Effects effects, Wanted wanted, long limit) {
      List<EffectView> found = new ArrayList<>();
      EffectQuery query = wanted.query();
      Optional<Long> next;
      do {
        EffectPage page = effects.page(query, Sight.ALL);
        page.effects().stream()
            .map(EffectPage.Shown::row)
            .filter(wanted::ended)
            .forEach(found::add);
        next = page.nextBefore();
        if (next.isPresent()) {
          query = query.before(next.get());
        }
      } while (next.isPresent() && found.size() < limit);
      boolean more = next.isPresent() || found.size() > limit;
      List<EffectView> rows =
          new ArrayList<>(found.subList(0, (int) Math.min(limit, found.size())));
      Collections.reverse(rows);
      return new Log(rows, !more);
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Wanted wanted = Wanted.of(arguments);
    long limit = arguments.integer("--limit", 1, ROWS_MAX).orElse(ROWS);
    if (arguments.has("-f")) {
      Home home = Homes.home(session);
      try (UntilStopped until = new UntilStopped()) {
        return Homes.read(
            session, ledger -> new Followed(session, home, ledger, wanted).run(limit, until));
      }
    }
    Log log = Homes.read(session, ledger -> Log.read(new Effects(ledger), wanted, limit));
    session.show(log, LogCommand::print);
    return ExitCode.OK;
  }

  private static void print(Log log, Terminal terminal) {
    Table table = EffectTable.empty();
    log.rows().forEach(row -> EffectTable.add(table, row));
    terminal.print(table, "No such effects.");
    if (!log.complete() && terminal.outIsTerminal() && terminal.errIsTerminal()) {
      terminal.out().flush();
      terminal.err().println("earlier ones: --limit N, --since TIME");
    }
  }

  /** The list as it goes on. */
  private static final class Followed {
    private final Session session;
    private final LedgerView ledger;
    private final FollowedLedger followed;
    private final Wanted wanted;
    private final Effects effects;
    private final Table table = EffectTable.empty();
    private final Map<Digest, String> printed =
        new LinkedHashMap<>() {
          private static final long serialVersionUID = 1L;

          @Override
          protected boolean removeEldestEntry(Map.Entry<Digest, String> eldest) {
            return size() > PRINTED_MAX;
          }
        };

    Followed(Session session, Home home, LedgerView ledger, Wanted wanted) {
      this.session = session;
      this.ledger = ledger;
      this.followed = new FollowedLedger(home, ledger);
      this.wanted = wanted;
      this.effects = new Effects(ledger);
    }

    ExitCode run(long limit, UntilStopped until) {
      followed.refresh();
      long at = ledger.treeSize();
      for (EffectView row : Log.read(effects, wanted, limit).rows()) {
        printed.put(row.request(), state(row));
        EffectTable.add(table, row);
        line(row);
      }
      if (!session.json()) {
        session.terminal().print(table);
        table.drainCsv();
      }
      boolean isRead = session.terminal().printMore(table);
      while (isRead && session.terminal().isRead() && until.pause(LOOK_EVERY)) {
        if (followed.refresh()) {
          for (long end = ledger.treeSize(); isRead && at < end; ) {
            long to = Math.min(end, at + PIECE);
            effects.changes(at, to).forEach(change -> take(change.row()));
            isRead = session.terminal().printMore(table);
            at = to;
          }
        }
      }
      return ExitCode.OK;
    }

    private void take(EffectView row) {
      if (wanted.matches(row, effects) && !state(row).equals(printed.get(row.request()))) {
        printed.remove(row.request());
        printed.put(row.request(), state(row));
        if (session.json()) {
          line(row);
        } else {
          EffectTable.add(table, row);
        }
      }
    }

    private void line(EffectView row) {
      if (session.json()) {
        session.terminal().out().writeBytes(Jcs.write(row.toJson(true)));
        session.terminal().out().println();
      }
    }

    private static String state(EffectView row) {
      return row.state() + " " + row.receipt();
    }
  }
}
