package dev.writ.canonicalize.crypto;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;

/** An Ed25519 or ES256 private key that somebody else keeps. */
final class OutsideSecret implements SecretHalf {
  private final VerifyingKey verifyingKey;
  private final OutsideSigner signer;

  OutsideSecret(VerifyingKey verifyingKey, OutsideSigner signer) {
    this.verifyingKey = verifyingKey;
    this.signer = signer;
  }

  @Override
  public VerifyingKey verifyingKey() {
    return verifyingKey;
  }

  @Override
  public byte[] seed() {
    throw new IllegalStateException("the secret of " + verifyingKey.kid() + " is elsewhere");
  }

  /** Whatever the signer gives: only a signature of this message by this key gets out. */
  @Override
  public byte[] sign(SignatureEngine engine, byte[] message) {
    byte[] given = signer.sign(message.clone()).clone();
    byte[] signature = verifyingKey.algorithm() == Algorithm.ES256 ? P256.withLowerS(given) : given;
    if (!verifyingKey.accepts(engine, message, signature)) {
      throw new WritException(
          CanonicalizeError.SIGNER_WRONG, "asked for a signature of the key " + verifyingKey.kid());
    }
    return signature;
  }
}
