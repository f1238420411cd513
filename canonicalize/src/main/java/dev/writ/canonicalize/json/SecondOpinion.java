package dev.writ.canonicalize.json;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import java.io.IOException;
import java.util.Arrays;
import java.util.HexFormat;
import org.erdtman.jcs.JsonCanonicalizer;

/**
 * Asks another canonicalizer, erdtman's java-json-canonicalization 1.1, whether it agrees with
 * ours.
 *
 * <p>What it gets wrong, and what is done about it (each is pinned by a test, so that a release of
 * it that mends one is noticed):
 *
 * <ul>
 *   <li>It accepts lone surrogates, invalid UTF-8, leading zeros, and numbers that round to zero.
 *       Our refusal comes first, so on such texts it has no say.
 *   <li>It refuses a scalar at the top. It is asked about an array of that scalar.
 *   <li>Of the subnormal doubles it writes 1e-320 as 0.000…1e-178, and on 1e-315 it computes until
 *       the memory is full. It is asked about the text with 0 in place of every subnormal number.
 *   <li>It overflows the stack near 2,500 levels. {@link Limits#DEFAULT} ends far before.
 * </ul>
 */
public final class SecondOpinion {
  private SecondOpinion() {}

  /**
   * Compares both canonical forms of a text under {@link Limits#DEFAULT}.
   *
   * @throws WritException {@code CAN-013} where they differ or erdtman's refuses the text; our own
   *     refusal, {@code CAN-001} to {@code CAN-014}, where there is no form to compare
   */
  public static void check(byte[] json) {
    byte[] ours = Jcs.canonicalize(json);
    byte[] asked = new Askable(json).text();
    if (asked != json) {
      ours = Jcs.canonicalize(asked);
    }
    boolean scalar = ours[0] != '{' && ours[0] != '[';
    compare(scalar ? inArray(ours) : ours, theirs(scalar ? inArray(asked) : asked));
  }

  private static byte[] theirs(byte[] json) {
    try {
      return new JsonCanonicalizer(json).getEncodedUTF8();
    } catch (IOException | RuntimeException e) {
      // Its message may quote the text, so neither it nor the exception goes further.
      throw new WritException(CanonicalizeError.SECOND_OPINION, "it refuses what we accept");
    }
  }

  static void compare(byte[] ours, byte[] theirs) {
    int at = Arrays.mismatch(ours, theirs);
    if (at >= 0) {
      throw new WritException(
          CanonicalizeError.SECOND_OPINION,
          "at byte "
              + at
              + " of the canonical form ours has "
              + shown(ours, at)
              + ", erdtman's "
              + shown(theirs, at));
    }
  }

  private static String shown(byte[] form, int at) {
    return at < form.length ? "0x" + HexFormat.of().toHexDigits(form[at]) : "its end";
  }

  private static byte[] inArray(byte[] json) {
    byte[] array = new byte[json.length + 2];
    array[0] = '[';
    System.arraycopy(json, 0, array, 1, json.length);
    array[array.length - 1] = ']';
    return array;
  }

  /** Replaces each number that erdtman's canonicalizer cannot be asked about by 0. */
  private static final class Askable extends JsonScanner {
    private final ByteSink out = new ByteSink(ByteSink.MAX);
    private int runStart;

    Askable(byte[] json) {
      super(json, Limits.DEFAULT);
    }

    /** The text to ask about: the same array if there is nothing to replace. */
    byte[] text() {
      scan();
      if (runStart == 0) {
        return in;
      }
      out.put(in, runStart, in.length);
      return out.toBytes();
    }

    @Override
    void number(int start, int end, Decimal number) {
      double size = Math.abs(number.value());
      if (size > 0 && size < Double.MIN_NORMAL) {
        out.put(in, runStart, start);
        out.put('0');
        runStart = end;
      }
    }

    @Override
    void space(int start, int end) {}

    @Override
    void openObject(int start) {}

    @Override
    void closeObject(int at) {}

    @Override
    void openArray() {}

    @Override
    void closeArray() {}

    @Override
    void key(int start, int end, boolean escaped, boolean canonical) {}

    @Override
    void string(int start, int end, boolean escaped, boolean canonical) {}

    @Override
    void integer(int start, int end, long value) {}

    @Override
    void literal(JsonValue value) {}
  }
}
