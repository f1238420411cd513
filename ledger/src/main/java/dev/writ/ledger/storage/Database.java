package dev.writ.ledger.storage;

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
   * Opens it as its one writer.
   *
   * @throws dev.writ.canonicalize.WritException {@code LED-003} while another has it open
   */
  Storage open();

  /** Opens it for reading; its writer may be at work in another process. */
  Storage openReader();

  /** Files by which the writer is the only one, so that it must stop where one is taken away. */
  default List<Path> locks() {
    return List.of();
  }
}
