package dev.writ.canonicalize.crypto;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import java.util.Optional;

/** What a verifying key is made of, for each algorithm. */
sealed interface PublicHalf permits Ed25519Public, Es256Public, MlDsa65Public, WebAuthnPublic {

  Algorithm algorithm();

  /** The raw key; not copied, not to be changed. */
  byte[] raw();

  /** The members that RFC 7638 hashes; a passkey's JWK has its relying party besides. */
  JsonValue.Obj requiredMembers();

  /** Whether the acceptance rule of spec/signatures.md accepts. */
  boolean accepts(SignatureEngine engine, byte[] message, byte[] signature);

  /** For whom alone the key signs: the id of a passkey's relying party. */
  default Optional<String> relyingParty() {
    return Optional.empty();
  }

  /**
   * Requires that the acceptance rule accepts.
   *
   * @throws WritException {@code CAN-060}; for a passkey also {@code CAN-065} to {@code CAN-068}
   */
  default void require(SignatureEngine engine, String kid, byte[] message, byte[] signature) {
    if (!accepts(engine, message, signature)) {
      throw new WritException(
          CanonicalizeError.SIGNATURE_INVALID, algorithm().text() + " key " + kid);
    }
  }
}
