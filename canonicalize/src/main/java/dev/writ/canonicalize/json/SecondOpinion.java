package dev.writ.canonicalize.json;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import org.erdtman.jcs.JsonCanonicalizer;

/**
 * Asks another canonicalizer, erdtman's java-json-canonicalization 1.1, whether it agrees with ours.
 *
 * <p>What it gets wrong, and what is done about it (each is pinned by a test, so that a release of
 * it that mends one is noticed):
 *
 * <ul>
 *   <li>It accepts lone surrogates, invalid UTF-8, leading zeros, and numbers that round to zero.
 *       Our refusal comes first, so on such texts it has no say.
 *   <li>It refuses a scalar at the top. It is asked about an array of that scalar.
 *   <li>It writes the double 0x7e8, 1e-320, as 0.000…1e-178. There its digits are passed over.
 *   <li>It overflows the stack near 2,500 levels. {@link Limits#DEFAULT} ends far before.
 * </ul>
 */
public final class SecondOpinion {
  /** The one double (and its negative) that erdtman 1.1 writes wrongly, as far as is known. */
  private static final byte[] RIGHT = ascii("1e-320");

  private static final byte[] WRONG = ascii("0." + "0".repeat(141) + "1e-178");

  private SecondOpinion() {}

  /**
   * Compares both canonical forms of a text under {@link Limits#DEFAULT}.
   *
   * @throws WritException {@code CAN-013} where they differ or erdtman's refuses the text; our own
   *     refusal, {@code CAN-001} to {@code CAN-014}, where there is no form to compare
   */
  public static void check(byte[] json) {
    byte[] ours = Jcs.canonicalize(json, Limits.DEFAULT);
    boolean scalar = ours[0] != '{' && ours[0] != '[';
    compare(scalar ? inArray(ours) : ours, theirs(scalar ? inArray(json) : json));
  }

  private static byte[] theirs(byte[] json) {
    try {
      return new JsonCanonicalizer(json).getEncodedUTF8();
    } catch (IOException e) {
      // Its message may quote the text, so neither it nor the exception goes further.
      throw new WritException(
          CanonicalizeError.SECOND_OPINION, "it refuses what we accept");
    }
  }

  /** Compares the two forms; where ours has RIGHT as a number, theirs must have WRONG. */
  static void compare(byte[] ours, byte[] theirs) {
    if (Arrays.equals(ours, theirs)) {
      return;
    }
    boolean string = false;
    int j = 0;
    for (int i = 0; i < ours.length; i++, j++) {
      if (!string && startsWith(ours, i, RIGHT) && startsWith(theirs, j, WRONG)) {
        i += RIGHT.length;
        j += WRONG.length;
      }
      if (i == ours.length || j >= theirs.length || ours[i] != theirs[j]) {
        throw differ(i, ours, j, theirs);
      }
      if (string && ours[i] == '\\') {
        // An escape's second byte may be a quote that ends nothing.
        i++;
        j++;
        if (j == theirs.length || ours[i] != theirs[j]) {
          throw differ(i, ours, j, theirs);
        }
      } else if (ours[i] == '"') {
        string = !string;
      }
    }
    if (j != theirs.length) {
      throw differ(ours.length, ours, j, theirs);
    }
  }

  private static WritException differ(int i, byte[] ours, int j, byte[] theirs) {
    return new WritException(
        CanonicalizeError.SECOND_OPINION,
        "ours has "
            + shown(ours, i)
            + " at byte "
            + i
            + " of the canonical form, erdtman's has "
            + shown(theirs, j));
  }

  private static String shown(byte[] form, int at) {
    return at < form.length ? "0x" + HexFormat.of().toHexDigits(form[at]) : "its end";
  }

  private static boolean startsWith(byte[] form, int at, byte[] token) {
    return at + token.length <= form.length
        && Arrays.equals(form, at, at + token.length, token, 0, token.length);
  }

  private static byte[] inArray(byte[] json) {
    byte[] array = new byte[json.length + 2];
    array[0] = '[';
    System.arraycopy(json, 0, array, 1, json.length);
    array[array.length - 1] = ']';
    return array;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
