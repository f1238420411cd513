package dev.writ.ledger.storage;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Where the large contents of one ledger are. Each is written once, under its digest and at a
 * <em>place</em> among those of that digest, which the content's row has; a place that was removed
 * is not used again. So whoever removes one late, after another writer has stored the same content
 * anew, removes nothing that is in use. Safe for use by many threads.
 */
public interface LargeContents extends AutoCloseable {
  /** The place of a content whose row names none. */
  byte[] NO_PLACE = {};

  /**
   * A content that is whole and not yet kept.
   *
   * @param channel open for the file; whoever keeps the content closes it
   * @param file has the content; whoever keeps the content removes or renames it
   */
  record Spooled(Digest digest, long size, FileChannel channel, Path file) {}

  /** Gets what there is. */
  @FunctionalInterface
  interface StoredVisitor {
    /**
     * @param epoch of the writer that stored it, 0 where it was moved here
     */
    void stored(Digest digest, byte[] place, long epoch);
  }

  /** Names it, without how it is reached, so that it is the same for all who share it. */
  String location();

  /** Whether several gateways reach it; a folder in one's own home is reached by one. */
  boolean isShared();

  /**
   * Refuses where a failure says nothing of the contents, but that the store cannot be asked now:
   * it does not answer, is not mounted, or does not take the credentials.
   *
   * @throws WritException a code that says what to do
   */
  default void requireAsked(WritException failure) {}

  /**
   * Looks whether it is there, may be used, and keeps what a ledger relies on. It writes something
   * and removes it again.
   *
   * @throws WritException a code that says what to do
   */
  default void probe() {}

  /**
   * Makes it the store of an installation, once.
   *
   * @param marker names the installation
   * @return whether that is new; false where it was marked so already
   * @throws WritException where another installation has it, and as {@link #probe}
   */
  default boolean claim(byte[] marker) {
    return false;
  }

  /**
   * @throws WritException where it is another installation's, or nobody's
   */
  default void requireClaimed(byte[] marker) {}

  /** Removes the mark of an installation that could not be made. */
  default void unclaim() {}

  /**
   * Keeps a content. When this returns it is durable, and its bytes have their digest. Neither
   * replaces nor changes one that is kept.
   *
   * @param epoch of the writer
   * @return its place
   * @throws WritException where it could not be kept; nothing was promised for it then
   */
  byte[] keep(Spooled content, long epoch) throws IOException;

  /** Keeps one again where nothing was: for moving a ledger's contents here. */
  void keepAt(Spooled content, byte[] place) throws IOException;

  /** Whether there is one of this size; its bytes are not read. */
  boolean has(Digest digest, byte[] place, long size);

  /**
   * Opens one; the caller verifies what it reads.
   *
   * @return empty where it is missing
   */
  Optional<InputStream> open(Digest digest, byte[] place, long size) throws IOException;

  /**
   * Removes one, if it is there.
   *
   * @param isUnused asked before; where it says no the content stays
   */
  void remove(Digest digest, byte[] place, BooleanSupplier isUnused) throws IOException;

  /** Visits all that is stored, in no order; what is stored or removed meanwhile may be missed. */
  void visit(StoredVisitor visitor) throws IOException;

  /** The anchor beside the contents, where the store can move one. */
  default Optional<SharedAnchor> anchor() {
    return Optional.empty();
  }

  @Override
  default void close() {}
}
