package dev.writ.canonicalize.crypto;

import java.util.BitSet;
import java.util.List;

/**
 * The sum of many points times short coefficients, by Pippenger's method: for each digit's place,
 * points go to the bucket of their digit, and the buckets are then summed up from the highest so
 * that each counts as often as its number says.
 */
final class Buckets {
  private final Edwards25519 curve;
  private final int bits;
  private final Point25519[] buckets;
  private final BitSet filled;

  Buckets(Edwards25519 curve, int bits) {
    this.curve = curve;
    this.bits = bits;
    this.buckets = new Point25519[1 << bits - 1];
    this.filled = new BitSet(buckets.length);
    for (int i = 0; i < buckets.length; i++) {
      buckets[i] = new Point25519();
    }
  }

  /** The width of digits with which so many points are summed in the fewest products. */
  static int bits(int points) {
    int best = 2;
    for (int bits = 3; bits <= 13; bits++) {
      if (cost(points, bits) < cost(points, best)) {
        best = bits;
      }
    }
    return best;
  }

  /** Products: seven to add a point to a bucket, about nine each for two additions of a bucket. */
  private static long cost(int points, int bits) {
    return BatchCoefficients.count(bits) * (7L * points + (9L << bits));
  }

  /** The sum for each digit's place, the lowest first, of the claims' R. */
  Point25519[] sums(List<Claim> claims, BatchCoefficients coefficients, int from, int to) {
    int points = to - from;
    Point25519[] sums = new Point25519[BatchCoefficients.count(bits)];
    short[] digits = new short[sums.length * points];
    for (int i = 0; i < points; i++) {
      coefficients.digits(from + i, bits, digits, i, points);
    }
    for (int place = 0; place < sums.length; place++) {
      for (int i = 0; i < points; i++) {
        put(claims.get(from + i).r(), digits[place * points + i]);
      }
      sums[place] = drain();
    }
    return sums;
  }

  private void put(Addend25519 point, int digit) {
    if (digit == 0) {
      return;
    }
    int bucket = Math.abs(digit) - 1;
    if (filled.get(bucket)) {
      curve.add(buckets[bucket], point, digit < 0);
    } else {
      curve.set(buckets[bucket], point, digit < 0);
      filled.set(bucket);
    }
  }

  /** The sum of each bucket times its number; empties them. */
  private Point25519 drain() {
    Point25519 sum = new Point25519();
    Point25519 running = new Point25519();
    for (int bucket = filled.length() - 1; bucket >= 0; bucket--) {
      if (filled.get(bucket)) {
        curve.add(running, buckets[bucket]);
      }
      curve.add(sum, running);
    }
    filled.clear();
    return sum;
  }
}
