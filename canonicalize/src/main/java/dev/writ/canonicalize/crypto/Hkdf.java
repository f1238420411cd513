package dev.writ.canonicalize.crypto;

import org.bouncycastle.crypto.generators.HKDFBytesGenerator;
import org.bouncycastle.crypto.params.HKDFParameters;

/**
 * HKDF with SHA-256 (RFC 5869), by Bouncy Castle: to ask the JDK for it starts all of its security
 * providers, which takes longer than a short command.
 */
public final class Hkdf {
  /** The most that it yields: 255 blocks of SHA-256 (RFC 5869, 2.3). */
  public static final int LENGTH_MAX = 255 * 32;

  private Hkdf() {}

  /**
   * Extracts and expands.
   *
   * @param ikm the input keying material
   * @param salt may be empty, which means 32 zero bytes
   * @param info binds the result to its use; may be empty
   * @param length in bytes, 1 to {@link #LENGTH_MAX}
   */
  public static byte[] derive(byte[] ikm, byte[] salt, byte[] info, int length) {
    if (length < 1 || length > LENGTH_MAX) {
      throw new IllegalArgumentException("length " + length + " is not 1 to " + LENGTH_MAX);
    }
    HKDFBytesGenerator generator = new HKDFBytesGenerator(new JdkSha256());
    generator.init(new HKDFParameters(ikm, salt, info));
    byte[] derived = new byte[length];
    generator.generateBytes(derived, 0, length);
    return derived;
  }
}
