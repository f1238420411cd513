package dev.writ.ledger.disk;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Keeps every writer away from an anchor, as a writer keeps others away: for who puts a ledger in
 * the place of one that may still be open there.
 */
public final class AnchorLock implements AutoCloseable {
  private final Flock lock;

  private AnchorLock(Flock lock) {
    this.lock = lock;
  }

  /**
   * Makes the file beside the anchor that is locked, where there is none; the anchor itself need
   * not be there.
   *
   * @throws WritException {@code LED-003} where a writer has it, else as for an opening
   */
  public static AnchorLock take(Path anchor) {
    Path file = WriterLock.besides(anchor);
    Optional<Flock> lock = Flock.take(file);
    return new AnchorLock(
        lock.orElseThrow(() -> new WritException(LedgerError.LOCKED, file.toString())));
  }

  @Override
  public void close() {
    lock.close();
  }
}
