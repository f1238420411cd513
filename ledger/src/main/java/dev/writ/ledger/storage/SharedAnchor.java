package dev.writ.ledger.storage;

import java.util.Optional;

/**
 * An anchor that all gateways of an installation share. It is moved from a state that the mover has
 * read: so of several writers that believe to be the only one, one moves it and the others learn of
 * that. Not thread safe.
 */
public interface SharedAnchor {
  /** Reads it as it is now; {@link #move} is from there. */
  Optional<byte[]> read();

  /**
   * Replaces what was read, or moved to, last.
   *
   * @return false where somebody else has moved it since; nothing has changed then
   * @throws dev.writ.canonicalize.WritException where it could not be moved
   */
  boolean move(byte[] anchor);
}
