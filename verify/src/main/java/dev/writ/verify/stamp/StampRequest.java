package dev.writ.verify.stamp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.verify.error.BundleError;
import java.io.IOException;
import java.math.BigInteger;
import java.util.Optional;
import org.bouncycastle.asn1.nist.NISTObjectIdentifiers;
import org.bouncycastle.tsp.TimeStampRequest;
import org.bouncycastle.tsp.TimeStampRequestGenerator;

/**
 * What a time stamp authority is asked: to stamp a SHA-256, and to enclose its certificate (RFC
 * 3161, 2.4.1).
 */
public final class StampRequest {
  /** The media types of RFC 3161, 3.4. */
  public static final String TYPE = "application/timestamp-query";

  public static final String REPLY_TYPE = "application/timestamp-reply";

  private static final int BYTES_MAX = 4096;

  private final TimeStampRequest request;

  private StampRequest(TimeStampRequest request) {
    this.request = request;
  }

  /**
   * @param nonce 8 to 20 random bytes, which the reply repeats
   */
  public static StampRequest of(Digest digest, byte[] nonce) {
    TimeStampRequestGenerator generator = new TimeStampRequestGenerator();
    generator.setCertReq(true);
    return new StampRequest(
        generator.generate(
            NISTObjectIdentifiers.id_sha256, digest.bytes(), new BigInteger(1, nonce)));
  }

  /**
   * Reads a request that was kept.
   *
   * @throws WritException {@code RPL-087} for what is none
   */
  public static StampRequest parse(byte[] der) {
    if (der.length > BYTES_MAX) {
      throw new WritException(BundleError.STAMP_FORM, "the request has " + der.length + " bytes");
    }
    try {
      return new StampRequest(new TimeStampRequest(der));
    } catch (IOException | RuntimeException e) {
      throw new WritException(
          BundleError.STAMP_FORM,
          der.length == 0 ? "the request is empty" : "the request is no TimeStampReq in DER",
          e);
    }
  }

  Optional<BigInteger> nonce() {
    return Optional.ofNullable(request.getNonce());
  }

  /** In DER. */
  public byte[] toBytes() {
    try {
      return request.getEncoded();
    } catch (IOException e) {
      throw new IllegalStateException("it was read from bytes, or made of numbers", e);
    }
  }
}
