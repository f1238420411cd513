package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.executor.Placements.Moved;
import dev.writ.executor.document.CellCheckpoints;
import dev.writ.executor.document.TenantDeparted;
import dev.writ.executor.document.TenantMove;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.DispatchedRow;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.KernelTime;
import dev.writ.guardian.Accounts;
import dev.writ.guardian.CarriedAccounts;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Commit;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.Supplier;

/**
 * Carries out the moves of tenants that operators have stated: the former cell states that the
 * tenant has left, with its accounts, and the new one that it has arrived (spec/cells.md,
 * "Moving"). Each is one append, made once; whoever owns the cell goes on from what its log has.
 */
final class TenantMoves {
  private final Ledger ledger;
  private final Accounts accounts;
  private final DocumentSigner guardian;
  private final KernelTime time;
  private final StateGate inForce;
  private final TenantWork work;
  private final Supplier<CellRules> cell;

  /** Statements of moves from here that the tenant has left by, and of those that it arrived by. */
  private final ConcurrentSkipListSet<Digest> departed = new ConcurrentSkipListSet<>();

  private final ConcurrentSkipListSet<Digest> arrived = new ConcurrentSkipListSet<>();

  /** Moves since which the logs of former cells were brought up to date in this process. */
  private final ConcurrentSkipListSet<Digest> upToDate = new ConcurrentSkipListSet<>();

  TenantMoves(
      Ledger ledger,
      Accounts accounts,
      DocumentSigner guardian,
      KernelTime time,
      StateGate inForce,
      TenantWork work,
      Supplier<CellRules> cell) {
    this.ledger = ledger;
    this.accounts = accounts;
    this.guardian = guardian;
    this.time = time;
    this.inForce = inForce;
    this.work = work;
    this.cell = cell;
    ledger.events(
        TenantDeparted.RUN, 0, event -> ended(event.kind()).add(read(ledger, event).statement()));
  }

  private ConcurrentSkipListSet<Digest> ended(String kind) {
    return kind.equals(EventKind.TENANT_DEPARTED) ? departed : arrived;
  }

  private static Envelope document(LedgerView log, Event event) {
    return log.document(event.body())
        .orElseThrow(() -> new WritException(ExecutorError.UNKNOWN_ID, event.body().toString()));
  }

  private static TenantDeparted read(LedgerView log, Event event) {
    return TenantDeparted.read(document(log, event).document());
  }

  /** Whether the tenant is in this cell, or was before a move. */
  boolean isKnown(String tenant) {
    int here = cell.get().number();
    return inForce.now().placements().moves().getOrDefault(tenant, List.of()).stream()
        .anyMatch(moved -> moved.move().from() == here || moved.move().cell() == here);
  }

  /**
   * Refuses work of a tenant that has not arrived here.
   *
   * @throws WritException {@code EXE-967}
   */
  void requireArrived(String tenant) {
    Optional<Moved> last = inForce.now().placements().lastMove(tenant);
    if (last.filter(moved -> !arrived.contains(moved.statement())).isPresent()) {
      throw new WritException(
          ExecutorError.TENANT_ON_ITS_WAY, last.get().move() + " as " + last.get().statement());
    }
  }

  /**
   * The logs of the former cells of a tenant that has arrived here, with all that they have of it.
   */
  FormerCells former(String tenant) {
    Placements placements = inForce.now().placements();
    Optional<Moved> last = placements.lastMove(tenant);
    if (last.isEmpty()) {
      return new FormerCells(List.of());
    }
    CellRules rules = cell.get();
    List<LedgerView> logs =
        placements.formerCells(tenant, rules.number()).stream().map(rules::log).toList();
    if (!upToDate.contains(last.get().statement())) {
      logs.forEach(LedgerView::refresh); // it was perhaps opened before the tenant left
      upToDate.add(last.get().statement());
    }
    return new FormerCells(logs);
  }

  /**
   * Requires that a tenant can be moved so, as far as logs say.
   *
   * @throws WritException {@code EXE-965}, {@code EXE-968}, {@code EXE-969}
   */
  void requireMovable(TenantMove move) {
    CellRules rules = cell.get();
    rules.requireCell(move.cell());
    rules.requireCell(move.from());
    Placements placements = inForce.now().placements();
    int now = placements.cellOf(move.tenant(), rules.count());
    if (now != move.from()) {
      throw new WritException(ExecutorError.TENANT_NOT_THERE, move + "; it is in cell " + now);
    }
    Optional<Moved> last = placements.lastMove(move.tenant());
    if (last.isPresent() && !hasArrived(rules.log(now), last.get().statement())) {
      throw new WritException(ExecutorError.TENANT_MOVES, last.get().move().toString());
    }
  }

  /** Whether a tenant has arrived by that statement in the cell of that log. */
  static boolean hasArrived(LedgerView log, Digest statement) {
    log.refresh();
    return event(log, EventKind.TENANT_ARRIVED, statement).isPresent();
  }

  private static Optional<Event> event(LedgerView log, String kind, Digest statement) {
    List<Event> found = new ArrayList<>();
    log.events(
        TenantDeparted.RUN,
        0,
        event -> {
          if (event.kind().equals(kind) && read(log, event).statement().equals(statement)) {
            found.add(event);
          }
        });
    return found.stream().findFirst();
  }

