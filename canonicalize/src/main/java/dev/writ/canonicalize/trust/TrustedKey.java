package dev.writ.canonicalize.trust;

import dev.writ.canonicalize.crypto.VerifyingKey;
import java.time.Instant;
import java.util.Optional;

/**
 * A key as the trust file enrols it.
 *
 * @param tenant the one tenant it may act in; empty for keys of the installation (guardian, …)
 * @param subject who holds it, by name
 * @param notBefore start of its validity, inclusive
 * @param notAfter end of its validity, exclusive
 * @param revokedAt when it was revoked; it still verifies what the log shows before that
 */
public record TrustedKey(
    VerifyingKey key,
    KeyRole role,
    Optional<String> tenant,
    String subject,
    Instant notBefore,
    Optional<Instant> notAfter,
    Optional<Instant> revokedAt) {

  public String kid() {
    return key.kid();
  }
}
