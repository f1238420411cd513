package dev.writ.executor.retention;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.DigestSet;

/**
 * The bundle of a closed run, as it was read back from the archive and verified.
 *
 * @param digest of the bundle's bytes
 * @param contents which contents it has
 */
public record ArchivedBundle(Digest digest, DigestSet contents) {
  boolean has(Digest content) {
    return contents.contains(content);
  }
}
