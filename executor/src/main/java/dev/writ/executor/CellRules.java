package dev.writ.executor;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.error.ExecutorError;
import dev.writ.ledger.LedgerView;

/**
 * What a kernel has to ask where its log is one of several in an installation, its cells
 * (spec/cells.md). Thread safe.
 */
public interface CellRules {

  /** Of a log that is the whole installation. */
  CellRules ALONE =
      new CellRules() {
        @Override
        public void requireTenant(String tenant) {
          // all are here
        }

        @Override
        public void requireCurrent() {
          // what is in force is what this log says
        }

        @Override
        public void requireSystem() {
          // there is no other
        }

        @Override
        public void requireCell(int cell) {
          throw new WritException(ExecutorError.CELL_UNKNOWN, "cell " + cell + " of one");
        }

        @Override
        public int number() {
          return CellPlacement.SYSTEM;
        }

        @Override
        public int count() {
          return 1;
        }

        @Override
        public LedgerView log(int cell) {
          throw new WritException(ExecutorError.CELL_UNKNOWN, "cell " + cell + " of one");
        }

        @Override
        public void changed() {
          // there is nobody else to see it
        }
      };

  /**
   * Refuses work of a tenant that another cell has.
   *
   * @throws WritException {@code EXE-990}
   */
  void requireTenant(String tenant);

  /**
   * Refuses to act where the system cell's statements were not seen lately, and where the cell may
   * not be owned here.
   *
   * @throws WritException {@code EXE-991}, {@code EXE-966}
   */
  void requireCurrent();

  /**
   * Refuses changes of what is in force where this is not the system cell.
   *
   * @throws WritException {@code EXE-992}
   */
  void requireSystem();

  /**
   * Refuses a statement about a cell that the installation does not have.
   *
   * @throws WritException {@code EXE-965}
   */
  void requireCell(int cell);

  /** The number of this cell. */
  int number();

  /** How many cells the installation has. */
  int count();

  /**
   * The log of another cell, to be read; it stays open as long as this one.
   *
   * @throws WritException what its storage refuses
   */
  LedgerView log(int cell);

  /** A change is durable here. Returns when it is in force in all cells. */
  void changed();
}
