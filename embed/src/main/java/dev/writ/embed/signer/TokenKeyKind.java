package dev.writ.embed.signer;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.Algorithm;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.embed.error.SignerError;
import dev.writ.embed.signer.Cryptoki.Attribute;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/** The kinds of keys of tokens that sign here, as PKCS#11 has them. */
enum TokenKeyKind {
  /** CKK_EC_EDWARDS. Modules name the curve in several ways; a point of 32 bytes is Ed25519. */
  ED25519(Algorithm.ED25519, 0x40, Cryptoki.EDDSA, 32) {
    @Override
    boolean isCurve(byte[] parameters) {
      return true;
    }

    @Override
    VerifyingKey key(byte[] point) {
      return VerifyingKey.ed25519(point);
    }

    @Override
    byte[] signed(byte[] message) {
      return message;
    }
  },
  /** CKK_EC of the curve P-256. */
  ES256(Algorithm.ES256, 0x03, Cryptoki.ECDSA, 65) {
    @Override
    boolean isCurve(byte[] parameters) {
      return Arrays.equals(parameters, PRIME256V1);
    }

    @Override
    VerifyingKey key(byte[] point) {
      return VerifyingKey.es256(point);
    }

    @Override
    byte[] signed(byte[] message) {
      return Digest.sha256(message).bytes();
    }
  };

  static final List<TokenKeyKind> ALL = List.of(values());

  /** The object identifier 1.2.840.10045.3.1.7 in DER. */
  private static final byte[] PRIME256V1 = HexFormat.of().parseHex("06082a8648ce3d030107");

  /** OCTET STRING, in which most modules wrap the point. */
  private static final byte WRAPPED = 0x04;

  private final Algorithm algorithm;
  private final long type;
  private final long mechanism;
  private final int pointBytes;

  TokenKeyKind(Algorithm algorithm, long type, long mechanism, int pointBytes) {
    this.algorithm = algorithm;
    this.type = type;
    this.mechanism = mechanism;
    this.pointBytes = pointBytes;
  }

  /**
   * @throws WritException {@code SGN-016} for an algorithm in which no token signs here
   */
  static TokenKeyKind of(Algorithm algorithm) {
    return ALL.stream()
        .filter(kind -> kind.algorithm == algorithm)
        .findFirst()
        .orElseThrow(() -> new WritException(SignerError.TOKEN_KEY_KIND, algorithm.text()));
  }

  Attribute type() {
    return Attribute.of(OpenToken.KEY_TYPE, type);
  }

  long mechanism() {
    return mechanism;
  }

  /** What is given to the mechanism for a message. */
  abstract byte[] signed(byte[] message);

  abstract boolean isCurve(byte[] parameters);

  abstract VerifyingKey key(byte[] point);

  /**
   * The key of a public object; empty where that is of another curve.
   *
   * @param parameters the object's CKA_EC_PARAMS
   * @param given its CKA_EC_POINT
   * @throws WritException {@code SGN-016} for what is no point of the curve
   */
  Optional<VerifyingKey> key(byte[] parameters, byte[] given) {
    boolean isWrapped =
        given.length == pointBytes + 2 && given[0] == WRAPPED && given[1] == pointBytes;
    byte[] point = isWrapped ? Arrays.copyOfRange(given, 2, given.length) : given;
    if (point.length != pointBytes || !isCurve(parameters)) {
      return Optional.empty();
    }
    try {
      return Optional.of(key(point));
    } catch (WritException e) {
      throw new WritException(SignerError.TOKEN_KEY_KIND, e.getMessage(), e);
    }
  }
}
