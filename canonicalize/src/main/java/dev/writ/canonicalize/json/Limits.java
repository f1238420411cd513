package dev.writ.canonicalize.json;

/**
 * Bounds on one JSON text.
 *
 * @param bytesMax size in bytes of the text, and of the canonical form that is made from it
 * @param depthMax nesting of objects and arrays; a scalar has depth 0
 */
public record Limits(int bytesMax, int depthMax) {
  /** For documents: 16 MiB, 128 levels. */
  public static final Limits DEFAULT = new Limits(16 << 20, 128);

  public Limits {
    if (bytesMax < 1 || depthMax < 0) {
      throw new IllegalArgumentException("bytesMax " + bytesMax + ", depthMax " + depthMax);
    }
  }
}
