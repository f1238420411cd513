package dev.writ.canonicalize.crypto;

/**
 * Signs with a secret that this process does not have: an agent's, a device's, a service's. What it
 * gives is verified before it is used.
 */
@FunctionalInterface
public interface OutsideSigner {
  /**
   * @return the 64 bytes of the Ed25519 signature (RFC 8032, 5.1.6)
   * @throws dev.writ.canonicalize.WritException where there is none
   */
  byte[] sign(byte[] message);
}
