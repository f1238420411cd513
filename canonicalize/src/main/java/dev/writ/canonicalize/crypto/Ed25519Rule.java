package dev.writ.canonicalize.crypto;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.bouncycastle.math.ec.rfc8032.Ed25519;

/**
 * The one acceptance rule for Ed25519 signatures (spec/signatures.md). Verifiers differ at the
 * edges of RFC 8032 (Chalkias, Garillot, Nikolaenko: Taming the many EdDSAs, 2020), so that a
 * server and an auditor with two libraries could disagree on a crafted signature. Here the
 * encodings are checked first and Bouncy Castle, which is cofactored, judges the rest; a
 * cofactorless verifier that says yes after the same checks can only say what Bouncy Castle would.
 */
final class Ed25519Rule {
  /** Bytes of a key, and of each half of a signature. */
  static final int HALF = 32;

  /** The field prime 2^255 − 19, little-endian. */
  private static final byte[] P =
      le("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f");

  /** The order of the base point, 2^252 + 27742317777372353535851937790883648493, little-endian. */
  private static final byte[] L =
      le("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");

  private static final byte[] ONE =
      le("0100000000000000000000000000000000000000000000000000000000000000");
  private static final byte[] MINUS_ONE =
      le("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f");

  /** The y of the eight points whose order divides 8. */
  private static final List<byte[]> SMALL_ORDER_Y =
      List.of(
          le("0000000000000000000000000000000000000000000000000000000000000000"),
          ONE,
          MINUS_ONE,
          le("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
          le("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"));

  private Ed25519Rule() {}

  /**
   * Decodes a public key once, so that verifying need not.
   *
   * @throws WritException {@code CAN-050} unless it is 32 bytes that decode to a point; {@code
   *     CAN-051} where the point is of small order or its encoding not canonical
   */
  static Addend25519 admit(byte[] key) {
    if (key.length != HALF) {
      throw new WritException(
          CanonicalizeError.KEY_MALFORMED, "Ed25519 key of " + key.length + " bytes, not " + HALF);
    }
    if (!isCanonicalPoint(key, 0)) {
      throw new WritException(CanonicalizeError.KEY_WEAK, "the encoding is not canonical");
    }
    byte[] y = y(key, 0);
    if (SMALL_ORDER_Y.stream().anyMatch(small -> Arrays.equals(small, y))) {
      throw new WritException(CanonicalizeError.KEY_WEAK, "the point is of small order");
    }
    Addend25519 point = new Edwards25519().decode(key, 0);
    if (point == null) {
      throw new WritException(CanonicalizeError.KEY_MALFORMED, "no point of the curve");
    }
    return point;
  }

  /**
   * What a signature must be before any library is asked: 64 bytes, a canonical R, and S below L.
   */
  static boolean isWellFormed(byte[] signature) {
    return signature.length == 2 * HALF
        && isCanonicalPoint(signature, 0)
        && isBelow(signature, HALF, L);
  }

  /** Bouncy Castle's verdict, which is the last word on a well-formed signature. */
  static boolean judge(Ed25519.PublicPoint key, byte[] message, byte[] signature) {
    return Ed25519.verify(signature, 0, key, message, 0, message.length);
  }

  /** RFC 8032, 5.1.3: y below p; and where x is zero, which y = ±1 means, its sign bit is zero. */
  private static boolean isCanonicalPoint(byte[] bytes, int at) {
    if (bytes[at + HALF - 1] >= 0) {
      return isBelow(bytes, at, P);
    }
    byte[] y = y(bytes, at);
    return isBelow(y, 0, P) && !Arrays.equals(y, ONE) && !Arrays.equals(y, MINUS_ONE);
  }

  /** The y coordinate: the encoding without the sign bit of x. */
  private static byte[] y(byte[] bytes, int at) {
    byte[] y = Arrays.copyOfRange(bytes, at, at + HALF);
    y[HALF - 1] &= 0x7f;
    return y;
  }

  /** Whether the little-endian number at that place is below the bound. */
  private static boolean isBelow(byte[] bytes, int at, byte[] bound) {
    for (int i = HALF - 1; i >= 0; i--) {
      int order = Byte.compareUnsigned(bytes[at + i], bound[i]);
      if (order != 0) {
        return order < 0;
      }
    }
    return false;
  }

  private static byte[] le(String hex) {
    return HexFormat.of().parseHex(hex);
  }
}
