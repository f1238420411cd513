package dev.writ.canonicalize.json;

import java.math.BigInteger;

/**
 * The nearest double of DIGITS × 10^EXPONENT for moderate exponents, by one or two multiplications:
 * the algorithm of Michael Eisel and Daniel Lemire ("Number Parsing at a Gigabyte per Second",
 * 2021), whose proof (Mushtak and Lemire, "Fast Number Parsing Without Fallback", 2023) covers
 * every 64-bit number of digits. {@link Double#parseDouble} takes a hundred times as long for 17
 * digits.
 */
final class EiselLemire {
  /** Within ±this no number of 64 bits comes near the subnormals or infinity. */
  static final int EXPONENT_MAX = 64;

  /** The upper 128 bits of each power of five, normalized: rounded up for negative exponents. */
  private static final long[] HIGH = new long[2 * EXPONENT_MAX + 1];

  private static final long[] LOW = new long[2 * EXPONENT_MAX + 1];

  static {
    for (int q = -EXPONENT_MAX; q <= EXPONENT_MAX; q++) {
      BigInteger power = BigInteger.valueOf(5).pow(Math.abs(q));
      BigInteger bits =
          q >= 0 ? power.shiftLeft(128).shiftRight(power.bitLength()) : reciprocal(power);
      HIGH[q + EXPONENT_MAX] = bits.shiftRight(64).longValue();
      LOW[q + EXPONENT_MAX] = bits.longValue();
    }
  }

  private EiselLemire() {}

  private static BigInteger reciprocal(BigInteger power) {
    int bits = 127 + power.bitLength();
    return BigInteger.ONE.shiftLeft(bits).divide(power).add(BigInteger.ONE);
  }

  /**
   * @param digits not 0, unsigned
   * @param exponent within ±{@link #EXPONENT_MAX}
   */
  static double nearest(long digits, int exponent) {
    int zeros = Long.numberOfLeadingZeros(digits);
    long w = digits << zeros;
    long low = w * HIGH[exponent + EXPONENT_MAX];
    long high = Math.unsignedMultiplyHigh(w, HIGH[exponent + EXPONENT_MAX]);
    if ((high & 0x1FF) == 0x1FF) {
      // Too close to the next number to be sure: take the lower half of the power in as well.
      long second = Math.unsignedMultiplyHigh(w, LOW[exponent + EXPONENT_MAX]);
      low += second;
      if (Long.compareUnsigned(low, second) < 0) {
        high++;
      }
    }
    int top = (int) (high >>> 63);
    int shift = top + 9;
    long mantissa = high >>> shift; // 54 bits: one more than a double has
    int power = (217706 * exponent >> 16) + 63 + top - zeros + 1023;
    boolean halfway =
        Long.compareUnsigned(low, 1) <= 0
            && exponent >= -4
            && exponent <= 23
            && (mantissa & 3) == 1
            && mantissa << shift == high;
    if (halfway) {
      mantissa &= ~1L; // to even, which is down
    }
    mantissa = mantissa + (mantissa & 1) >>> 1;
    if (mantissa == 1L << 53) {
      mantissa = 1L << 52;
      power++;
    }
    return Double.longBitsToDouble(mantissa & ~(1L << 52) | (long) power << 52);
  }
}
