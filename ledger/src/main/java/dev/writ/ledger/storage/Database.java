package dev.writ.ledger.storage;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import java.nio.file.Path;
import java.util.List;

/** Where the rows of one ledger are, whether or not anything has been made there. */
public interface Database {

  /**
   * Makes it, without rows, as its one writer.
   *
   * @throws dev.writ.canonicalize.WritException {@code LED-001} where there is something already
   */
  Storage create();

  /** Removes what {@link #create} made, where the ledger could not be made after all. */
  default void undoCreation() {}

  /**
   * The same for a {@link #create} whose process was killed: nothing where somebody has taken it
   * over since.
   *
   * @param epoch of the writer that made it
   */
  default void undoCreation(long epoch) {}

  /**
   * Opens it as its one writer.
   *
   * @throws dev.writ.canonicalize.WritException {@code LED-003} while another has it open
   */
  Storage open();

  /**
   * Opens it as its one writer for a time, which is renewed as long as it is open. Whoever had such
   * a lease before is refused from then on, also if it still has a connection.
   *
   * @throws dev.writ.canonicalize.WritException {@code LED-077} while another has a lease, {@code
   *     LED-078} where the database knows none
   */
  default Storage open(LeaseTerms terms) {
    throw new WritException(LedgerError.LEASES_UNKNOWN, "");
  }

  /**
   * Shows who owns it.
   *
   * @throws dev.writ.canonicalize.WritException {@code LED-078} where the database knows no leases
   */
  default LeaseWatch watch() {
    throw new WritException(LedgerError.LEASES_UNKNOWN, "");
  }

  /** Opens it for reading; its writer may be at work in another process. */
  Storage openReader();

  /**
   * Whether {@link #open} writes down what it makes of what is there, such as of a write-ahead log
   * whose end is damaged, so that whoever wants to refuse it has to look first.
   *
   * @throws dev.writ.canonicalize.WritException {@code LED-006} where something is known to be gone
   */
  default boolean isChangedByOpening() {
    return false;
  }

  /** Files by which the writer is the only one, so that it must stop where one is taken away. */
  default List<Path> locks() {
    return List.of();
  }
}
