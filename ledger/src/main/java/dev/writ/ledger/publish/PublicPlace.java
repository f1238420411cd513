package dev.writ.ledger.publish;

import dev.writ.canonicalize.WritException;
import java.io.IOException;
import java.util.Optional;
import java.util.function.Function;

/**
 * Small files for everybody to read: a folder, or the prefix of a bucket. A reader sees a file as a
 * whole or not at all. For one thread.
 */
public interface PublicPlace {
  /** Files that are larger were not written by this program. */
  int BYTES_MAX = 512 << 10;

  /**
   * Reads a file, or its first {@link #BYTES_MAX} bytes and one more; empty where it is missing.
   *
   * @throws WritException where a store refuses
   */
  Optional<byte[]> read(String name) throws IOException;

  /**
   * Writes a file, unless there is one of that name.
   *
   * @return whether this is its content now
   * @throws WritException where a store refuses
   */
  boolean create(String name, byte[] content) throws IOException;

  /**
   * Replaces a file by what follows from its present content.
   *
   * @param next gets the present content, and gives the new one, or nothing to leave it as it is
   * @return whether it was written, or left as it is; else somebody else was faster
   * @throws WritException where a store refuses, and what {@code next} throws
   */
  boolean change(String name, Function<Optional<byte[]>, Optional<byte[]>> next) throws IOException;
}
