package dev.writ.sandbox.docker;

import dev.writ.sandbox.ImageReference;
import java.util.List;

/**
 * An image that the service has.
 *
 * @param id digest of its configuration, with {@code sha256:}
 * @param digests names with the digests of manifests that it is known by
 * @param layers digests of its layers, unpacked
 * @param volumes whether it declares any: places that would be written to beside the workspace
 */
public record Image(String id, List<String> digests, List<String> layers, boolean volumes) {
  public Image {
    digests = List.copyOf(digests);
    layers = List.copyOf(layers);
  }

  /** Whether the service knows it by this very digest; what it calls it is its own affair. */
  public boolean is(ImageReference reference) {
    String digest = reference.digest().toString();
    return id.equals(digest) || digests.stream().anyMatch(d -> d.endsWith("@" + digest));
  }
}
