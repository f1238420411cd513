package dev.writ.canonicalize.crypto;

/**
 * Signs with a secret that this process does not have: an agent's, a device's, a service's. What it
 * gives is verified before it is used.
 */
@FunctionalInterface
public interface OutsideSigner {
  /**
   * @return 64 bytes: the Ed25519 signature (RFC 8032, 5.1.6), or r and s of an ES256 one, of 32
   *     bytes each; of the two values of s either
   * @throws dev.writ.canonicalize.WritException where there is none
   */
  byte[] sign(byte[] message);
}
