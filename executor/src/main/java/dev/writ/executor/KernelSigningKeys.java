package dev.writ.executor;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.error.ExecutorError;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The keys that a kernel signs documents with, each of which may be exchanged while it works.
 * Verifiers accept no new signature of a key that is revoked or expired, so without valid keys
 * nothing is judged, executed or closed. Thread safe.
 */
final class KernelSigningKeys {
  private volatile SigningKey guardian;
  private volatile SigningKey executor;

  KernelSigningKeys(SigningKey guardian, SigningKey executor) {
    this.guardian = guardian;
    this.executor = executor;
  }

  /** Signs with another key from now on. */
  void exchange(KeyRole role, SigningKey key) {
    switch (role) {
      case GUARDIAN -> guardian = key;
      case EXECUTOR -> executor = key;
      default -> throw new IllegalArgumentException(role.text());
    }
  }

  private SigningKey key(KeyRole role) {
    return role == KeyRole.GUARDIAN ? guardian : executor;
  }

  /**
   * @throws WritException {@code EXE-912}
   */
  void require(Trust trust, Instant now) {
    for (KeyRole role :
        isWithoutGuardian()
            ? List.of(KeyRole.EXECUTOR)
            : List.of(KeyRole.GUARDIAN, KeyRole.EXECUTOR)) {
      require(trust, role, key(role).kid(), now);
    }
  }

  /**
   * Requires the executor's key alone.
   *
   * @throws WritException {@code EXE-912}
   */
  void requireExecutor(Trust trust, Instant now) {
    require(trust, KeyRole.EXECUTOR, executor.kid(), now);
  }

  /**
   * What is signed with this key in this role now will be believed.
   *
   * @throws WritException {@code EXE-912}
   */
  static void require(Trust trust, KeyRole role, String kid, Instant now) {
    if (enrolled(trust, role, kid, now).filter(key -> key.revokedAt().isEmpty()).isEmpty()) {
      throw refused(kid, now);
    }
  }

  /**
   * A log key that is enrolled must be in force. Of one that is not, this says nothing: no verifier
   * accepts its signatures anyway.
   *
   * @throws WritException {@code EXE-912}
   */
  static void requireLog(Trust trust, String kid, Instant at) {
    if (trust.key(kid).isPresent()) {
      require(trust, KeyRole.LOG, kid, at);
    }
  }

  /**
   * What this kernel's log is signed with now will be believed, where log keys are enrolled at all:
   * what another key closes never verifies. The log keys that an executor without a guardian knows
   * are its guardian's, and not its own.
   *
   * @throws WritException {@code EXE-912}
   */
  void requireOwnLog(Trust trust, String kid, Instant at) {
    requireOwnLog(trust, kid, isWithoutGuardian(), at);
  }

  /**
   * @throws WritException {@code EXE-912}
   */
  static void requireOwnLog(Trust trust, String kid, boolean isWithoutGuardian, Instant at) {
    boolean isAnyEnrolled =
        trust.keys().values().stream().anyMatch(key -> key.role() == KeyRole.LOG);
    if (isAnyEnrolled && !isWithoutGuardian) {
      require(trust, KeyRole.LOG, kid, at);
    } else {
      requireLog(trust, kid, at);
    }
  }

  private boolean isWithoutGuardian() {
    return guardian.kid().equals(executor.kid());
  }

  /** Whether verifiers will accept what the executor signs now. */
  boolean executorMaySign(Trust trust, Instant now) {
    return maySign(trust, KeyRole.EXECUTOR, executor.kid(), now);
  }

  /**
   * A signer that checks its key before each document, at the latest clock reading: the document's
   * own time was read earlier, so this is the stricter check.
   */
  DocumentSigner guarded(KeyRole role, Supplier<Trust> trust, Supplier<Instant> latest) {
    return (type, document) -> {
      SigningKey key = key(role);
      Instant now = latest.get();
      if (!maySign(trust.get(), role, key.kid(), now)) {
        throw refused(key.kid(), now);
      }
      return Envelope.sign(type, document, key);
    };
  }

  /** Work that was under way when the key was revoked may still be signed for a moment. */
  private static boolean maySign(Trust trust, KeyRole role, String kid, Instant now) {
    return enrolled(trust, role, kid, now)
        .filter(key ->
            key.revokedAt().filter(at -> now.isAfter(at.plus(SystemState.IN_FLIGHT))).isEmpty())
        .isPresent();
  }

  private static Optional<TrustedKey> enrolled(Trust trust, KeyRole role, String kid, Instant now) {
    return trust.key(kid).filter(key -> key.role() == role && key.isValidAt(now));
  }

  private static WritException refused(String kid, Instant now) {
    return new WritException(ExecutorError.OWN_KEY, "key " + kid + ", now " + now);
  }
}
