package dev.writ.canonicalize.crypto;

import java.security.PrivateKey;
import org.bouncycastle.math.ec.rfc8032.Ed25519;

/** An Ed25519 private key: the 32-byte secret of RFC 8032, 5.1.5. */
final class Ed25519Secret implements SecretHalf {
  private final byte[] seed;
  private final byte[] rawPublic;
  private final VerifyingKey verifyingKey;

  /** The same key as the Corretto provider holds it, made on first use; two threads may both. */
  private volatile PrivateKey corretto;

  Ed25519Secret(byte[] seed) {
    this.seed = seed;
    this.rawPublic = new byte[Ed25519.PUBLIC_KEY_SIZE];
    Ed25519.generatePublicKey(seed, 0, rawPublic, 0);
    this.verifyingKey = VerifyingKey.ed25519(rawPublic);
  }

  @Override
  public VerifyingKey verifyingKey() {
    return verifyingKey;
  }

  @Override
  public byte[] seed() {
    return seed;
  }

  @Override
  public byte[] sign(SignatureEngine engine, byte[] message) {
    return engine.sign(this, message);
  }

  byte[] rawPublic() {
    return rawPublic;
  }

  PrivateKey corretto() {
    return corretto;
  }

  void corretto(PrivateKey key) {
    corretto = key;
  }
}
