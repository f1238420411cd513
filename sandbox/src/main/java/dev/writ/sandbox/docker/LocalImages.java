package dev.writ.sandbox.docker;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.ImageTag;
import dev.writ.sandbox.error.SandboxError;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Says which image a tag names now, on this host. */
@FunctionalInterface
public interface LocalImages {
  /**
   * @throws WritException {@code SBX-035} where no image has that tag here
   */
  ImageReference pinned(ImageTag tag);

  /** The images of a service. */
  static LocalImages of(ApiClient client) {
    return tag -> {
      Image image = client.image(tag.toString()).orElseThrow(() -> missing(tag));
      List<ImageReference> known = image.digests().stream().map(ImageReference::parse).toList();
      return known.stream()
          .filter(reference -> reference.name().equals(tag.name()))
          .findFirst()
          .or(() -> known.stream().findFirst())
          .map(ImageReference::digest)
          .map(digest -> new ImageReference(tag.name(), digest))
          .orElseGet(() -> new ImageReference(tag.name(), Digest.parse(image.id())));
    };
  }

  /**
   * The images of a directory in the form of the OCI image layout: by the annotation {@code
   * org.opencontainers.image.ref.name}, which is the tag or the whole name.
   */
  static LocalImages layout(Path directory) {
    return tag -> {
      Digest digest =
          OciLayout.manifests(directory).entrySet().stream()
              .filter(m -> m.getKey().equals(tag.tag()) || m.getKey().equals(tag.toString()))
              .map(Map.Entry::getValue)
              .findFirst()
              .orElseThrow(() -> missing(tag));
      OciLayout.require(directory, digest);
      return new ImageReference(tag.name(), digest);
    };
  }

  private static WritException missing(ImageTag tag) {
    return new WritException(SandboxError.IMAGE, tag + " is not here");
  }
}
