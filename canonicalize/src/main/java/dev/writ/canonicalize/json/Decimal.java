package dev.writ.canonicalize.json;

import dev.writ.canonicalize.CanonicalizeError;
import java.nio.charset.StandardCharsets;

/**
 * One number literal: its decimal digits, and the IEEE double and the canonical form that follow
 * from them. Work and memory are linear in the literal, however long it is.
 */
final class Decimal {
  /**
   * So many significant digits survive decimal → double → decimal: 10^15 &lt; 2^52. So a literal
   * with no more of them (in the range of normal doubles) is, without its zeros at both ends, the
   * shortest that names its double, which is what ECMAScript writes.
   */
  static final int EXACT_DIGITS = 15;

  private static final int KEPT_DIGITS = 18;

  /** Decimal exponents within ±this are far inside the range of normal doubles. */
  private static final int EXACT_EXPONENT = 290;

  /**
   * No double, and no midpoint of two, has more than 768 significant digits: behind so many, only
   * whether anything but zeros follows can still matter.
   */
  private static final int DIGITS_MAX = 800;

  private static final double[] POWERS = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22
  };

  private final byte[] in;
  private boolean negative;

  /** The significant digits, without zeros at either end, where they are at most KEPT_DIGITS. */
  private long digits;

  private int count;

  /** Where the point is: the value is 0.DIGITS × 10^point. */
  private long point;

  private boolean exact;
  private double value;

  Decimal(byte[] in) {
    this.in = in;
  }

  /**
   * Reads a literal that {@link JsonScanner} has passed.
   *
   * @throws dev.writ.canonicalize.WritException {@code CAN-007} beyond the largest double, {@code
   *     CAN-014} where a number that is not zero rounds to zero
   */
  void read(int start, int end) {
    negative = in[start] == '-';
    int exponentAt = collect(negative ? start + 1 : start, end);
    if (count == 0) {
      exact = true;
      value = negative ? -0.0 : 0.0;
      return;
    }
    point += exponent(exponentAt, end);
    exact = count <= EXACT_DIGITS && Math.abs(point) <= EXACT_EXPONENT;
    long power = point - count;
    boolean areExact = count <= KEPT_DIGITS && digits <= 1L << 53;
    if (areExact && Math.abs(power) <= 22) {
      // Both operands are exact, so IEEE arithmetic rounds once, as parsing must.
      double whole = (double) digits;
      value = power < 0 ? whole / POWERS[(int) -power] : whole * POWERS[(int) power];
    } else if (count <= KEPT_DIGITS && Math.abs(power) <= EiselLemire.EXPONENT_MAX) {
      value = EiselLemire.nearest(digits, (int) power);
    } else {
      value = parse(start, end, exponentAt);
    }
    if (Double.isInfinite(value)) {
      throw JsonScanner.refuse(CanonicalizeError.NUMBER_RANGE, start);
    }
    if (value == 0) {
      throw JsonScanner.refuse(CanonicalizeError.NUMBER_UNDERFLOW, start);
    }
    value = negative ? -value : value;
  }

  double value() {
    return value;
  }

  /** Writes the canonical form; returns its end. */
  int write(byte[] out, int at) {
    if (exact && count > 0) {
      return EcmaNumbers.layOut(negative, digits, count, (int) point, out, at);
    }
    return EcmaNumbers.write(value, out, at);
  }

  /** Collects the significant digits; returns where the exponent begins. */
  private int collect(int i, int end) {
    digits = 0;
    count = 0;
    point = 0;
    int zeros = 0;
    boolean fraction = false;
    for (; i < end; i++) {
      int d = in[i] - '0';
      if (d == '.' - '0') {
        fraction = true;
        continue;
      }
      if (d > 9) {
        break;
      }
      if (d != 0) {
        count += zeros + 1;
        if (count <= KEPT_DIGITS) {
          digits = digits * (long) POWERS[zeros + 1] + d;
        }
        zeros = 0;
      } else if (count > 0) {
        zeros++;
      }
      if (!fraction) {
        point += count > 0 ? 1 : 0;
      } else if (count == 0) {
        point--;
      }
    }
    return i;
  }

  /** The written exponent, kept within ±10^10: no literal has so many digits to make up for it. */
  private long exponent(int i, int end) {
    if (i == end) {
      return 0;
    }
    i++;
    boolean minus = in[i] == '-';
    if (minus || in[i] == '+') {
      i++;
    }
    long exponent = 0;
    for (; i < end; i++) {
      exponent = Math.min(10 * exponent + in[i] - '0', 10_000_000_000L);
    }
    return minus ? -exponent : exponent;
  }

  private double parse(int start, int end, int exponentAt) {
    if (point > 310) {
      return Double.POSITIVE_INFINITY;
    }
    if (point < -330) {
      return 0;
    }
    if (count <= KEPT_DIGITS) {
      return Double.parseDouble(digits + "e" + (point - count));
    }
    byte[] text = new byte[Math.min(count, DIGITS_MAX)];
    int length = 0;
    for (int i = start; i < exponentAt && length < text.length; i++) {
      if (in[i] > '0' || in[i] == '0' && length > 0) {
        text[length++] = in[i];
      }
    }
    String shown = new String(text, StandardCharsets.ISO_8859_1);
    // The digits end in one that is not zero, so whatever is cut off stands for a little more.
    return count <= DIGITS_MAX
        ? Double.parseDouble(shown + "e" + (point - length))
        : Double.parseDouble(shown + "1e" + (point - length - 1));
  }
}
