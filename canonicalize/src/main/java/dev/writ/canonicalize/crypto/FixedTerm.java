package dev.writ.canonicalize.crypto;

import java.math.BigInteger;

/** A point and the odd multiples of it that stand for digits of scalars. */
final class FixedTerm {
  /** Non-zero digits are odd, below 2^(WIDTH − 1), and at least WIDTH places apart. */
  private static final int WIDTH = 5;

  /** Digits of a scalar below L: its 253 bits, and a carry. */
  static final int DIGITS = 254;

  private final Addend25519[] odd = new Addend25519[1 << WIDTH - 2];

  FixedTerm(Edwards25519 curve, Addend25519 point) {
    Point25519 multiple = new Point25519();
    curve.set(multiple, point, false);
    Point25519 sum = new Point25519();
    curve.set(sum, point, false);
    curve.twice(multiple);
    Addend25519 twice = Addend25519.projective();
    curve.prepare(twice, multiple);
    odd[0] = point;
    for (int i = 1; i < odd.length; i++) {
      curve.add(sum, twice, false);
      odd[i] = Addend25519.projective();
      curve.prepare(odd[i], sum);
    }
  }

  /** Adds the point, digit times, where digit is one of {@link #digits}. */
  void add(Edwards25519 curve, Point25519 to, int digit) {
    if (digit != 0) {
      curve.add(to, odd[Math.abs(digit) / 2], digit < 0);
    }
  }

  /** The digits of a scalar (width-w non-adjacent form): the sum of digit i times 2^i is it. */
  static byte[] digits(BigInteger scalar) {
    byte[] digits = new byte[DIGITS];
    int carry = 0;
    for (int i = 0; i < DIGITS; i++) {
      if ((scalar.testBit(i) ? 1 : 0) == carry) {
        continue;
      }
      int window = carry;
      for (int bit = 0; bit < WIDTH; bit++) {
        window += scalar.testBit(i + bit) ? 1 << bit : 0;
      }
      carry = window >> WIDTH - 1;
      digits[i] = (byte) (window - (carry << WIDTH));
      i += WIDTH - 1;
    }
    return digits;
  }
}