  /** Goes on with all moves from here and to here that have not ended. */
  synchronized TenantsMoved goOn() {
    List<String> left = new ArrayList<>();
    List<String> came = new ArrayList<>();
    TreeMap<String, WritException> waiting = new TreeMap<>();
    int here = cell.get().number();
    inForce
        .now()
        .placements()
        .moves()
        .forEach((tenant, moves) -> {
          try {
            for (Moved moved : moves) {
              if (moved.move().from() == here && !departed.contains(moved.statement())) {
                depart(moved);
                left.add(tenant);
              }
              if (moved.move().cell() == here && !arrived.contains(moved.statement())) {
                arrive(moved);
                came.add(tenant);
              }
            }
          } catch (WritException e) {
            waiting.put(tenant, e);
          }
        });
    return new TenantsMoved(List.copyOf(left), List.copyOf(came), waiting);
  }

  /** Nothing of the tenant begins here since the statement; what was at work has to end. */
  private void depart(Moved moved) {
    TenantMove move = moved.move();
    if (!work.isStill(move.tenant()) || hasDispatched(move.tenant())) {
      throw new WritException(ExecutorError.TENANT_MOVES, move + ": calls are at work");
    }
    Commit commit = inForce.during(state -> departure(moved, state));
    commit.await();
    departed.add(moved.statement());
  }

  private boolean hasDispatched(String tenant) {
    boolean[] found = {false};
    ledger.scan(
        Tables.DISPATCHED,
        "",
        (_, row) -> {
          found[0] = DispatchedRow.parse(row).run().tenant().equals(tenant);
          return !found[0];
        });
    return found[0];
  }

  /** Not under a key that is revoked: no other cell would take it, and it is stated once alone. */
  private Commit departure(Moved moved, SystemState state) {
    Instant now = time.now(KernelTime.Reading.OUTSIDE);
    CarriedAccounts held = accounts.carried(state.policyInForce(), moved.move().tenant(), now);
    if (held.usesTotal() > CarriedAccounts.USES_MAX) {
      throw new WritException(
          ExecutorError.TENANT_MOVES,
          moved.move()
              + ": "
              + held.usesTotal()
              + " uses of rate limits count, at most "
              + CarriedAccounts.USES_MAX
              + " are carried over");
    }
    Envelope signed =
        guardian.sign(
            TenantDeparted.TYPE,
            new TenantDeparted(moved.move(), moved.statement(), held, now).toJson());
    state.trust().verify(signed, TenantDeparted.TYPE, now);
    return ledger.append(
        new Batch().event(next(EventKind.TENANT_DEPARTED, signed.id(), now)).document(signed));
  }

  private Event next(String kind, Digest body, Instant at) {
    return ledger
        .pendingHead(TenantDeparted.RUN)
        .map(before -> before.next(kind, body, at, Optional.empty()))
        .orElseGet(() ->
            Event.first(
                TenantDeparted.RUN.tenant(),
                TenantDeparted.RUN.run(),
                kind,
                body,
                at,
                Optional.empty()));
  }

  private void arrive(Moved moved) {
    TenantMove move = moved.move();
    LedgerView log = cell.get().log(move.from());
    log.refresh();
    Event event =
        event(log, EventKind.TENANT_DEPARTED, moved.statement())
            .orElseThrow(() ->
                new WritException(
                    ExecutorError.TENANT_ON_ITS_WAY, move + ": it has not left " + log.origin()));
    requireContinued(log, move.from());
    Envelope signed = document(log, event);
    trustAt(log, event).verify(signed, TenantDeparted.TYPE, event.at());
    TenantDeparted said = TenantDeparted.read(signed.document());
    if (!said.move().equals(move) || !said.departedAt().equals(event.at())) {
      throw new WritException(
          ExecutorError.MALFORMED, log.origin() + " states " + said.move() + ", not " + move);
    }
    Commit commit = inForce.during(state -> arrival(said, signed, state.policyInForce()));
    try {
      commit.await();
    } catch (RuntimeException e) {
      accounts.forget(signed.id()); // else the next try would count it a second time
      throw e;
    }
    accounts.durable(signed.id());
    arrived.add(moved.statement());
  }

  private Commit arrival(TenantDeparted said, Envelope signed, Policy policy) {
    Instant now = time.now(KernelTime.Reading.OUTSIDE);
    if (now.isBefore(said.departedAt())) { // else a window could be judged before it began there
      throw new WritException(
          ExecutorError.TENANT_ON_ITS_WAY, said.move() + ": it left at " + said.departedAt());
    }
    Accounts.Row row =
        accounts.arrive(
            policy, signed.id(), said.move().tenant(), said.accounts(), said.departedAt());
    try {
      return ledger.append(
          new Batch()
              .event(next(EventKind.TENANT_ARRIVED, signed.id(), now))
              .document(signed)
              .put(Tables.ACCOUNT, row.key(), row.value().orElseThrow()));
    } catch (RuntimeException e) {
      accounts.forget(signed.id());
      throw e;
    }
  }

  /** The former cell's log is the one that the system cell has stated. */
  private void requireContinued(LedgerView log, int from) {
    LedgerView system = cell.get().log(CellPlacement.SYSTEM);
    system.refresh();
    Optional<CellCheckpoints.Stated> stated = CellRoots.last(system).flatMap(all -> all.of(from));
    stated.ifPresent(one -> CellRoots.requireContinued(log, one));
  }

  /** The keys that counted at that place of the log: what it shows before a revocation counts. */
  private static Trust trustAt(LedgerView log, Event event) {
    long place = log.indexOf(event.runId(), event.seq()).orElseThrow();
    SystemState[] state = {SystemState.NOTHING};
    log.events(
        SystemState.RUN,
        0,
        change -> {
          if (log.indexOf(SystemState.RUN, change.seq()).orElseThrow() < place) {
            state[0] = state[0].after(change, log);
          }
        });
    return state[0].trust();
  }
}
