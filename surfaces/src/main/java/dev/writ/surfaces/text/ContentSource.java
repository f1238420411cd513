package dev.writ.surfaces.text;

import dev.writ.guardian.document.Content;
import java.util.Optional;

/** Where the content of outputs is read. */
@FunctionalInterface
public interface ContentSource {
  /**
   * A tenant's content, verified by its digest; empty if it is not stored.
   *
   * @param bytesMax larger content is refused
   */
  Optional<byte[]> content(String tenant, Content content, long bytesMax);
}
