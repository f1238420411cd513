package dev.writ.ledger.note;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.VerifyingKey;

/**
 * The public key of a witness with its name (spec/witness.md). Its text form differs from that of a
 * {@link NoteKey} in the type byte, 0x04, so that the two are not mistaken for each other.
 *
 * @param name not empty, without Unicode spaces, plus signs and control characters
 */
public record WitnessKey(String name, VerifyingKey key) {
  /** Ed25519 cosignatures with a time, in C2SP tlog-cosignature. */
  private static final VerifierKeyText TEXT_FORM = new VerifierKeyText((byte) 0x04);

  /**
   * @throws WritException {@code LED-055} for a name that C2SP does not allow, or a key of another
   *     algorithm than Ed25519
   */
  public WitnessKey {
    VerifierKeyText.require(name, key);
  }

  /** SHA-256(name || 0x0A || 0x04 || key)[:4]. */
  byte[] id() {
    return TEXT_FORM.id(name, key);
  }

  /**
   * Reads the text form.
   *
   * @throws WritException {@code LED-055} for another form, or an id that is not the key's
   */
  public static WitnessKey parse(String text) {
    VerifierKeyText.Parsed parsed = TEXT_FORM.parse(text);
    return new WitnessKey(parsed.name(), parsed.key());
  }

  /** The text form. */
  @Override
  public String toString() {
    return TEXT_FORM.text(name, key);
  }
}
