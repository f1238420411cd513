package dev.writ.canonicalize.crypto;

import java.math.BigInteger;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The curve of RFC 8032, 5.1, by the affine formulas and by BigInteger: slow, and nothing in common
 * with the code that it checks. It can sign what honest signers never do.
 */
final class ReferenceCurve {
  static final BigInteger P = BigInteger.TWO.pow(255).subtract(BigInteger.valueOf(19));
  static final BigInteger L =
      BigInteger.TWO.pow(252).add(new BigInteger("27742317777372353535851937790883648493"));
  static final BigInteger D =
      BigInteger.valueOf(-121665).multiply(BigInteger.valueOf(121666).modInverse(P)).mod(P);
  static final Point NEUTRAL = new Point(BigInteger.ZERO, BigInteger.ONE);
  static final Point BASE = base();

  /** The eight points whose order divides 8, the neutral one first: multiples of one of order 8. */
  static final List<Point> SMALL_ORDER = smallOrder();

  private ReferenceCurve() {}

  record Point(BigInteger x, BigInteger y) {
    Point plus(Point other) {
      BigInteger xx = x.multiply(other.x);
      BigInteger yy = y.multiply(other.y);
      BigInteger product = D.multiply(xx).multiply(yy).mod(P);
      return new Point(
          quotient(x.multiply(other.y).add(y.multiply(other.x)), BigInteger.ONE.add(product)),
          quotient(yy.add(xx), BigInteger.ONE.subtract(product)));
    }

    Point negate() {
      return new Point(x.negate().mod(P), y);
    }

    Point times(BigInteger scalar) {
      Point sum = NEUTRAL;
      for (int bit = scalar.bitLength() - 1; bit >= 0; bit--) {
        sum = sum.plus(sum);
        if (scalar.testBit(bit)) {
          sum = sum.plus(this);
        }
      }
      return sum;
    }

    byte[] encode() {
      byte[] bytes = littleEndian(y);
      bytes[31] |= (byte) (x.testBit(0) ? 0x80 : 0);
      return bytes;
    }

    boolean isOnCurve() {
      BigInteger xx = x.multiply(x).mod(P);
      BigInteger yy = y.multiply(y).mod(P);
      return yy.subtract(xx)
              .subtract(BigInteger.ONE)
              .subtract(D.multiply(xx).multiply(yy))
              .mod(P)
              .signum()
          == 0;
    }
  }

  private static BigInteger quotient(BigInteger a, BigInteger b) {
    return a.multiply(b.modInverse(P)).mod(P);
  }

  /** The point with that y and that parity of x, or null. */
  static Point decode(BigInteger y, boolean odd) {
    BigInteger yy = y.multiply(y).mod(P);
    BigInteger square =
        quotient(yy.subtract(BigInteger.ONE), D.multiply(yy).add(BigInteger.ONE).mod(P));
    BigInteger root = square.modPow(P.add(BigInteger.valueOf(3)).shiftRight(3), P);
    if (!root.multiply(root).mod(P).equals(square)) {
      root = root.multiply(BigInteger.TWO.modPow(P.shiftRight(2), P)).mod(P);
      if (!root.multiply(root).mod(P).equals(square)) {
        return null;
      }
    }
    return new Point(root.testBit(0) == odd ? root : root.negate().mod(P), y);
  }

  private static Point base() {
    return decode(quotient(BigInteger.valueOf(4), BigInteger.valueOf(5)), false);
  }

  private static List<Point> smallOrder() {
    for (int y = 2; ; y++) {
      Point any = decode(BigInteger.valueOf(y), false);
      if (any != null) {
        Point small = any.times(L);
        List<Point> multiples = new ArrayList<>(List.of(NEUTRAL));
        for (Point p = small; !p.equals(NEUTRAL); p = p.plus(small)) {
          multiples.add(p);
        }
        if (multiples.size() == 8) {
          return List.copyOf(multiples);
        }
      }
    }
  }

  /** A signature of the form of RFC 8032 with points of small order added to A and R. */
  static SignatureBatch.Item sign(
      BigInteger secret, BigInteger nonce, int torsionOfA, int torsionOfR, byte[] message) {
    byte[] key = BASE.times(secret).plus(SMALL_ORDER.get(torsionOfA)).encode();
    byte[] r = BASE.times(nonce).plus(SMALL_ORDER.get(torsionOfR)).encode();
    BigInteger s = nonce.add(challenge(r, key, message).multiply(secret)).mod(L);
    return new SignatureBatch.Item(VerifyingKey.ed25519(key), message, join(r, s));
  }

  static byte[] join(byte[] r, BigInteger s) {
    byte[] signature = Arrays.copyOf(r, 64);
    System.arraycopy(littleEndian(s), 0, signature, 32, 32);
    return signature;
  }

  static BigInteger challenge(byte[] r, byte[] key, byte[] message) {
    try {
      MessageDigest hash = MessageDigest.getInstance("SHA-512");
      hash.update(r);
      hash.update(key);
      return number(hash.digest(message));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  static BigInteger number(byte[] littleEndian) {
    byte[] big = new byte[littleEndian.length];
    for (int i = 0; i < big.length; i++) {
      big[i] = littleEndian[big.length - 1 - i];
    }
    return new BigInteger(1, big);
  }

  static byte[] littleEndian(BigInteger number) {
    byte[] big = number.toByteArray();
    byte[] little = new byte[32];
    for (int i = 0; i < Math.min(32, big.length); i++) {
      little[i] = big[big.length - 1 - i];
    }
    return little;
  }
}
