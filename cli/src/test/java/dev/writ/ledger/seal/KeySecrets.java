package dev.writ.ledger.seal;

import java.nio.file.Path;
import java.util.Optional;

/** The secret bytes of content keys, for tests that search for them. */
public final class KeySecrets {
  private KeySecrets() {}

  /** Of the key that an owner has now, 32 bytes; empty where it has none. */
  public static Optional<byte[]> of(Path ledger, ContentOwner owner) {
    return ContentKeys.reading(ledger).current(owner).map(ContentKey::secret);
  }
}
