package dev.writ.ledger.event;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** The form of names and the bytes that keys are made of. */
public final class Names {
  static final int LENGTH_MAX = 256;

  private Names() {}

  /**
   * A name of a tenant, run, kind or table: the rule of {@code Fields.name}, and whole characters.
   */
  public static String check(String what, String name) {
    if (name.isEmpty() || name.length() > LENGTH_MAX || hasControl(name)) {
      throw new WritException(LedgerError.NAME, what + " of " + name.length() + " characters");
    }
    if (hasSurrogate(name)) {
      encode(what, name);
    }
    return name;
  }

  private static boolean hasControl(String name) {
    for (int i = 0; i < name.length(); i++) {
      if (name.charAt(i) < 0x20 || name.charAt(i) == 0x7f) {
        return true;
      }
    }
    return false;
  }

  private static boolean hasSurrogate(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i))) {
        return true;
      }
    }
    return false;
  }

  /** Strict UTF-8: half a surrogate pair would silently become "?" and two keys one. */
  public static byte[] utf8(String what, String text) {
    return hasSurrogate(text) ? encode(what, text) : text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] encode(String what, String text) {
    try {
      ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      byte[] result = new byte[bytes.remaining()];
      bytes.get(result);
      return result;
    } catch (CharacterCodingException e) {
      throw new WritException(LedgerError.NAME, what + " holds half of a surrogate pair", e);
    }
  }
}
