package dev.writ.executor;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.error.ExecutorError;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The keys that a kernel signs with. Once one of them is revoked or its time is over, what it signs
 * is taken by no verifier; so nothing is judged, executed or closed any more.
 */
record OwnKeys(String guardianKid, String executorKid) {

  /**
   * @throws WritException {@code EXE-912}
   */
  void require(Trust trust, Instant now) {
    for (String kid : new String[] {guardianKid, executorKid}) {
      if (key(trust, kid, now).filter(key -> key.revokedAt().isEmpty()).isEmpty()) {
        throw refused(kid, now);
      }
    }
  }

  /**
   * A log key that the system run enrols signs while it is in force; one that it does not enrol is
   * the operator's own affair, and no verifier takes what it signs.
   *
   * @throws WritException {@code EXE-912}
   */
  static void requireLog(Trust trust, String kid, Instant at) {
    Optional<TrustedKey> key = trust.key(kid);
    if (key.filter(k -> !k.isValidAt(at) || k.revokedAt().isPresent()).isPresent()) {
      throw refused(kid, at);
    }
  }

  /** Whether what the executor signs now will be taken. */
  boolean executorMaySign(Trust trust, Instant now) {
    return maySign(trust, executorKid, now);
  }

  /**
   * A signer that asks before each document. What is signed bears a time that was read before, so
   * the latest reading is the strictest.
   *
   * @param kid one of these
   */
  DocumentSigner guarded(
      String kid, DocumentSigner signer, Supplier<Trust> trust, Supplier<Instant> latest) {
    return (type, document) -> {
      Instant now = latest.get();
      if (!maySign(trust.get(), kid, now)) {
        throw refused(kid, now);
      }
      return signer.sign(type, document);
    };
  }

  /** What was under way when the key was revoked may still end for a moment. */
  private boolean maySign(Trust trust, String kid, Instant now) {
    return key(trust, kid, now)
        .filter(key ->
            key.revokedAt().filter(at -> now.isAfter(at.plus(SystemState.IN_FLIGHT))).isEmpty())
        .isPresent();
  }

  private Optional<TrustedKey> key(Trust trust, String kid, Instant now) {
    KeyRole role = kid.equals(guardianKid) ? KeyRole.GUARDIAN : KeyRole.EXECUTOR;
    return trust.key(kid).filter(key -> key.role() == role && key.isValidAt(now));
  }

  private static WritException refused(String kid, Instant now) {
    return new WritException(ExecutorError.OWN_KEY, "key " + kid + ", now " + now);
  }
}
