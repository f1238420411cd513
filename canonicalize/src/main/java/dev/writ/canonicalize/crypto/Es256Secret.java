package dev.writ.canonicalize.crypto;

import dev.writ.canonicalize.Digest;

/** A P-256 private key: the secret number, 32 bytes, big-endian. */
final class Es256Secret implements SecretHalf {
  private final byte[] secret;
  private final VerifyingKey verifyingKey;

  Es256Secret(byte[] secret) {
    this.secret = secret;
    this.verifyingKey = VerifyingKey.es256(P256.point(secret));
  }

  @Override
  public VerifyingKey verifyingKey() {
    return verifyingKey;
  }

  @Override
  public byte[] seed() {
    return secret;
  }

  /** RFC 6979 takes the nonce from the secret and the message, and so the bytes repeat. */
  @Override
  public byte[] sign(SignatureEngine engine, byte[] message) {
    return P256.sign(secret, Digest.sha256(message).bytes());
  }
}
