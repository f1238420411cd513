package dev.writ.canonicalize.crypto;

import java.security.GeneralSecurityException;
import javax.crypto.KDF;
import javax.crypto.spec.HKDFParameterSpec;

/** HKDF with SHA-256 (RFC 5869), by the JDK. */
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
    try {
      return KDF.getInstance("HKDF-SHA256")
          .deriveData(
              HKDFParameterSpec.ofExtract().addIKM(ikm).addSalt(salt).thenExpand(info, length));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK 25 has HKDF-SHA256", e);
    }
  }
}
