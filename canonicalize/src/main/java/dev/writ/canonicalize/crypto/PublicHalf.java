package dev.writ.canonicalize.crypto;

import dev.writ.canonicalize.json.JsonValue;

/** What a verifying key is made of, for each algorithm. */
sealed interface PublicHalf permits Ed25519Public, MlDsa65Public {

  Algorithm algorithm();

  /** The raw key; not copied, not to be changed. */
  byte[] raw();

  /** The members that RFC 7638 hashes, which are also all that a JWK of ours must have. */
  JsonValue.Obj requiredMembers();

  /** Whether the acceptance rule of spec/signatures.md accepts. */
  boolean accepts(SignatureEngine engine, byte[] message, byte[] signature);
}
