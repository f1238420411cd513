package dev.writ.canonicalize.crypto;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Optional;
import org.bouncycastle.asn1.x9.X9ECParameters;
import org.bouncycastle.crypto.digests.SHA256Digest;
import org.bouncycastle.crypto.ec.CustomNamedCurves;
import org.bouncycastle.crypto.params.ECDomainParameters;
import org.bouncycastle.crypto.params.ECPrivateKeyParameters;
import org.bouncycastle.crypto.params.ECPublicKeyParameters;
import org.bouncycastle.crypto.signers.ECDSASigner;
import org.bouncycastle.crypto.signers.HMacDSAKCalculator;
import org.bouncycastle.math.ec.ECPoint;
import org.bouncycastle.math.ec.FixedPointCombMultiplier;
import org.bouncycastle.util.BigIntegers;

/** ECDSA over P-256 with SHA-256 (FIPS 186-5), of ES256 keys, passkeys and mandates. */
final class P256 {
  /** Bytes of a coordinate, and of a number modulo the group's order. */
  static final int COORDINATE = 32;

  /** Bytes of a point, uncompressed (SEC 1, 2.3.3). */
  static final int POINT = 1 + 2 * COORDINATE;

  /** SEQUENCE and INTEGER of X.690. */
  private static final int SEQUENCE = 0x30;

  private static final int INTEGER = 0x02;

  private static final ECDomainParameters CURVE = curve();
  private static final BigInteger HALF = CURVE.getN().shiftRight(1);

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
    return pairOfDer(der).filter(pair -> holdsPair(key, digest, pair)).isPresent();
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
        digest, number(pair, 0), number(pair, COORDINATE));
  }

  /**
   * Whether a signature of ours holds: as {@link #holdsPair}, but of the two values of s only the
   * lower, so that nobody but the key's holder can make another signature of one that is there.
   */
  static boolean holdsLower(ECPublicKeyParameters key, byte[] digest, byte[] pair) {
    return pair.length == 2 * COORDINATE
        && number(pair, COORDINATE).compareTo(HALF) <= 0
        && holdsPair(key, digest, pair);
  }

  /** The same signature with the lower value of s; other bytes as they are. */
  static byte[] withLowerS(byte[] pair) {
    if (pair.length != 2 * COORDINATE) {
      return pair;
    }
    BigInteger s = number(pair, COORDINATE);
    return s.compareTo(HALF) <= 0 || s.compareTo(CURVE.getN()) >= 0
        ? pair
        : pair(number(pair, 0), CURVE.getN().subtract(s));
  }

  /** r and s of strict DER, 32 bytes each; empty for other bytes. */
  static Optional<byte[]> pairOfDer(byte[] der) {
    int[] at = {0};
    if (!opens(der, at, SEQUENCE, der.length)) {
      return Optional.empty();
    }
    BigInteger r = integer(der, at);
    BigInteger s = r == null ? null : integer(der, at);
    return s == null || at[0] != der.length ? Optional.empty() : Optional.of(pair(r, s));
  }

  /** Whether 32 bytes are a private key: 0 &lt; d &lt; n. */
  static boolean isSecret(byte[] secret) {
    BigInteger d = new BigInteger(1, secret);
    return d.signum() > 0 && d.compareTo(CURVE.getN()) < 0;
  }

  /** The point of a private key, uncompressed. */
  static byte[] point(byte[] secret) {
    return new FixedPointCombMultiplier()
        .multiply(CURVE.getG(), new BigInteger(1, secret))
        .normalize()
        .getEncoded(false);
  }

  /** Signs a SHA-256 digest: the nonce is that of RFC 6979, and s the lower value. */
  static byte[] sign(byte[] secret, byte[] digest) {
    ECDSASigner signer = new ECDSASigner(new HMacDSAKCalculator(new SHA256Digest()));
    signer.init(true, new ECPrivateKeyParameters(new BigInteger(1, secret), CURVE));
    BigInteger[] numbers = signer.generateSignature(digest);
    return withLowerS(pair(numbers[0], numbers[1]));
  }

  private static BigInteger number(byte[] pair, int from) {
    return new BigInteger(1, Arrays.copyOfRange(pair, from, from + COORDINATE));
  }

  private static byte[] pair(BigInteger r, BigInteger s) {
    byte[] pair = Arrays.copyOf(BigIntegers.asUnsignedByteArray(COORDINATE, r), 2 * COORDINATE);
    BigIntegers.asUnsignedByteArray(s, pair, COORDINATE, COORDINATE);
    return pair;
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
