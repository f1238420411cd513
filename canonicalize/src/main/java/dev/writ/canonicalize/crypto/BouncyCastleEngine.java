package dev.writ.canonicalize.crypto;

import org.bouncycastle.math.ec.rfc8032.Ed25519;

/** Bouncy Castle, the judge. It needs no fast path of its own, so it never answers early. */
class BouncyCastleEngine extends SignatureEngine {
  BouncyCastleEngine(String description) {
    super(description);
  }

  @Override
  byte[] sign(Ed25519Secret key, byte[] message) {
    byte[] signature = new byte[Ed25519.SIGNATURE_SIZE];
    Ed25519.sign(key.seed(), 0, key.rawPublic(), 0, null, message, 0, message.length, signature, 0);
    return signature;
  }

  @Override
  boolean saysYes(Ed25519Public key, byte[] message, byte[] signature) {
    return false;
  }
}
