package dev.writ.ledger.archive;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Where bundles of closed runs are kept, each under the digest of its bytes (spec/retention.md,
 * Archive). A bundle is there as a whole or not at all, and is never replaced or removed by this
 * program. For one thread.
 */
public interface ArchivePlace {
  /** Its address, which leads here again. */
  String address();

  /**
   * Makes it an archive, if it is none yet.
   *
   * @throws WritException {@code LED-093} where there is no such folder or bucket, {@code LED-094}
   */
  void begin();

  /**
   * @throws WritException {@code LED-093} where it is no archive: another disk may be mounted there
   */
  void require();

  /**
   * A file for a bundle that is being made. It is empty, and nobody else's.
   *
   * @param writer whose draft it is, by a name for files: one that a crash left is written anew
   */
  Path draft(String writer) throws IOException;

  /**
   * Keeps a draft under its digest, and returns when it is durable. Where a bundle of that name is
   * there already it stays as it is: whoever keeps one reads it back.
   *
   * @param draft is removed
   * @param now from which a place that locks its bundles counts for how long
   * @throws WritException {@code LED-094}, or what a store refuses
   */
  void keep(Path draft, Digest bundle, Instant now);

  /**
   * A bundle as a file that stays as it is until it is closed; empty where there is none. Its bytes
   * are not looked at.
   *
   * @throws WritException {@code LED-094}, or what a store refuses
   */
  Optional<Fetched> fetch(Digest bundle);

  /** Visits the names of all bundles, in their order. */
  void visit(Consumer<Digest> visitor);

  /**
   * Tries out whether bundles are protected from removal, and leaves nothing behind that was not
   * there.
   *
   * @param now the time
   * @throws WritException {@code LED-093}, {@code LED-094}, or what a store refuses; also where it
   *     does not protect what it was asked to
   */
  ArchiveProtection protection(Instant now);

  /** A bundle as a file. */
  interface Fetched extends AutoCloseable {
    Path file();

    /** The file may be gone then. */
    @Override
    void close();
  }
}
