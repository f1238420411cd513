package dev.writ.sandbox.docker;

import dev.writ.sandbox.ImageReference;
import java.util.List;

/**
 * An image that the service has.
 *
 * @param id digest of its configuration, with {@code sha256:}
 * @param digests names with manifest digests under which it is known
 * @param layers digests of its layers, unpacked
 * @param volumes whether it declares volumes, which would be writable places beside the workspace
 */
public record Image(String id, List<String> digests, List<String> layers, boolean volumes) {
  public Image {
    digests = List.copyOf(digests);
    layers = List.copyOf(layers);
  }

  /** Whether the service knows it by exactly this digest; its names do not matter. */
  public boolean is(ImageReference reference) {
    String digest = reference.digest().toString();
    return id.equals(digest) || digests.stream().anyMatch(d -> d.endsWith("@" + digest));
  }
}
