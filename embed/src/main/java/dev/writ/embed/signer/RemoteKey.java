package dev.writ.embed.signer;

import dev.writ.canonicalize.crypto.VerifyingKey;

/** A key of a service that signs over the network. For several threads at once. */
public interface RemoteKey {
  /** Its public half, of Ed25519 or ES256, as the service gave it when the key was opened. */
  VerifyingKey publicHalf();

  /**
   * Asks the service for a signature. Nobody has verified it.
   *
   * @return what the service gave, in the form that {@link
   *     dev.writ.canonicalize.crypto.OutsideSigner} gives
   * @throws dev.writ.canonicalize.WritException {@code SGN-021} to {@code SGN-029}
   */
  byte[] sign(byte[] message);
}
