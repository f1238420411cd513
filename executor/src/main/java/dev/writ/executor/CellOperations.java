package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.document.CellCheckpoints;
import dev.writ.executor.stage.KernelTime;
import dev.writ.ledger.Commit;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.RunId;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * What the owner of a cell does beside requests: it states in the system cell how far the other
 * cells' logs are, and carries out moves of tenants. Thread safe; see {@link Kernel#cells}.
 */
public final class CellOperations {
  private final KernelTime time;
  private final StateGate inForce;
  private final CellRoots roots;
  private final TenantMoves moves;
  private final Supplier<CellRules> cell;
  private final Consumer<RunId> cover;

  /**
   * @param cover makes a checkpoint over what a run has, where none covers it
   */
  CellOperations(
      KernelTime time,
      StateGate inForce,
      CellRoots roots,
      TenantMoves moves,
      Supplier<CellRules> cell,
      Consumer<RunId> cover) {
    this.time = time;
    this.inForce = inForce;
    this.roots = roots;
    this.moves = moves;
    this.cell = cell;
    this.cover = cover;
  }

  /**
   * States in the system cell's log how far the other cells' logs are, where that has changed, and
   * makes a checkpoint over it: one root for the installation (spec/cells.md, "One root").
   *
   * @param logs of the other cells, by number, as they are now
   * @throws WritException {@code EXE-912}, {@code EXE-992}, {@code LED-02x}
   */
  public CellRootsOutcome state(SortedMap<Integer, ? extends LedgerView> logs) {
    cell.get().requireSystem();
    SystemState state = inForce.now();
    CellRoots.Found found = roots.look(logs, state.trust());
    Optional<Commit> commit =
        inForce.during(now ->
            // Under other keys they are looked at again, at the next turn.
            now == state
                ? roots.state(found, () -> time.now(KernelTime.Reading.OUTSIDE))
                : Optional.<Commit>empty());
    commit.ifPresent(Commit::await);
    cover.accept(CellCheckpoints.RUN);
    return new CellRootsOutcome(commit.isPresent(), found.refused());
  }

  /**
   * Requires that a cell's log continues what the system cell has stated of it.
   *
   * @param system the system cell's
   * @throws WritException {@code EXE-994}, {@code EXE-995}
   */
  public static void requireStated(LedgerView system, LedgerView log, int cell) {
    CellRoots.last(system)
        .flatMap(stated -> stated.of(cell))
        .ifPresent(stated -> CellRoots.requireContinued(log, stated));
  }

  /**
   * Goes on with the moves of tenants from this cell and to it (spec/cells.md, "Moving"): to be
   * called again and again by whoever owns it.
   */
  public TenantsMoved moveTenants() {
    cell.get().requireCurrent();
    return moves.goOn();
  }

  /** Whether the tenant is in this cell by the latest statement, or was before. */
  public boolean isKnownHere(String tenant) {
    return moves.isKnown(tenant);
  }

  /**
   * Whether a tenant has arrived, by that statement of an operator, in the cell of that log.
   *
   * @param statement the id of the signed document
   */
  public static boolean hasArrived(LedgerView log, Digest statement) {
    return TenantMoves.hasArrived(log, statement);
  }
}
