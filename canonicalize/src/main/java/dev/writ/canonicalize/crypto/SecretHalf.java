package dev.writ.canonicalize.crypto;

/** What a signing key is made of, for each algorithm. */
sealed interface SecretHalf permits Ed25519Secret, Es256Secret, MlDsa65Secret, OutsideSecret {

  VerifyingKey verifyingKey();

  /**
   * The 32 bytes that the key grows from; not copied, not to be changed.
   *
   * @throws IllegalStateException where somebody else keeps them
   */
  byte[] seed();

  /**
   * A signature. Where the secret is here, the same message gives the same bytes, whatever the
   * engine; who keeps an ES256 key elsewhere may give others each time.
   */
  byte[] sign(SignatureEngine engine, byte[] message);
}
