package dev.writ.replay;

/** Opens bundles for those who read recordings. */
public final class Bundles {
  private Bundles() {}

  /**
   * A bundle's content; what it claims is for {@link BundleVerifier} to verify first.
   *
   * @throws dev.writ.canonicalize.WritException {@code RPL-01x}, {@code RPL-02x}, {@code RPL-03x}
   */
  public static Recording read(byte[] file) {
    return Bundle.read(file);
  }
}
