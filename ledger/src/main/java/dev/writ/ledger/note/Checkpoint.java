package dev.writ.ledger.note;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.ledger.error.LedgerError;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * A C2SP tlog-checkpoint: size and root of the log, in a signed note (spec/log.md). A log key signs
 * under the log's origin as its name.
 *
 * @param origin identifies the log
 * @param size number of leaves
 * @param root root hash at that size
 * @param extensions further lines, opaque; we write none and tolerate others'
 * @param note the signed note with all its signatures
 */
public record Checkpoint(
    String origin, long size, Digest root, List<String> extensions, SignedNote note) {

  public Checkpoint {
    extensions = List.copyOf(extensions);
  }

  /** Signs a checkpoint of a log. */
  public static Checkpoint sign(String origin, long size, Digest root, SigningKey key) {
    String text =
        origin + "\n" + size + "\n" + Base64.getEncoder().encodeToString(root.bytes()) + "\n";
    Checkpoint checkpoint = of(SignedNote.sign(text, origin, key));
    if (checkpoint.size != size || !checkpoint.origin.equals(origin)) {
      throw new IllegalArgumentException(
          "origin or size cannot be written: " + origin + " " + size);
    }
    return checkpoint;
  }

  /**
   * Reads a checkpoint without verifying it.
   *
   * @throws WritException {@code LED-050} for what is no note, {@code LED-051} for another text, or
   *     a size that our documents, which are JSON, cannot state
   */
  public static Checkpoint parse(byte[] note) {
    return of(SignedNote.parse(note));
  }

  /**
   * Reads a checkpoint and verifies that this log's key signed it.
   *
   * @throws WritException {@code LED-05x} for the first failed check
   */
  public static Checkpoint verify(byte[] note, String origin, VerifyingKey key) {
    Checkpoint checkpoint = parse(note);
    checkpoint.verify(origin, key);
    return checkpoint;
  }

  /**
   * Verifies that this log's key signed it, under the origin as its name.
   *
   * @throws WritException {@code LED-054} for another log's, {@code LED-052} or {@code LED-053} for
   *     a signature that does not hold or is not there
   */
  public void verify(String origin, VerifyingKey key) {
    verify(origin, new NoteKey(origin, key));
  }

  /**
   * As {@link #verify(String, VerifyingKey)}, for a log whose key has another name than the origin.
   */
  public void verify(String origin, NoteKey key) {
    if (!this.origin.equals(origin)) {
      throw new WritException(LedgerError.CHECKPOINT_ORIGIN, this.origin + " instead of " + origin);
    }
    note.verify(key);
  }

  /** The same with further signature lines. */
  public Checkpoint with(List<SignedNote.Signature> more) {
    List<SignedNote.Signature> all = new ArrayList<>(note.signatures());
    all.addAll(more);
    return new Checkpoint(origin, size, root, extensions, new SignedNote(note.text(), all));
  }

  /** The same with one signature line of each of these keys, the first, and no other. */
  public Checkpoint signedBy(List<NoteKey> keys) {
    List<SignedNote.Signature> theirs =
        keys.stream()
            .flatMap(key ->
                note.signatures().stream().filter(line -> line.isBy(key.name(), key.id())).limit(1))
            .toList();
    return new Checkpoint(origin, size, root, extensions, new SignedNote(note.text(), theirs));
  }

  /** The note's bytes. */
  public byte[] toBytes() {
    return note.toBytes();
  }

  private static Checkpoint of(SignedNote note) {
    String text = note.text();
    List<String> lines = List.of(text.substring(0, text.length() - 1).split("\n", -1));
    if (lines.size() < 3 || lines.stream().anyMatch(String::isEmpty)) {
      throw malformed("the text is not three or more lines, none of them empty");
    }
    byte[] root =
        SignedNote.base64(lines.get(2), LedgerError.CHECKPOINT_MALFORMED, "the root hash");
    if (root.length != Digest.LENGTH) {
      throw malformed("the root hash has " + root.length + " bytes");
    }
    return new Checkpoint(
        lines.get(0),
        size(lines.get(1)),
        Digest.ofBytes(root),
        lines.subList(3, lines.size()),
        note);
  }

  private static long size(String text) {
    boolean digits = !text.isEmpty() && text.chars().allMatch(c -> c >= '0' && c <= '9');
    if (digits && (text.length() == 1 || text.charAt(0) != '0') && text.length() <= 16) {
      long size = Long.parseLong(text);
      if (size <= JsonValue.Num.MAX_INTEGER) {
        return size;
      }
    }
    throw malformed("the tree size is not a decimal number from 0 to 2^53 - 1");
  }

  private static WritException malformed(String found) {
    return new WritException(LedgerError.CHECKPOINT_MALFORMED, found);
  }
}
