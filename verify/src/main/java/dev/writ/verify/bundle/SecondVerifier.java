package dev.writ.verify.bundle;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/**
 * The verifier of bundles in JavaScript, written from the specification alone, as an independent
 * check of {@link BundleVerifier}.
 */
public final class SecondVerifier {
  private SecondVerifier() {}

  /** {@code verify.mjs}: one ES module, for Node and browsers. */
  public static byte[] source() {
    try (InputStream in = SecondVerifier.class.getResourceAsStream("verify.mjs")) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
