package dev.writ.ledger.note;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.Algorithm;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Names;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The text form of a public key in C2SP signed-note ("vkey"), {@code name+id+base64(type || key)},
 * the id being eight lower-case hex digits.
 *
 * @param type the byte of the signature type, which says how the key signs
 */
public record VerifierKeyText(byte type) {
  private static final Pattern TEXT =
      Pattern.compile("([^+]+)\\+([0-9a-f]{8})\\+([A-Za-z0-9+/=]+)");

  /** A name and an Ed25519 key. */
  record Parsed(String name, VerifyingKey key) {}

  /**
   * @throws WritException {@code LED-055} for a name that C2SP does not allow, or a key of another
   *     algorithm than Ed25519, for which the signature type would be false
   */
  static void require(String name, VerifyingKey key) {
    requireName(name);
    if (key.algorithm() != Algorithm.ED25519) {
      throw new WritException(
          LedgerError.KEY_TEXT, "the key is one of " + key.algorithm().text() + ", not of Ed25519");
    }
  }

  public static void requireName(String name) {
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

  /** SHA-256(name || 0x0A || type || key)[:4]. */
  byte[] id(String name, VerifyingKey key) {
    byte[] head = (name + "\n").getBytes(StandardCharsets.UTF_8);
    return Arrays.copyOf(Digest.sha256(head, new byte[] {type}, key.bytes()).bytes(), 4);
  }

  /**
   * @throws WritException {@code LED-055} for another form or type, or an id that is not the key's
   */
  public Parsed parse(String text) {
    Matcher matcher = TEXT.matcher(text);
    if (!matcher.matches()) {
      throw new WritException(LedgerError.KEY_TEXT, text.length() + " characters");
    }
    byte[] typed = SignedNote.base64(matcher.group(3), LedgerError.KEY_TEXT, "the key");
    if (typed.length != 33 || typed[0] != type) {
      throw new WritException(
          LedgerError.KEY_TEXT, "the key is not one of Ed25519 of the type " + type);
    }
    Parsed parsed =
        new Parsed(
            matcher.group(1), VerifyingKey.ed25519(Arrays.copyOfRange(typed, 1, typed.length)));
    require(parsed.name(), parsed.key());
    String id = HexFormat.of().formatHex(id(parsed.name(), parsed.key()));
    if (!id.equals(matcher.group(2))) {
      throw new WritException(
          LedgerError.KEY_TEXT, "the id is " + matcher.group(2) + ", but the key's is " + id);
    }
    return parsed;
  }

  String text(String name, VerifyingKey key) {
    byte[] typed = new byte[33];
    typed[0] = type;
    System.arraycopy(key.bytes(), 0, typed, 1, 32);
    return name
        + "+"
        + HexFormat.of().formatHex(id(name, key))
        + "+"
        + Base64.getEncoder().encodeToString(typed);
  }
}
