package dev.writ.sandbox;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;

/**
 * An image by its digest: {@code name@sha256:…}. A tag alone is refused, since it can be moved to
 * another image.
 *
 * @param name of the repository, as the service knows it; without a tag
 * @param digest of its manifest, or of its configuration where it never was in a registry
 */
public record ImageReference(String name, Digest digest) {
  private static final String NAME =
      "[a-z0-9]+([._-]+[a-z0-9]+)*(:[0-9]{1,5}(?=/))?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*";
  private static final int MOST_NAME = 255;

  public ImageReference {
    requireName(name);
  }

  static void requireName(String name) {
    if (name.length() > MOST_NAME || !name.matches(NAME)) {
      throw new WritException(SandboxError.IMAGE_REFERENCE, "the name is none of a repository");
    }
  }

  /**
   * @throws WritException {@code SBX-034}
   */
  public static ImageReference parse(String text) {
    int at = text.indexOf('@');
    if (at < 0 || !text.startsWith("@sha256:", at)) {
      throw new WritException(SandboxError.IMAGE_REFERENCE, "there is no @sha256: in it");
    }
    String digest = text.substring(at + 1);
    if (!digest.matches("sha256:[0-9a-f]{64}")) {
      throw new WritException(SandboxError.IMAGE_REFERENCE, "the digest is not 64 of 0-9 and a-f");
    }
    return new ImageReference(text.substring(0, at), Digest.parse(digest));
  }

  @Override
  public String toString() {
    return name + "@" + digest;
  }
}
