package dev.writ.canonicalize.crypto;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;

/**
 * The DER of our keys. All of it but the key is fixed, so a prefix is the whole codec, and anything
 * else is refused: PKCS#8 of Ed25519 is that of RFC 8410, 7 with the key alone, of ML-DSA-65 that
 * of RFC 9881 in its seed-only form.
 */
final class Pkcs8 {
  private static final byte[] ED25519 = HexFormat.of().parseHex("302e020100300506032b657004220420");
  private static final byte[] ML_DSA_65 =
      HexFormat.of().parseHex("3034020100300b060960864801650304031204228020");

  /** RFC 8410, 4. */
  private static final byte[] ED25519_PUBLIC = HexFormat.of().parseHex("302a300506032b6570032100");

  /** The length of what ends with a mark, which DER does not have. */
  private static final byte INDEFINITE = (byte) 0x80;

  private Pkcs8() {}

  static byte[] encode(Algorithm algorithm, byte[] seed) {
    return join(prefix(algorithm), seed);
  }

  /** The key, or empty where the bytes are not PKCS#8 of one of our algorithms in our form. */
  static Optional<SigningKey> decode(byte[] der) {
    for (Algorithm algorithm : Algorithm.SEEDED) {
      byte[] prefix = prefix(algorithm);
      if (der.length == prefix.length + SigningKey.SEED_LENGTH && startsWith(der, prefix)) {
        byte[] seed = Arrays.copyOfRange(der, prefix.length, der.length);
        return Optional.of(
            switch (algorithm) {
              case ED25519 -> SigningKey.ed25519(seed);
              case ML_DSA_65 -> SigningKey.mlDsa65(seed);
              case WEBAUTHN -> throw notInFiles();
            });
      }
    }
    return Optional.empty();
  }

  /** Whether this begins like PKCS#8 (version 0 or 1) at all, of whatever algorithm. */
  static boolean looksLikePkcs8(byte[] der) {
    // SEQUENCE with a length of at most three bytes, then INTEGER 0 or 1, then a SEQUENCE
    int skip = der.length < 4 ? 0 : der[1] >= 0 ? 2 : 2 + (der[1] & 0x7f);
    return skip > 0
        && skip <= 5
        && der.length > skip + 4
        && der[0] == 0x30
        && der[1] != INDEFINITE
        && der[skip] == 2
        && der[skip + 1] == 1
        && (der[skip + 2] & ~1) == 0
        && der[skip + 3] == 0x30;
  }

  /** The form in which the JCA takes a raw Ed25519 public key. */
  static byte[] ed25519SubjectPublicKeyInfo(byte[] raw) {
    return join(ED25519_PUBLIC, raw);
  }

  /** The raw Ed25519 public key in that form; empty for anything else. */
  static Optional<byte[]> ed25519Raw(byte[] subjectPublicKeyInfo) {
    return startsWith(subjectPublicKeyInfo, ED25519_PUBLIC)
            && subjectPublicKeyInfo.length == ED25519_PUBLIC.length + SigningKey.SEED_LENGTH
        ? Optional.of(
            Arrays.copyOfRange(
                subjectPublicKeyInfo, ED25519_PUBLIC.length, subjectPublicKeyInfo.length))
        : Optional.empty();
  }

  private static byte[] prefix(Algorithm algorithm) {
    return switch (algorithm) {
      case ED25519 -> ED25519;
      case ML_DSA_65 -> ML_DSA_65;
      case WEBAUTHN -> throw notInFiles();
    };
  }

  private static IllegalArgumentException notInFiles() {
    return new IllegalArgumentException("a passkey is in no file");
  }

  private static boolean startsWith(byte[] bytes, byte[] prefix) {
    return bytes.length >= prefix.length
        && Arrays.equals(bytes, 0, prefix.length, prefix, 0, prefix.length);
  }

  private static byte[] join(byte[] head, byte[] tail) {
    ByteArrayOutputStream joined = new ByteArrayOutputStream(head.length + tail.length);
    joined.writeBytes(head);
    joined.writeBytes(tail);
    return joined.toByteArray();
  }
}
