package dev.writ.ledger.witness;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.merkle.MerkleProof;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.SignedNote;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The body of a call of {@code add-checkpoint}: a checkpoint that a witness is asked to cosign
 * (C2SP tlog-witness).
 *
 * @param oldSize the size that the witness cosigned last, 0 for none
 * @param proof that the checkpoint's tree continues that of the old size
 */
public record AddCheckpoint(long oldSize, MerkleProof proof, Checkpoint checkpoint) {
  /**
   * The longest body that is read, in bytes: half of the longest note, so that one can be kept with
   * a cosignature and read again, and the lines above it.
   */
  public static final int BYTES_MAX = SignedNote.BYTES_MAX / 2 + 4096;

  private static final int HASHES_MAX = 63;
  private static final Pattern OLD = Pattern.compile("old (0|[1-9][0-9]{0,15})");

  /**
   * Reads a body; no signature is verified.
   *
   * @throws WritException {@code LED-057} for another form, {@code LED-050} and {@code LED-051}
   *     where what follows is no checkpoint
   */
  public static AddCheckpoint parse(byte[] body) {
    if (body.length > BYTES_MAX) {
      throw malformed(body.length + " bytes, at most " + BYTES_MAX);
    }
    String text = new String(body, StandardCharsets.ISO_8859_1); // a character for each byte
    int end = text.indexOf("\n\n");
    if (end < 0) {
      throw malformed("there is no empty line before the checkpoint");
    }
    List<String> lines = List.of(text.substring(0, end).split("\n", -1));
    Matcher old = OLD.matcher(lines.getFirst());
    if (!old.matches() || Long.parseLong(old.group(1)) > JsonValue.Num.MAX_INTEGER) {
      throw malformed("the first line is not `old` and a size");
    }
    if (lines.size() - 1 > HASHES_MAX) {
      throw malformed(lines.size() - 1 + " hashes, at most " + HASHES_MAX);
    }
    List<Digest> hashes = new ArrayList<>();
    for (String line : lines.subList(1, lines.size())) {
      hashes.add(hash(line));
    }
    byte[] note = text.substring(end + 2).getBytes(StandardCharsets.ISO_8859_1);
    return new AddCheckpoint(
        Long.parseLong(old.group(1)), new MerkleProof(hashes), Checkpoint.parse(note));
  }

  private static Digest hash(String line) {
    try {
      byte[] bytes = StrictBase64.decode("a hash", line);
      if (bytes.length == Digest.LENGTH) {
        return Digest.ofBytes(bytes);
      }
    } catch (WritException e) {
      throw new WritException(LedgerError.WITNESS_REQUEST, e.found(), e);
    }
    throw malformed("a hash has another length than " + Digest.LENGTH + " bytes");
  }

  private static WritException malformed(String found) {
    return new WritException(LedgerError.WITNESS_REQUEST, found);
  }

  /** The body's bytes. */
  public byte[] toBytes() {
    StringBuilder head = new StringBuilder("old ").append(oldSize).append('\n');
    proof.hashes().forEach(hash -> head.append(StrictBase64.encode(hash.bytes())).append('\n'));
    String note = new String(checkpoint.toBytes(), StandardCharsets.UTF_8);
    return head.append('\n').append(note).toString().getBytes(StandardCharsets.UTF_8);
  }
}
