package dev.writ.canonicalize.crypto;

import java.security.SecureRandom;
import org.bouncycastle.math.ec.rfc8032.Ed25519;

/** A private key. It never shows its secret in {@link #toString()}. */
public final class SigningKey {
  private final byte[] secret;
  private final byte[] rawPublic;
  private final VerifyingKey verifyingKey;

  private SigningKey(byte[] secret) {
    this.secret = secret;
    this.rawPublic = new byte[Ed25519.PUBLIC_KEY_SIZE];
    Ed25519.generatePublicKey(secret, 0, rawPublic, 0);
    this.verifyingKey = VerifyingKey.ed25519(rawPublic);
  }

  /** A new Ed25519 key. */
  public static SigningKey generateEd25519(SecureRandom random) {
    byte[] secret = new byte[Ed25519.SECRET_KEY_SIZE];
    random.nextBytes(secret);
    return new SigningKey(secret);
  }

  /** The Ed25519 key of a 32-byte secret (RFC 8032, 5.1.5). */
  public static SigningKey ed25519(byte[] secret) {
    if (secret.length != Ed25519.SECRET_KEY_SIZE) {
      throw new IllegalArgumentException(secret.length + " bytes");
    }
    return new SigningKey(secret.clone());
  }

  public VerifyingKey verifyingKey() {
    return verifyingKey;
  }

  public String kid() {
    return verifyingKey.kid();
  }

  public byte[] sign(byte[] message) {
    byte[] signature = new byte[Ed25519.SIGNATURE_SIZE];
    Ed25519.sign(secret, 0, rawPublic, 0, null, message, 0, message.length, signature, 0);
    return signature;
  }

  @Override
  public String toString() {
    return "SigningKey " + kid();
  }
}
