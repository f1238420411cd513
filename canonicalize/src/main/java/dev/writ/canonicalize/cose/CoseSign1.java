package dev.writ.canonicalize.cose;

import dev.writ.canonicalize.crypto.SigningKey;
import java.nio.charset.StandardCharsets;

/** What the messages of COSE (RFC 9052) that are signed once have in common: a COSE_Sign1. */
public final class CoseSign1 {
  /** Header parameter {@code alg}. */
  public static final int ALG = 1;

  /** Header parameter {@code content type}. */
  public static final int CONTENT_TYPE = 3;

  /** Header parameter {@code kid}. */
  public static final int KID = 4;

  /** Header parameter {@code CWT Claims} (RFC 9597). */
  public static final int CWT_CLAIMS = 15;

  /** Header parameter {@code receipts} (RFC 9942), for the unprotected header. */
  public static final int RECEIPTS = 394;

  private static final int TAG = 18;

  // Claims (RFC 8392, 4).
  private static final int ISS = 1;
  private static final int SUB = 2;

  /** EdDSA (RFC 9053, 2.2). */
  private static final int EDDSA = -8;

  /** RFC 9053, 2.1. */
  private static final int ES256 = -7;

  /** RFC 9964. */
  private static final int ML_DSA_65 = -49;

  private CoseSign1() {}

  /** The identifier of what a key signs with, as the value of {@link #ALG}. */
  public static int algorithm(SigningKey key) {
    return switch (key.algorithm()) {
      case ED25519 -> EDDSA;
      case ES256 -> ES256;
      case ML_DSA_65 -> ML_DSA_65;
      case WEBAUTHN -> throw new IllegalArgumentException("an authenticator signs no statement");
    };
  }

  /** The id of a key, as the value of {@link #KID}: the text of its thumbprint, in bytes. */
  public static byte[] kid(SigningKey key) {
    return key.kid().getBytes(StandardCharsets.UTF_8);
  }

  /** Writes the parameter {@link #CWT_CLAIMS} with issuer and subject. */
  public static Cbor claims(Cbor header, String issuer, String subject) {
    return header.integer(CWT_CLAIMS).map(2).integer(ISS).text(issuer).integer(SUB).text(subject);
  }

  /**
   * The signature of a payload under a protected header (RFC 9052, 4.4). Its bytes begin with 0x84
   * and "Signature1", so that it is a signature of no note and of no envelope.
   */
  public static byte[] sign(byte[] header, byte[] payload, SigningKey key) {
    return key.sign(
        new Cbor()
            .array(4)
            .text("Signature1")
            .bytes(header)
            .bytes(new byte[0])
            .bytes(payload)
            .toBytes());
  }

  /** The beginning of a message: its tag and its protected header. Three items follow. */
  public static Cbor begin(byte[] header) {
    return new Cbor().tag(TAG).array(4).bytes(header);
  }
}
