package dev.writ.canonicalize.crypto;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A number modulo 2^255 − 19, which its operations change in place. For public data only: the time
 * that {@link #isZero} and the callers take depends on the value.
 *
 * <p>It is the sum of five signed limbs times 2^0, 2^51, 2^102, 2^153, 2^204. After a product or a
 * square each lies between −2^13 and 2^51 + 2^13, one unit; sums and differences do not carry, so
 * that they add up units. Products take limbs of at most four units (2^53 and a little): no step in
 * between then leaves 63 bits.
 */
final class Field25519 {
  private static final int BITS = 51;
  private static final long MASK = (1L << BITS) - 1;

  private long l0;
  private long l1;
  private long l2;
  private long l3;
  private long l4;

  static Field25519 of(int small) {
    Field25519 value = new Field25519();
    value.l0 = small;
    return value;
  }

  /** From limbs below 2^51. */
  static Field25519 of(long l0, long l1, long l2, long l3, long l4) {
    Field25519 value = new Field25519();
    value.l0 = l0;
    value.l1 = l1;
    value.l2 = l2;
    value.l3 = l3;
    value.l4 = l4;
    return value;
  }

  /** From 32 bytes, little-endian, whose highest bit is not looked at. */
  void decode(byte[] bytes, int at) {
    ByteBuffer in = ByteBuffer.wrap(bytes, at, Ed25519Rule.HALF).order(ByteOrder.LITTLE_ENDIAN);
    long w0 = in.getLong();
    long w1 = in.getLong();
    long w2 = in.getLong();
    long w3 = in.getLong();
    l0 = w0 & MASK;
    l1 = (w0 >>> 51 | w1 << 13) & MASK;
    l2 = (w1 >>> 38 | w2 << 26) & MASK;
    l3 = (w2 >>> 25 | w3 << 39) & MASK;
    l4 = w3 >>> 12 & MASK;
  }

  /** The 32 bytes, little-endian, of the one representative below 2^255 − 19. */
  byte[] encode() {
    Field25519 one = new Field25519();
    one.set(this);
    // The first pass leaves only the lowest limb out of its range, by little; the second none.
    one.carry();
    one.carry();
    // Now 0 <= value < 2^255: 19 more reach 2^255 where the value is not below the prime.
    one.l0 += 19 * one.overflow(19);
    one.carryWithoutWrap();
    return ByteBuffer.allocate(Ed25519Rule.HALF)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(one.l0 | one.l1 << 51)
        .putLong(one.l1 >>> 13 | one.l2 << 38)
        .putLong(one.l2 >>> 26 | one.l3 << 25)
        .putLong(one.l3 >>> 39 | one.l4 << 12)
        .array();
  }

  private long overflow(long added) {
    long carry = l0 + added >> BITS;
    carry = l1 + carry >> BITS;
    carry = l2 + carry >> BITS;
    carry = l3 + carry >> BITS;
    return l4 + carry >> BITS;
  }

  private void carry() {
    long over = overflow(0);
    carryWithoutWrap();
    l0 += 19 * over;
  }

  private void carryWithoutWrap() {
    l1 += l0 >> BITS;
    l0 &= MASK;
    l2 += l1 >> BITS;
    l1 &= MASK;
    l3 += l2 >> BITS;
    l2 &= MASK;
    l4 += l3 >> BITS;
    l3 &= MASK;
    l4 &= MASK;
  }

  /** Whether it is zero modulo the prime. */
  boolean isZero() {
    int bits = 0;
    for (byte b : encode()) {
      bits |= b;
    }
    return bits == 0;
  }

  /** Whether the representative below the prime is odd; RFC 8032 calls it the sign. */
  boolean isOdd() {
    return (encode()[0] & 1) != 0;
  }

  void set(Field25519 a) {
    l0 = a.l0;
    l1 = a.l1;
    l2 = a.l2;
    l3 = a.l3;
    l4 = a.l4;
  }

  /** Becomes a + b. */
  void sum(Field25519 a, Field25519 b) {
    l0 = a.l0 + b.l0;
    l1 = a.l1 + b.l1;
    l2 = a.l2 + b.l2;
    l3 = a.l3 + b.l3;
    l4 = a.l4 + b.l4;
  }

  /** Becomes a − b. */
  void difference(Field25519 a, Field25519 b) {
    l0 = a.l0 - b.l0;
    l1 = a.l1 - b.l1;
    l2 = a.l2 - b.l2;
    l3 = a.l3 - b.l3;
    l4 = a.l4 - b.l4;
  }

  /**
   * The product of two limbs divided by 2^51, rounded down. Both are shifted so that the upper half
   * of the JVM's 128-bit product begins there; the first is a limb of at most four units, the
   * second may have been multiplied by 38.
   */
  private static long high(long a, long b) {
    return Math.multiplyHigh(a << 9, b << 4);
  }

  /**
   * Becomes a · b. Where limbs i and j meet they belong to limb i + j, or times 19 to i + j − 5.
   * The low halves of a limb's products are not cut out one by one: as the sum of the products is
   * 2^51 · h + l with 0 <= l < 5 · 2^51, l is what remains of it modulo 2^64.
   */
  void product(Field25519 a, Field25519 b) {
    long a0 = a.l0;
    long a1 = a.l1;
    long a2 = a.l2;
    long a3 = a.l3;
    long a4 = a.l4;
    long b0 = b.l0;
    long b1 = b.l1;
    long b2 = b.l2;
    long b3 = b.l3;
    long b4 = b.l4;
    long c1 = 19 * b1;
    long c2 = 19 * b2;
    long c3 = 19 * b3;
    long c4 = 19 * b4;
    long h0 = high(a0, b0) + high(a1, c4) + high(a2, c3) + high(a3, c2) + high(a4, c1);
    long h1 = high(a0, b1) + high(a1, b0) + high(a2, c4) + high(a3, c3) + high(a4, c2);
    long h2 = high(a0, b2) + high(a1, b1) + high(a2, b0) + high(a3, c4) + high(a4, c3);
    long h3 = high(a0, b3) + high(a1, b2) + high(a2, b1) + high(a3, b0) + high(a4, c4);
    long h4 = high(a0, b4) + high(a1, b3) + high(a2, b2) + high(a3, b1) + high(a4, b0);
    long r0 = a0 * b0 + a1 * c4 + a2 * c3 + a3 * c2 + a4 * c1 - (h0 << BITS) + 19 * h4;
    long r1 = a0 * b1 + a1 * b0 + a2 * c4 + a3 * c3 + a4 * c2 - (h1 << BITS) + h0;
    long r2 = a0 * b2 + a1 * b1 + a2 * b0 + a3 * c4 + a4 * c3 - (h2 << BITS) + h1;
    long r3 = a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0 + a4 * c4 - (h3 << BITS) + h2;
    long r4 = a0 * b4 + a1 * b3 + a2 * b2 + a3 * b1 + a4 * b0 - (h4 << BITS) + h3;
    // All carries at once: each is below 2^11, so that one pass gives limbs of one unit.
    l0 = (r0 & MASK) + 19 * (r4 >> BITS);
    l1 = (r1 & MASK) + (r0 >> BITS);
    l2 = (r2 & MASK) + (r1 >> BITS);
    l3 = (r3 & MASK) + (r2 >> BITS);
    l4 = (r4 & MASK) + (r3 >> BITS);
  }

  /** Becomes a². */
  void square(Field25519 a) {
    squareTimes(a, 1);
  }

  /** Becomes a to the power 2^times; a product, in which equal pairs of limbs are taken once. */
  void squareTimes(Field25519 a, int times) {
    long a0 = a.l0;
    long a1 = a.l1;
    long a2 = a.l2;
    long a3 = a.l3;
    long a4 = a.l4;
    for (int i = 0; i < times; i++) {
      long d0 = 2 * a0;
      long d1 = 2 * a1;
      long c3 = 19 * a3;
      long c4 = 19 * a4;
      long e3 = 2 * c3;
      long e4 = 2 * c4;
      long h0 = high(a0, a0) + high(a1, e4) + high(a2, e3);
      long h1 = high(a1, d0) + high(a2, e4) + high(a3, c3);
      long h2 = high(a2, d0) + high(a1, a1) + high(a3, e4);
      long h3 = high(a3, d0) + high(a2, d1) + high(a4, c4);
      long h4 = high(a4, d0) + high(a3, d1) + high(a2, a2);
      long r0 = a0 * a0 + a1 * e4 + a2 * e3 - (h0 << BITS) + 19 * h4;
      long r1 = a1 * d0 + a2 * e4 + a3 * c3 - (h1 << BITS) + h0;
      long r2 = a2 * d0 + a1 * a1 + a3 * e4 - (h2 << BITS) + h1;
      long r3 = a3 * d0 + a2 * d1 + a4 * c4 - (h3 << BITS) + h2;
      long r4 = a4 * d0 + a3 * d1 + a2 * a2 - (h4 << BITS) + h3;
      a0 = (r0 & MASK) + 19 * (r4 >> BITS);
      a1 = (r1 & MASK) + (r0 >> BITS);
      a2 = (r2 & MASK) + (r1 >> BITS);
      a3 = (r3 & MASK) + (r2 >> BITS);
      a4 = (r4 & MASK) + (r3 >> BITS);
    }
    l0 = a0;
    l1 = a1;
    l2 = a2;
    l3 = a3;
    l4 = a4;
  }

  /** Becomes a to the power 2^252 − 3, which is (p − 5) / 8. */
  void squareRootPower(Field25519 a) {
    Field25519 t = new Field25519();
    Field25519 ones5 = new Field25519();
    Field25519 ones10 = new Field25519();
    Field25519 ones50 = new Field25519();
    // onesN is a to the power 2^N − 1; two runs of ones are joined by squaring and multiplying.
    t.squareTimes(a, 1);
    t.product(t, a);
    ones5.squareTimes(t, 2);
    t.product(t, ones5);
    t.square(t);
    ones5.product(t, a);
    t.squareTimes(ones5, 5);
    ones10.product(t, ones5);
    t.squareTimes(ones10, 10);
    ones50.product(t, ones10);
    t.squareTimes(ones50, 20);
    t.product(t, ones50);
    t.squareTimes(t, 10);
    ones50.product(t, ones10);
    t.squareTimes(ones50, 50);
    t.product(t, ones50);
    Field25519 ones100 = ones10;
    ones100.set(t);
    t.squareTimes(ones100, 100);
    t.product(t, ones100);
    t.squareTimes(t, 50);
    t.product(t, ones50);
    t.squareTimes(t, 2);
    product(t, a);
  }
}
