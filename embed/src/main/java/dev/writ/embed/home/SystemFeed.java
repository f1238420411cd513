package dev.writ.embed.home;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.CellOperations;
import dev.writ.executor.CellPlacement;
import dev.writ.executor.Placements;
import dev.writ.executor.SystemState;
import dev.writ.executor.SystemStatement;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * What the system cell of an installation states, read from the database itself: that works whoever
 * owns the cell, and while nobody does. The cells that are open in one process share it.
 */
public final class SystemFeed implements AutoCloseable {
  /** The longest time for which a cell acts without having seen the system cell. */
  public static final Duration BOUND = Duration.ofSeconds(1);

  private final Home system;
  private final Duration bound;
  private final LongSupplier elapsed;
  private final List<SystemStatement> statements = new ArrayList<>();
  private Optional<LedgerView> view = Optional.empty();

  /** Of cells, as somebody asked for them. */
  private final TreeMap<Integer, LedgerView> logs = new TreeMap<>();

  private long nextSeq;

  /** The event before that, as it was read. */
  private Optional<Event> latest = Optional.empty();

  private Placements placements = Placements.NOTHING;
  private long placedSeq;

  /**
   * Reads nothing yet.
   *
   * @param home of any cell
   * @param elapsed monotonic time in nanoseconds
   */
  public SystemFeed(Home home, Duration bound, LongSupplier elapsed) {
    this.system = home.inCell(CellPlacement.SYSTEM);
    this.bound = bound;
    this.elapsed = elapsed;
  }

  /**
   * What was found in a look.
   *
   * @param begun when, by the monotonic time: everything that was durable then is in it
   * @param statements all, in order
   */
  public record Look(long begun, List<SystemStatement> statements) {}

  /**
   * Looks what is stated now.
   *
   * @throws WritException what the database refuses
   */
  public synchronized Look look() {
    long begun = elapsed.getAsLong();
    LedgerView log = view();
    Optional<Event> head = log.head(SystemState.RUN);
    if (latest.filter(read -> !isThere(log, head, read)).isPresent()) {
      forget();
    }
    if (head.isPresent() && head.get().seq() >= nextSeq) {
      long last = head.get().seq();
      SystemStatement.read(log, nextSeq).stream()
          .filter(statement -> statement.seq() <= last)
          .forEach(statements::add);
      nextSeq = last + 1;
      latest = head;
    }
    return new Look(begun, List.copyOf(statements));
  }

  /** Not where the database lost it, in a failover or by a backup that was put in its place. */
  private static boolean isThere(LedgerView log, Optional<Event> head, Event read) {
    return head.filter(now -> now.seq() >= read.seq())
        .flatMap(now -> now.seq() == read.seq() ? head : log.event(SystemState.RUN, read.seq()))
        .filter(read::equals)
        .isPresent();
  }

  private void forget() {
    statements.clear();
    nextSeq = 0;
    latest = Optional.empty();
    placedSeq = -1;
  }

  /**
   * Where operators have put tenants and cells by now.
   *
   * @throws WritException what the database refuses, and the code of a statement that is not valid
   */
  public synchronized Placements placements() {
    look();
    if (placedSeq != nextSeq) {
      placements = SystemState.read(view()).placements();
      placedSeq = nextSeq;
    }
    return placements;
  }

  private LedgerView view() {
    if (view.isEmpty()) {
      view = Optional.of(OpenHome.read(system));
    }
    return view.get();
  }

  /**
   * The log of a cell, to be read: it stays open with this, and whoever reads has it brought up to
   * date.
   *
   * @throws WritException what the database refuses
   */
  synchronized LedgerView log(int cell) {
    return logs.computeIfAbsent(cell, number -> OpenHome.read(system.inCell(number)));
  }

  /**
   * Requires that a cell's log is not behind what the system cell has stated of it.
   *
   * @throws dev.writ.canonicalize.WritException {@code EXE-994}, {@code EXE-995}
   */
  synchronized void requireStated(LedgerView log, int cell) {
    CellOperations.requireStated(view(), log, cell);
  }

  Duration bound() {
    return bound;
  }

  LongSupplier elapsed() {
    return elapsed;
  }

  @Override
  public synchronized void close() {
    view.ifPresent(LedgerView::close);
    view = Optional.empty();
    logs.values().forEach(LedgerView::close);
    logs.clear();
  }
}
