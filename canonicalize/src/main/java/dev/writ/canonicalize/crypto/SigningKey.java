package dev.writ.canonicalize.crypto;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import java.security.SecureRandom;

/**
 * A private key. It never shows its secret in {@link #toString()}. Signing is deterministic: the
 * same key and message give the same bytes, unless somebody else keeps the secret of an ES256 key.
 */
public final class SigningKey {
  /** Bytes of the secret that a key grows from. */
  public static final int SEED_LENGTH = 32;

  private final SecretHalf half;

  private SigningKey(SecretHalf half) {
    this.half = half;
  }

  /** A new Ed25519 key. */
  public static SigningKey generateEd25519(SecureRandom random) {
    return new SigningKey(new Ed25519Secret(newSeed(random)));
  }

  /** A new ES256 key. */
  public static SigningKey generateEs256(SecureRandom random) {
    byte[] secret = newSeed(random);
    while (!P256.isSecret(secret)) { // one in 2^32
      random.nextBytes(secret);
    }
    return new SigningKey(new Es256Secret(secret));
  }

  /** A new ML-DSA-65 key. */
  public static SigningKey generateMlDsa65(SecureRandom random) {
    return new SigningKey(new MlDsa65Secret(newSeed(random)));
  }

  /** A new key of that algorithm. */
  public static SigningKey generate(Algorithm algorithm, SecureRandom random) {
    return switch (algorithm) {
      case ED25519 -> generateEd25519(random);
      case ES256 -> generateEs256(random);
      case ML_DSA_65 -> generateMlDsa65(random);
      case WEBAUTHN -> throw new IllegalArgumentException("an authenticator makes a passkey");
    };
  }

  /**
   * The Ed25519 key of a 32-byte secret (RFC 8032, 5.1.5).
   *
   * @throws WritException {@code CAN-050} for another length
   */
  public static SigningKey ed25519(byte[] secret) {
    return new SigningKey(new Ed25519Secret(checked(secret)));
  }

  /**
   * The ES256 key of a secret number below the group's order, 32 bytes, big-endian.
   *
   * @throws WritException {@code CAN-050} for another length or number
   */
  public static SigningKey es256(byte[] secret) {
    byte[] checked = checked(secret);
    if (!P256.isSecret(checked)) {
      throw new WritException(
          CanonicalizeError.KEY_MALFORMED, "a secret that is 0, or not below the order of P-256");
    }
    return new SigningKey(new Es256Secret(checked));
  }

  /**
   * The ML-DSA-65 key of a 32-byte seed (FIPS 204, algorithm 6).
   *
   * @throws WritException {@code CAN-050} for another length
   */
  public static SigningKey mlDsa65(byte[] seed) {
    return new SigningKey(new MlDsa65Secret(checked(seed)));
  }

  /**
   * An Ed25519 or ES256 key whose secret somebody else keeps. Each signature is verified before it
   * is used: {@code CAN-078} for one that is not this key's of that message.
   *
   * @throws WritException {@code CAN-050} for a public half of another algorithm
   */
  public static SigningKey outside(VerifyingKey publicHalf, OutsideSigner signer) {
    if (publicHalf.algorithm() != Algorithm.ED25519 && publicHalf.algorithm() != Algorithm.ES256) {
      throw new WritException(
          CanonicalizeError.KEY_MALFORMED,
          publicHalf.algorithm().text() + " is signed with in files only");
    }
    return new SigningKey(new OutsideSecret(publicHalf, signer));
  }

  private static byte[] newSeed(SecureRandom random) {
    byte[] seed = new byte[SEED_LENGTH];
    random.nextBytes(seed);
    return seed;
  }

  private static byte[] checked(byte[] seed) {
    if (seed.length != SEED_LENGTH) {
      throw new WritException(
          CanonicalizeError.KEY_MALFORMED,
          "secret of " + seed.length + " bytes, not " + SEED_LENGTH);
    }
    return seed.clone();
  }

  public VerifyingKey verifyingKey() {
    return half.verifyingKey();
  }

  public String kid() {
    return verifyingKey().kid();
  }

  public Algorithm algorithm() {
    return verifyingKey().algorithm();
  }

  /** The signature of a message: 64 bytes for Ed25519 and ES256, 3309 for ML-DSA-65. */
  public byte[] sign(byte[] message) {
    return sign(SignatureEngines.current(), message);
  }

  /** The same by a given engine; the bytes never depend on it. */
  byte[] sign(SignatureEngine engine, byte[] message) {
    return half.sign(engine, message);
  }

  /** The secret, for the key file; not copied. */
  byte[] seed() {
    return half.seed();
  }

  @Override
  public String toString() {
    return "SigningKey " + kid();
  }
}
