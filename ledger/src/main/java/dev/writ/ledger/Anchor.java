package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.ledger.error.Failures;
import dev.writ.ledger.error.LedgerError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;

/**
 * A recent state of the ledger, kept in a file outside it (protocol rule 27): a ledger that does
 * not continue it was restored from a backup, or has lost entries.
 *
 * @param incarnation as in {@link LedgerView#incarnation}
 * @param treeSize number of events that were durable
 * @param root root of the log at that size
 * @param time when this was written; for people
 */
public record Anchor(String origin, long incarnation, long treeSize, Digest root, Instant time) {

  /**
   * Reads the file, if there is one.
   *
   * @throws WritException {@code LED-012} for another form than ours
   */
  public static Optional<Anchor> read(Path file) {
    try {
      return Optional.of(parse(Files.readAllBytes(file), file.toString()));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw Failures.of("reading the anchor " + file, e);
    }
  }

  /**
   * The same of bytes.
   *
   * @param where names them in a refusal
   */
  public static Anchor parse(byte[] bytes, String where) {
    try {
      return parse(bytes);
    } catch (WritException e) {
      throw new WritException(LedgerError.ANCHOR_MALFORMED, where + ": " + e.getMessage(), e);
    }
  }

  /** Reads the file's bytes; throws {@code CAN-0xx} for another form than ours. */
  static Anchor parse(byte[] bytes) {
    Fields fields = Fields.of("anchor", Jcs.parseCanonical(bytes, Limits.DEFAULT));
    Anchor anchor =
        new Anchor(
            fields.name("origin"),
            fields.count("incarnation"),
            fields.count("tree_size"),
            fields.digest("root"),
            fields.time("time"));
    fields.end();
    return anchor;
  }

  byte[] toBytes() {
    return Jcs.write(
        JsonValue.object()
            .put("incarnation", incarnation)
            .put("origin", origin)
            .put("root", root)
            .put("time", time)
            .put("tree_size", treeSize)
            .build());
  }

  /** Replaces the file as a whole. */
  void write(DurableFiles files, Path file) {
    try {
      files.write(file, toBytes());
    } catch (IOException e) {
      throw Failures.of("writing the anchor " + file, e);
    }
  }

  /**
   * Verifies that a ledger continues the state in this anchor.
   *
   * @throws WritException {@code LED-013} for another ledger's anchor, {@code LED-011} for a ledger
   *     that is behind it or shows another history
   */
  void verify(LedgerView ledger) {
    verify(ledger, false);
  }

  /**
   * The same.
   *
   * @param isShared whether another server may have begun a later incarnation, which this anchor
   *     did not see
   */
  public void verify(LedgerView ledger, boolean isShared) {
    requireOrigin(ledger.origin());
    if (ledger.incarnation() != incarnation && !(isShared && ledger.incarnation() > incarnation)) {
      throw behind("incarnation " + ledger.incarnation(), "incarnation " + incarnation);
    }
    if (ledger.treeSize() < treeSize) {
      throw behind(ledger.treeSize() + " events", treeSize + " events");
    }
    Digest calculated = ledger.root(treeSize);
    if (!calculated.equals(root)) {
      throw behind(
          "at size " + treeSize + " the calculated root " + calculated, "the root " + root);
    }
  }

  void requireOrigin(String ledgerOrigin) {
    if (!ledgerOrigin.equals(origin)) {
      throw new WritException(
          LedgerError.ANCHOR_OTHER, "the anchor is of " + origin + ", not of " + ledgerOrigin);
    }
  }

  private static WritException behind(String ledger, String anchor) {
    return new WritException(
        LedgerError.ANCHOR_BEHIND, "the ledger has " + ledger + ", but the anchor saw " + anchor);
  }
}
