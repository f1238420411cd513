package dev.writ.canonicalize;

import java.util.Base64;

/**
 * The two base64 forms of our documents, each with exactly one spelling for each byte string:
 * standard with padding (RFC 4648, 4) in envelopes, URL-safe without (RFC 4648, 5) in JWKs. The
 * JDK's decoders also take missing or superfluous padding and set spare bits; these do not.
 */
public final class StrictBase64 {
  private StrictBase64() {}

  /** Standard base64 with padding. */
  public static String encode(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }

  /** URL-safe base64 without padding. */
  public static String encodeUrl(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  /**
   * Reads standard base64 with padding.
   *
   * @param path where the text stands, for the message
   * @throws WritException {@code CAN-023} for any other spelling
   */
  public static byte[] decode(String path, String text) {
    if (text.length() % 4 == 0 && spareBitsAreZero(text)) {
      try {
        return Base64.getDecoder().decode(text);
      } catch (IllegalArgumentException e) {
        // refused below, with the other wrong forms
      }
    }
    throw new WritException(
        CanonicalizeError.FIELD_VALUE, path + " is not padded standard base64 (RFC 4648, 4)");
  }

  /**
   * Reads URL-safe base64 without padding.
   *
   * @param path where the text stands, for the message
   * @throws WritException {@code CAN-023} for any other spelling
   */
  public static byte[] decodeUrl(String path, String text) {
    if (!text.endsWith("=") && spareBitsAreZero(text)) {
      try {
        return Base64.getUrlDecoder().decode(text);
      } catch (IllegalArgumentException e) {
        // refused below, with the other wrong forms
      }
    }
    throw new WritException(
        CanonicalizeError.FIELD_VALUE,
        path + " is not base64url without padding (RFC 4648, 5; RFC 7515, 2)");
  }

  /** Whether the bits of the last digit that carry nothing are zero. */
  private static boolean spareBitsAreZero(String text) {
    int digits = text.length();
    while (digits > 0 && text.charAt(digits - 1) == '=') {
      digits--;
    }
    int spareBits = digits % 4 == 2 ? 4 : digits % 4 == 3 ? 2 : 0;
    return spareBits == 0 || value(text.charAt(digits - 1)) % (1 << spareBits) == 0;
  }

  /** The value of a digit of either alphabet; that it belongs to the right one is checked later. */
  private static int value(char digit) {
    if (digit >= 'A' && digit <= 'Z') {
      return digit - 'A';
    }
    if (digit >= 'a' && digit <= 'z') {
      return digit - 'a' + 26;
    }
    if (digit >= '0' && digit <= '9') {
      return digit - '0' + 52;
    }
    return digit == '+' || digit == '-' ? 62 : 63;
  }
}
