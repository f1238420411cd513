package dev.writ.canonicalize.crypto;

import java.security.MessageDigest;
import org.bouncycastle.crypto.digests.SHA512Digest;

/**
 * Signatures of the simulation: a hash of the public key and of the message, in the form of an
 * Ed25519 signature. Anybody could forge one, and nobody in the simulation tries; a signature by
 * another key or over other bytes is refused as ever. Ids, events and the log's root rest on
 * payloads alone and are the same with real signatures.
 */
public final class SimulatedSignatures extends SignatureEngine {
  public SimulatedSignatures() {
    super("simulated");
  }

  @Override
  byte[] sign(Ed25519Secret key, byte[] message) {
    return of(key.rawPublic(), message);
  }

  @Override
  boolean saysYes(Ed25519Public key, byte[] message, byte[] signature) {
    return MessageDigest.isEqual(of(key.raw(), message), signature);
  }

  private static byte[] of(byte[] key, byte[] message) {
    SHA512Digest digest = new SHA512Digest();
    digest.update(key, 0, key.length);
    digest.update(message, 0, message.length);
    byte[] signature = new byte[digest.getDigestSize()];
    digest.doFinal(signature, 0);
    signature[31] = 0; // R below p, S below L: a well-formed signature
    signature[63] = 0;
    return signature;
  }
}
