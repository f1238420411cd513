package dev.writ.ledger.note;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.ledger.error.LedgerError;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Comparator;
import java.util.Optional;

/**
 * The statement of a witness that a checkpoint was the largest of its log that it had seen, and
 * that all before were beginnings of it (C2SP tlog-cosignature, Ed25519; spec/witness.md).
 *
 * @param at by the witness's clock, in whole seconds
 */
public record Cosignature(WitnessKey by, Instant at) {
  /** 9999-12-31T23:59:59Z, the last that our documents can state. */
  private static final long SECONDS_MAX = 253402300799L;

  private static final int TIME_BYTES = 8;
  private static final int SIGNATURE_BYTES = 64;

  /**
   * Cosigns a checkpoint.
   *
   * @param at its part below a second is not stated
   * @return the line that is added to the note
   * @throws WritException {@code LED-056} for a time that cannot be stated
   */
  public static SignedNote.Signature sign(
      Checkpoint checkpoint, String name, SigningKey key, Instant at) {
    long seconds = at.getEpochSecond();
    requireTime(name, seconds);
    byte[] signature = key.sign(message(checkpoint.note().text(), seconds));
    WitnessKey witness = new WitnessKey(name, key.verifyingKey());
    return new SignedNote.Signature(
        name,
        ByteBuffer.allocate(4 + TIME_BYTES + SIGNATURE_BYTES)
            .put(witness.id())
            .putLong(seconds)
            .put(signature)
            .array());
  }

  /**
   * Reads and verifies what a witness says of a checkpoint: the earliest where it says it several
   * times, and nothing where it did not cosign.
   *
   * @throws WritException {@code LED-052} where a line under its name and id does not verify,
   *     {@code LED-056} where one states no time
   */
  public static Optional<Cosignature> of(Checkpoint checkpoint, WitnessKey witness) {
    return checkpoint.note().signaturesBy(witness.name(), witness.id()).stream()
        .map(stated -> verified(checkpoint, witness, stated))
        .min(Comparator.comparing(Cosignature::at));
  }

  private static Cosignature verified(Checkpoint checkpoint, WitnessKey witness, byte[] stated) {
    if (stated.length != TIME_BYTES + SIGNATURE_BYTES) {
      throw new WritException(
          LedgerError.NOTE_SIGNATURE, "witness " + witness + ": " + stated.length + " bytes");
    }
    ByteBuffer parts = ByteBuffer.wrap(stated);
    long seconds = parts.getLong();
    requireTime(witness.name(), seconds);
    byte[] signature = new byte[SIGNATURE_BYTES];
    parts.get(signature);
    try {
      witness.key().verify(message(checkpoint.note().text(), seconds), signature);
    } catch (WritException e) {
      throw new WritException(LedgerError.NOTE_SIGNATURE, "witness " + witness, e);
    }
    return new Cosignature(witness, Instant.ofEpochSecond(seconds));
  }

  private static void requireTime(String name, long seconds) {
    if (seconds <= 0 || seconds > SECONDS_MAX) {
      throw new WritException(
          LedgerError.COSIGNATURE_TIME,
          "witness " + name + ": " + Long.toUnsignedString(seconds) + " seconds");
    }
  }

  private static byte[] message(String text, long seconds) {
    return ("cosignature/v1\ntime " + seconds + "\n" + text).getBytes(StandardCharsets.UTF_8);
  }
}
