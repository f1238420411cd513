package dev.writ.canonicalize.crypto;

import java.util.Optional;

/** The forms of ES256 signatures: r and s of 32 bytes each in documents, DER in other protocols. */
public final class Es256Signatures {
  private Es256Signatures() {}

  /**
   * r and s of a signature in strict DER, with 0 &lt; r, s &lt; n; of the two values of s either.
   *
   * @return 64 bytes; empty for what is no such signature
   */
  public static Optional<byte[]> ofDer(byte[] der) {
    return P256.pairOfDer(der);
  }
}
