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
 * The keys that a kernel signs with. Verifiers accept no new signature of a key that is revoked or
 * expired, so without valid keys nothing is judged, executed or closed.
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
   * A log key that is enrolled must be in force. One that is not enrolled is not checked here: no
   * verifier accepts its signatures anyway.
   *
   * @throws WritException {@code EXE-912}
   */
  static void requireLog(Trust trust, String kid, Instant at) {
    Optional<TrustedKey> key = trust.key(kid);
    if (key.filter(k -> !k.isValidAt(at) || k.revokedAt().isPresent()).isPresent()) {
      throw refused(kid, at);
    }
  }

  /** Whether verifiers will accept what the executor signs now. */
  boolean executorMaySign(Trust trust, Instant now) {
    return maySign(trust, executorKid, now);
  }

  /**
   * A signer that checks its key before each document, at the latest clock reading: the document's
   * own time was read earlier, so this is the stricter check.
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

  /** Work that was under way when the key was revoked may still be signed for a moment. */
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
