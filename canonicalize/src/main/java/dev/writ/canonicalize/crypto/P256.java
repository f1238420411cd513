package dev.writ.canonicalize.crypto;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import java.math.BigInteger;
import java.util.Arrays;
import org.bouncycastle.asn1.x9.X9ECParameters;
import org.bouncycastle.crypto.ec.CustomNamedCurves;
import org.bouncycastle.crypto.params.ECDomainParameters;
import org.bouncycastle.crypto.params.ECPublicKeyParameters;
import org.bouncycastle.crypto.signers.ECDSASigner;
import org.bouncycastle.math.ec.ECPoint;

/**
 * ECDSA over P-256 with SHA-256 (FIPS 186-5), as far as passkeys and mandates need it: verifying.
 */
final class P256 {
  /** Bytes of a coordinate, and of a number modulo the group's order. */
  static final int COORDINATE = 32;

  /** SEQUENCE and INTEGER of X.690. */
  private static final int SEQUENCE = 0x30;

  private static final int INTEGER = 0x02;

  private static final ECDomainParameters CURVE = curve();

  private P256() {}

  private static ECDomainParameters curve() {
    X9ECParameters named = CustomNamedCurves.getByName("P-256");
    return new ECDomainParameters(named.getCurve(), named.getG(), named.getN(), named.getH());
  }

  /**
   * The key of two coordinates.
   *
   * @throws WritException {@code CAN-050} for what is no point of the curve
   */
  static ECPublicKeyParameters key(byte[] x, byte[] y) {
    if (x.length != COORDINATE || y.length != COORDINATE) {
      throw new WritException(
          CanonicalizeError.KEY_MALFORMED,
          "P-256 coordinates of "
              + x.length
              + " and "
              + y.length
              + " bytes, not "
              + COORDINATE
              + " each");
    }
    byte[] encoded = new byte[1 + 2 * COORDINATE];
    encoded[0] = 4;
    System.arraycopy(x, 0, encoded, 1, COORDINATE);
    System.arraycopy(y, 0, encoded, 1 + COORDINATE, COORDINATE);
    try {
      // Refuses a coordinate that is not less than the field's prime, and a point off the curve.
      ECPoint point = CURVE.getCurve().decodePoint(encoded);
      return new ECPublicKeyParameters(point, CURVE);
    } catch (IllegalArgumentException e) {
      throw new WritException(
          CanonicalizeError.KEY_MALFORMED, "the coordinates are no point of P-256", e);
    }
  }

  /**
   * Whether a signature over a SHA-256 digest holds: strict DER, 0 &lt; r, s &lt; n, and the
   * equation of FIPS 186-5, 6.4.2. Both of the two values of s are taken.
   */
  static boolean holds(ECPublicKeyParameters key, byte[] digest, byte[] der) {
    int[] at = {0};
    if (!opens(der, at, SEQUENCE, der.length)) {
      return false;
    }
    BigInteger r = integer(der, at);
    BigInteger s = r == null ? null : integer(der, at);
    if (s == null || at[0] != der.length) {
      return false;
    }
    ECDSASigner verifier = new ECDSASigner();
    verifier.init(false, key);
    return verifier.verifySignature(digest, r, s);
  }

  /**
   * Whether a signature over a SHA-256 digest holds that is r and s, of 32 bytes each (RFC 7518,
   * 3.4): 0 &lt; r, s &lt; n, and the equation. Both of the two values of s are taken.
   */
  static boolean holdsPair(ECPublicKeyParameters key, byte[] digest, byte[] pair) {
    if (pair.length != 2 * COORDINATE) {
      return false;
    }
    ECDSASigner verifier = new ECDSASigner();
    verifier.init(false, key);
    return verifier.verifySignature( // which refuses r and s outside of their range
        digest,
        new BigInteger(1, Arrays.copyOf(pair, COORDINATE)),
        new BigInteger(1, Arrays.copyOfRange(pair, COORDINATE, pair.length)));
  }

  /**
   * Reads a tag and a length of one byte, which is all that a signature of 72 bytes needs.
   *
   * @return whether the rest reaches exactly to the end for a sequence, and lies within it else
   */
  private static boolean opens(byte[] der, int[] at, int tag, int end) {
    int from = at[0];
    if (end - from < 2 || der[from] != tag || der[from + 1] < 0) {
      return false;
    }
    int length = der[from + 1];
    at[0] = from + 2;
    return tag == SEQUENCE ? from + 2 + length == end : from + 2 + length <= end;
  }

  /** A positive number in its shortest form, below the order; null for anything else. */
  private static BigInteger integer(byte[] der, int[] at) {
    int from = at[0];
    if (!opens(der, at, INTEGER, der.length)) {
      return null;
    }
    int length = der[from + 1];
    if (length == 0 || length > COORDINATE + 1 || der[from + 2] < 0) {
      return null;
    }
    if (length > 1 && der[from + 2] == 0 && der[from + 3] >= 0) {
      return null;
    }
    at[0] = from + 2 + length;
    BigInteger value = new BigInteger(Arrays.copyOfRange(der, from + 2, at[0]));
    return value.signum() > 0 && value.compareTo(CURVE.getN()) < 0 ? value : null;
  }
}
