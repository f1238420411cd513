package dev.writ.canonicalize.crypto;

import java.math.BigInteger;
import java.nio.ByteBuffer;

/**
 * A sum of products of coefficients and scalars, as an integer: it is reduced once, at the end,
 * instead of product by product.
 */
final class ScalarSum {
  /** The order of the base point. */
  static final BigInteger L =
      BigInteger.TWO.pow(252).add(new BigInteger("27742317777372353535851937790883648493"));

  /** Two's complement, little-endian: 2^127 · 2^512 · 2^31 has its place, and the sign. */
  private final long[] words = new long[11];

  /** Adds the product of a signed 128-bit coefficient and of an unsigned number, little-endian. */
  void addProduct(long low, long high, long[] number) {
    addRow(low, number, 0);
    addRow(high, number, 1);
    if (high < 0) {
      // The row took the upper half for unsigned, which is 2^64 too much.
      subtract(number, 2);
    }
  }

  private void addRow(long factor, long[] number, int at) {
    long carry = 0;
    for (int i = 0; i < number.length; i++) {
      long low = factor * number[i];
      long high = Math.unsignedMultiplyHigh(factor, number[i]);
      low += carry;
      high += isBelow(low, carry);
      long sum = words[at + i] + low;
      carry = high + isBelow(sum, low);
      words[at + i] = sum;
    }
    for (int i = at + number.length; i < words.length; i++) {
      words[i] += carry;
      carry = isBelow(words[i], carry);
    }
  }

  private void subtract(long[] number, int at) {
    long borrow = 0;
    for (int i = at; i < words.length; i++) {
      long taken = i - at < number.length ? number[i - at] : 0;
      long before = words[i];
      words[i] = before - taken - borrow;
      borrow = isBelow(before, taken) | (before == taken ? borrow : 0);
    }
  }

  private static long isBelow(long a, long b) {
    return Long.compareUnsigned(a, b) < 0 ? 1 : 0;
  }

  /** The sum modulo L. */
  BigInteger reduced() {
    ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES * words.length);
    for (int i = words.length - 1; i >= 0; i--) {
      bytes.putLong(words[i]);
    }
    return new BigInteger(bytes.array()).mod(L);
  }
}
