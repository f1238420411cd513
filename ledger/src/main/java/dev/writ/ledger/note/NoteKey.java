package dev.writ.ledger.note;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.VerifyingKey;

/**
 * A public key with a name, as C2SP signed-note identifies signers. Its text form ("vkey") is
 * {@code name+id+base64(0x01 || key)}, id being eight lower-case hex digits.
 *
 * @param name not empty, without Unicode spaces, plus signs and control characters
 */
public record NoteKey(String name, VerifyingKey key) {
  /** Ed25519 over the text of the note, in C2SP signed-note. */
  private static final VerifierKeyText TEXT_FORM = new VerifierKeyText((byte) 0x01);

  /**
   * @throws WritException {@code LED-055} for a name that C2SP does not allow, or a key of another
   *     algorithm than Ed25519, for which the signature type would be false
   */
  public NoteKey {
    VerifierKeyText.require(name, key);
  }

  /** SHA-256(name || 0x0A || 0x01 || key)[:4]. */
  public byte[] id() {
    return TEXT_FORM.id(name, key);
  }

  /**
   * Reads the text form.
   *
   * @throws WritException {@code LED-055} for another form or an id that is not the key's
   */
  public static NoteKey parse(String text) {
    VerifierKeyText.Parsed parsed = TEXT_FORM.parse(text);
    return new NoteKey(parsed.name(), parsed.key());
  }

  /** The text form. */
  @Override
  public String toString() {
    return TEXT_FORM.text(name, key);
  }
}
