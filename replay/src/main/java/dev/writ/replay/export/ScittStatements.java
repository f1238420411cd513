package dev.writ.replay.export;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.Algorithm;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.ledger.Event;
import dev.writ.verify.bundle.Bundle;
import java.nio.charset.StandardCharsets;
import java.util.function.BiConsumer;

/**
 * Signed statements of SCITT (RFC 9943): a COSE_Sign1 (RFC 9052) over the signed document, by the
 * exporter, whose word it is that the bundle verified. What it is sent to registers it and answers
 * with a receipt of its own.
 */
public final class ScittStatements implements FileFormat {
  private static final int COSE_SIGN1 = 18;

  // Header parameters (RFC 9052, 3.1; RFC 9597) and claims (RFC 8392, 4).
  private static final int ALG = 1;
  private static final int CONTENT_TYPE = 3;
  private static final int KID = 4;
  private static final int CWT_CLAIMS = 15;
  private static final int ISS = 1;
  private static final int SUB = 2;

  /** EdDSA (RFC 9053, 2.2). */
  private static final int EDDSA = -8;

  /** RFC 9053, 2.1. */
  private static final int ES256 = -7;

  /** RFC 9964. */
  private static final int ML_DSA_65 = -49;

  private static final String ENVELOPE = "application/vnd.dsse.envelope.v1+json";

  private final SigningKey key;

  ScittStatements(SigningKey key) {
    this.key = key;
  }

  @Override
  public String suffix() {
    return "cose";
  }

  @Override
  public void each(Bundle bundle, BiConsumer<Event, byte[]> taker) {
    String origin = bundle.manifest().origin();
    ExportedOutcome.each(
        bundle,
        outcome ->
            taker.accept(
                outcome.event(),
                statement(
                    origin, outcome.decision().request(), outcome.envelope().toBytes(), key)));
  }

  /**
   * One statement.
   *
   * @param origin the name of the log
   * @param request the digest of the request, which all statements on what became of it name
   * @param payload the envelope of the signed document
   */
  public static byte[] statement(String origin, Digest request, byte[] payload, SigningKey key) {
    byte[] header = header("urn:writ:log:" + origin, "urn:writ:request:" + request, key);
    byte[] signed =
        new Cbor()
            .array(4)
            .text("Signature1")
            .bytes(header)
            .bytes(new byte[0])
            .bytes(payload)
            .toBytes();
    return new Cbor()
        .tag(COSE_SIGN1)
        .array(4)
        .bytes(header)
        .map(0)
        .bytes(payload)
        .bytes(key.sign(signed))
        .toBytes();
  }

  private static int identifier(Algorithm algorithm) {
    return switch (algorithm) {
      case ED25519 -> EDDSA;
      case ES256 -> ES256;
      case ML_DSA_65 -> ML_DSA_65;
      case WEBAUTHN -> throw new IllegalArgumentException("an authenticator signs no statement");
    };
  }

  private static byte[] header(String issuer, String subject, SigningKey key) {
    return new Cbor()
        .map(4)
        .integer(ALG)
        .integer(identifier(key.algorithm()))
        .integer(CONTENT_TYPE)
        .text(ENVELOPE)
        .integer(KID)
        .bytes(key.kid().getBytes(StandardCharsets.UTF_8))
        .integer(CWT_CLAIMS)
        .map(2)
        .integer(ISS)
        .text(issuer)
        .integer(SUB)
        .text(subject)
        .toBytes();
  }
}
