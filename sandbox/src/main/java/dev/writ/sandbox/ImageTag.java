package dev.writ.sandbox;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;

/**
 * An image by a name that can be moved to another image. A name without a registry is one of {@code
 * docker.io}, as docker and podman read it: {@code debian:12} is {@code
 * docker.io/library/debian:12}.
 *
 * @param name of the repository, with its registry
 * @param tag {@code latest} where none is written
 */
public record ImageTag(String name, String tag) {
  private static final String TAG = "[A-Za-z0-9_][A-Za-z0-9._-]{0,127}";

  public ImageTag {
    ImageReference.requireName(name);
    if (!tag.matches(TAG)) {
      throw new WritException(SandboxError.IMAGE_REFERENCE, "the tag is none");
    }
  }

  /**
   * @throws WritException {@code SBX-034}
   */
  public static ImageTag parse(String text) {
    int colon = text.lastIndexOf(':');
    boolean tagged = colon > text.lastIndexOf('/');
    return new ImageTag(
        withRegistry(tagged ? text.substring(0, colon) : text),
        tagged ? text.substring(colon + 1) : "latest");
  }

  private static String withRegistry(String name) {
    int slash = name.indexOf('/');
    String first = slash < 0 ? "" : name.substring(0, slash);
    boolean registry = first.contains(".") || first.contains(":") || first.equals("localhost");
    if (registry) {
      return name;
    }
    return "docker.io/" + (slash < 0 ? "library/" : "") + name;
  }

  @Override
  public String toString() {
    return name + ":" + tag;
  }
}
