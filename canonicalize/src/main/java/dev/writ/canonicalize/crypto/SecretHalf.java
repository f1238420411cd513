package dev.writ.canonicalize.crypto;

/** What a signing key is made of, for each algorithm. */
sealed interface SecretHalf permits Ed25519Secret, MlDsa65Secret, OutsideSecret {

  VerifyingKey verifyingKey();

  /**
   * The 32 bytes that the key grows from; not copied, not to be changed.
   *
   * @throws IllegalStateException where somebody else keeps them
   */
  byte[] seed();

  /** A signature; the same bytes for the same message, whatever the engine. */
  byte[] sign(SignatureEngine engine, byte[] message);
}
