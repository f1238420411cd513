package dev.writ.canonicalize.crypto;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;

/**
 * The DER of our keys. All of it but the key is fixed, so a prefix is the whole codec, and anything
 * else is refused: PKCS#8 of Ed25519 is that of RFC 8410, 7 with the key alone, of ES256 that of
 * RFC 5915 with the public key and the curve outside, as openssl writes it, of ML-DSA-65 that of
 * RFC 9881 in its seed-only form.
 */
final class Pkcs8 {
  private static final byte[] ED25519 = HexFormat.of().parseHex("302e020100300506032b657004220420");
  private static final byte[] ML_DSA_65 =
      HexFormat.of().parseHex("3034020100300b060960864801650304031204228020");

  private static final byte[] ES256 =
      HexFormat.of()
          .parseHex("308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420");

  /** What is between the secret of an ES256 key and its point. */
  private static final byte[] ES256_POINT = HexFormat.of().parseHex("a144034200");

  /** RFC 5480, 2. */
  private static final byte[] ES256_PUBLIC =
      HexFormat.of().parseHex("3059301306072a8648ce3d020106082a8648ce3d030107034200");

  /** RFC 8410, 4. */
  private static final byte[] ED25519_PUBLIC = HexFormat.of().parseHex("302a300506032b6570032100");

  /** The length of what ends with a mark, which DER does not have. */
  private static final byte INDEFINITE = (byte) 0x80;

  private Pkcs8() {}

  static byte[] encode(Algorithm algorithm, byte[] seed) {
    byte[] head = join(prefix(algorithm), seed);
    return algorithm == Algorithm.ES256
        ? join(join(head, ES256_POINT), SigningKey.es256(seed).verifyingKey().rawBytes())
        : head;
  }

  /** The key, or empty where the bytes are not PKCS#8 of one of our algorithms in our form. */
  static Optional<SigningKey> decode(byte[] der) {
    for (Algorithm algorithm : Algorithm.SEEDED) {
      byte[] prefix = prefix(algorithm);
      int end = prefix.length + SigningKey.SEED_LENGTH;
      int rest = algorithm == Algorithm.ES256 ? ES256_POINT.length + P256.POINT : 0;
      if (der.length == end + rest && startsWith(der, prefix)) {
        byte[] seed = Arrays.copyOfRange(der, prefix.length, end);
        if (rest > 0 && !(P256.isSecret(seed) && Arrays.equals(der, encode(algorithm, seed)))) {
          return Optional.empty(); // the point is not that of the secret
        }
        return Optional.of(
            switch (algorithm) {
              case ED25519 -> SigningKey.ed25519(seed);
              case ES256 -> SigningKey.es256(seed);
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

  /** The SubjectPublicKeyInfo of an Ed25519 or ES256 key. */
  static byte[] subjectPublicKeyInfo(VerifyingKey key) {
    return switch (key.algorithm()) {
      case ED25519 -> ed25519SubjectPublicKeyInfo(key.rawBytes());
      case ES256 -> join(ES256_PUBLIC, key.rawBytes());
      case ML_DSA_65, WEBAUTHN -> throw new IllegalArgumentException(key + " is in no file");
    };
  }

  /** The Ed25519 or ES256 key in that form; empty for anything else. */
  static Optional<VerifyingKey> publicKey(byte[] der) {
    if (der.length == ED25519_PUBLIC.length + SigningKey.SEED_LENGTH
        && startsWith(der, ED25519_PUBLIC)) {
      return Optional.of(VerifyingKey.ed25519(after(ED25519_PUBLIC, der)));
    }
    return der.length == ES256_PUBLIC.length + P256.POINT && startsWith(der, ES256_PUBLIC)
        ? Optional.of(VerifyingKey.es256(after(ES256_PUBLIC, der)))
        : Optional.empty();
  }

  private static byte[] after(byte[] prefix, byte[] der) {
    return Arrays.copyOfRange(der, prefix.length, der.length);
  }

  private static byte[] prefix(Algorithm algorithm) {
    return switch (algorithm) {
      case ED25519 -> ED25519;
      case ES256 -> ES256;
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
