package dev.writ.verify.bundle;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.verify.error.BundleError;
import java.util.Optional;

/** The keys that the auditor obtained from elsewhere; without any, nothing is required. */
final class Pins {
  private final Optional<Trust> pinned;
  private final VerifiedLines told;

  Pins(Optional<Trust> pinned, VerifiedLines told) {
    this.pinned = pinned;
    this.told = told;
  }

  /**
   * @param what the key is of
   * @throws WritException {@code RPL-041} where keys are pinned and this one is not, in that role
   */
  void require(String what, String kid, KeyRole role) {
    if (pinned.isEmpty()) {
      return;
    }
    Optional<TrustedKey> key = pinned.get().key(kid);
    if (key.filter(k -> k.role() == role).isEmpty()) {
      throw new WritException(
          BundleError.NOT_PINNED,
          what
              + " is "
              + kid
              + ", pinned "
              + key.map(k -> "as " + k.role().text())
                  .orElse(
                      "are "
                          + pinned.get().keys().values().stream()
                              .filter(k -> k.role() == role)
                              .map(TrustedKey::kid)
                              .toList()));
    }
    told.verified("key " + kid + ": pinned, " + what);
  }
}
