package dev.writ.executor;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import java.time.Instant;

/**
 * The keys that a kernel signs with. Once one of them is revoked, what it signs is taken by no
 * verifier; so nothing is judged, executed or closed any more.
 */
record OwnKeys(String guardianKid, String executorKid) {

  /**
   * @throws WritException {@code EXE-912}
   */
  void require(Trust trust, Instant now) {
    require(trust, guardianKid, KeyRole.GUARDIAN, now);
    require(trust, executorKid, KeyRole.EXECUTOR, now);
  }

  private static void require(Trust trust, String kid, KeyRole role, Instant now) {
    boolean inForce =
        trust
            .key(kid)
            .filter(key -> key.role() == role && key.isValidAt(now) && key.revokedAt().isEmpty())
            .isPresent();
    if (!inForce) {
      throw new WritException(ExecutorError.OWN_KEY, role.text() + " key " + kid);
    }
  }
}
