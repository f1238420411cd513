package dev.writ.executor;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.error.ExecutorError;
import java.util.function.Supplier;

/** What the cell of this log asks of work before it begins, and while the state changes. */
final class CellGate {
  /** How many changes of the state one piece of work survives before it is refused. */
  private static final int ATTEMPTS_MAX = 16;

  private final TenantMoves moves;
  private final TenantWork work;
  private final Supplier<CellRules> cell;

  CellGate(TenantMoves moves, TenantWork work, Supplier<CellRules> cell) {
    this.moves = moves;
    this.work = work;
    this.cell = cell;
  }

  /** Counts a piece of work of the tenant until it is closed: a move waits for its end. */
  TenantWork.UnderWay begin(String tenant) {
    return work.begin(tenant);
  }

  /** Refuses a tenant that never was in this cell: its work has no place here. */
  void requireKnown(String tenant) {
    if (!moves.isKnown(tenant)) {
      cell.get().requireTenant(tenant);
    }
  }

  /**
   * Refuses work of a tenant that is not in this cell, or has not arrived in it.
   *
   * @throws WritException {@code EXE-990}, {@code EXE-967}
   */
  void requireHere(String tenant) {
    cell.get().requireTenant(tenant);
    moves.requireArrived(tenant);
  }

  /**
   * As {@link #unlessMoved}, in a cell that has seen what is in force.
   *
   * @throws WritException {@code EXE-970}, {@code EXE-991}
   */
  <T> T whileCurrent(Supplier<T> work) {
    cell.get().requireCurrent();
    return unlessMoved(work);
  }

  /**
   * Runs work whose writes must stand in the log before the next change of the state, and runs it
   * again if a change came first.
   *
   * @throws WritException {@code EXE-970} after {@link #ATTEMPTS_MAX} changes
   */
  static <T> T unlessMoved(Supplier<T> work) {
    for (int attempt = 1; ; attempt++) {
      try {
        return work.get();
      } catch (WritException e) {
        if (e.code() != ExecutorError.STATE_MOVED || attempt == ATTEMPTS_MAX) {
          throw e;
        }
      }
    }
  }
}
