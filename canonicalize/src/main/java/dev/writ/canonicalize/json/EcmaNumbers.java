package dev.writ.canonicalize.json;

import java.nio.charset.StandardCharsets;

/** Numbers as ECMAScript's Number::toString writes them, which RFC 8785, 3.2.2.3 demands. */
final class EcmaNumbers {
  /** No number is written longer: {@code -1.2345678901234567e-308} and the like. */
  static final int LENGTH_MAX = 32;

  /**
   * Below this a double may have so few bits that one digit identifies it, but Double.toString
   * writes at least two: 4.9E-324 for ECMAScript's 5e-324.
   */
  private static final double FEW_BITS = 256 * Double.MIN_VALUE;

  private EcmaNumbers() {}

  static String format(double value) {
    byte[] out = new byte[LENGTH_MAX];
    return new String(out, 0, write(value, out, 0), StandardCharsets.ISO_8859_1);
  }

  /** Writes a finite number at {@code at}, where there are {@link #LENGTH_MAX} bytes of room. */
  static int write(double value, byte[] out, int at) {
    if (Math.abs(value) <= JsonValue.Num.MAX_INTEGER && (long) value == value) {
      return writeInteger((long) value, out, at);
    }
    // Double.toString gives the shortest digits since JDK 19 (JDK-4511638); its layout is another.
    String text = Double.toString(Math.abs(value));
    long digits = 0;
    int count = 0;
    int zeros = 0;
    int point = 0;
    boolean fraction = false;
    int i = 0;
    for (char c; i < text.length() && (c = text.charAt(i)) != 'E'; i++) {
      if (c == '.') {
        fraction = true;
      } else if (c == '0') {
        zeros += count > 0 ? 1 : 0;
        point += fraction ? (count > 0 ? 0 : -1) : (count > 0 ? 1 : 0);
      } else {
        count += zeros + 1;
        for (; zeros >= 0; zeros--) {
          digits *= 10;
        }
        digits += c - '0';
        zeros = 0;
        point += fraction ? 0 : 1;
      }
    }
    if (i < text.length()) {
      point += Integer.parseInt(text, i + 1, text.length(), 10);
    }
    if (count == 2 && Math.abs(value) < FEW_BITS) {
      long single = oneDigit(Math.abs(value), digits, point);
      if (single > 0) {
        digits = single == 10 ? 1 : single;
        count = 1;
        point += single == 10 ? 1 : 0;
      }
    }
    return layOut(value < 0, digits, count, point, out, at);
  }

  /** The nearest single digit (10 for the next power) that names the same double, or 0. */
  private static long oneDigit(double value, long digits, int point) {
    long near = (digits + 5) / 10;
    long far = digits % 10 < 5 ? near + 1 : near - 1;
    for (long digit : new long[] {near, far}) {
      if (digit > 0 && Double.parseDouble(digit + "e" + (point - 1)) == value) {
        return digit;
      }
    }
    return 0;
  }

  /**
   * Writes digits in the layout of Number::toString, steps 6 to 10.
   *
   * @param digits the significant digits as a number, without zeros at either end
   * @param count how many they are, k in ECMAScript
   * @param point where the point is, n in ECMAScript: the value is 0.DIGITS × 10^point
   */
  static int layOut(boolean negative, long digits, int count, int point, byte[] out, int at) {
    if (negative) {
      out[at++] = '-';
    }
    if (count <= point && point <= 21) {
      putDigits(digits, count, out, at);
      at += count;
      return putZeros(point - count, out, at);
    }
    if (0 < point && point <= 21) {
      // Writes all digits one place too far right, then moves those before the point one to the
      // left.
      putDigits(digits, count, out, at + 1);
      System.arraycopy(out, at + 1, out, at, point);
      out[at + point] = '.';
      return at + count + 1;
    }
    if (-6 < point && point <= 0) {
      out[at++] = '0';
      out[at++] = '.';
      at = putZeros(-point, out, at);
      putDigits(digits, count, out, at);
      return at + count;
    }
    putDigits(digits, count, out, at + 1);
    out[at] = out[at + 1];
    at++;
    if (count > 1) {
      out[at] = '.';
      at += count;
    }
    out[at++] = 'e';
    out[at++] = (byte) (point > 0 ? '+' : '-');
    return writeInteger(Math.abs(point - 1), out, at);
  }

  /** Writes an integer within ±(2^53 − 1), where the layout is the plain one. */
  static int writeInteger(long value, byte[] out, int at) {
    if (value < 0) {
      out[at++] = '-';
      value = -value;
    }
    int count = 1;
    for (long v = value; v >= 10; v /= 10) {
      count++;
    }
    putDigits(value, count, out, at);
    return at + count;
  }

  private static void putDigits(long digits, int count, byte[] out, int at) {
    for (int i = at + count - 1; i >= at; i--) {
      long tenth = digits / 10;
      out[i] = (byte) ('0' + digits - 10 * tenth);
      digits = tenth;
    }
  }

  private static int putZeros(int count, byte[] out, int at) {
    for (int end = at + count; at < end; at++) {
      out[at] = '0';
    }
    return at;
  }
}
