package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.Algorithm;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.ledger.error.LedgerError;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A public key with a name, as C2SP signed-note identifies signers. Its text form ("vkey") is
 * {@code name+id+base64(0x01 || key)}, id being eight lower-case hex digits.
 *
 * @param name not empty, without Unicode spaces, plus signs and control characters
 */
public record NoteKey(String name, VerifyingKey key) {
  /** Signature type of Ed25519 in C2SP signed-note. */
  private static final byte ED25519 = 0x01;

  private static final Pattern TEXT =
      Pattern.compile("([^+]+)\\+([0-9a-f]{8})\\+([A-Za-z0-9+/=]+)");

  /**
   * @throws WritException {@code LED-055} for a name that C2SP does not allow, or a key of another
   *     algorithm than Ed25519, for which the signature type would be false
   */
  public NoteKey {
    requireName(name);
    if (key.algorithm() != Algorithm.ED25519) {
      throw new WritException(
          LedgerError.KEY_TEXT, "the key is one of " + key.algorithm().text() + ", not of Ed25519");
    }
  }

  static void requireName(String name) {
    Names.utf8("note key name", name);
    if (name.isEmpty()
        || name.codePoints()
            .anyMatch(c ->
                c == '+'
                    || c < 0x20
                    || c == 0x85
                    || Character.isSpaceChar(c)
                    || Character.isWhitespace(c))) {
      throw new WritException(
          LedgerError.KEY_TEXT, "a key name is empty, or has a space or a plus");
    }
  }

  /** SHA-256(name || 0x0A || 0x01 || key)[:4]. */
  public byte[] id() {
    byte[] head = (name + "\n").getBytes(StandardCharsets.UTF_8);
    return Arrays.copyOf(Digest.sha256(head, new byte[] {ED25519}, key.bytes()).bytes(), 4);
  }

  /**
   * Reads the text form.
   *
   * @throws WritException {@code LED-055} for another form or an id that is not the key's
   */
  public static NoteKey parse(String text) {
    Matcher matcher = TEXT.matcher(text);
    if (!matcher.matches()) {
      throw new WritException(LedgerError.KEY_TEXT, text.length() + " characters");
    }
    byte[] typed = SignedNote.base64(matcher.group(3), LedgerError.KEY_TEXT, "the key");
    if (typed.length != 33 || typed[0] != ED25519) {
      throw new WritException(LedgerError.KEY_TEXT, "the key is not one of Ed25519");
    }
    NoteKey key =
        new NoteKey(
            matcher.group(1), VerifyingKey.ed25519(Arrays.copyOfRange(typed, 1, typed.length)));
    String id = HexFormat.of().formatHex(key.id());
    if (!id.equals(matcher.group(2))) {
      throw new WritException(
          LedgerError.KEY_TEXT, "the id is " + matcher.group(2) + ", but the key's is " + id);
    }
    return key;
  }

  /** The text form. */
  @Override
  public String toString() {
    byte[] typed = new byte[33];
    typed[0] = ED25519;
    System.arraycopy(key.bytes(), 0, typed, 1, 32);
    return name
        + "+"
        + HexFormat.of().formatHex(id())
        + "+"
        + Base64.getEncoder().encodeToString(typed);
  }
}
