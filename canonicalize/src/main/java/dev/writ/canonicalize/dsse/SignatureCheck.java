package dev.writ.canonicalize.dsse;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.VerifyingKey;
import java.util.List;

/**
 * Verifies the signatures of an envelope, by itself or together with others. Implementations differ
 * in speed only.
 */
@FunctionalInterface
public interface SignatureCheck {
  /** Verifies one after the other. */
  SignatureCheck SINGLY = Envelope::verifySignatures;

  /**
   * Verifies every signature under the key at its place.
   *
   * @throws WritException what {@link Envelope#verifySignatures} throws
   */
  void verify(Envelope envelope, List<VerifyingKey> keys);
}
