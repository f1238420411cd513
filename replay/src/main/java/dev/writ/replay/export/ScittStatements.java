package dev.writ.replay.export;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.cose.Cbor;
import dev.writ.canonicalize.cose.CoseSign1;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.ledger.event.Event;
import dev.writ.verify.bundle.Bundle;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * Signed statements of SCITT (RFC 9943): a COSE_Sign1 (RFC 9052) over the signed document, by the
 * exporter, whose word it is that the bundle verified. The log's own receipt of the document may be
 * in it, and what it is sent to registers it and answers with another one.
 */
public final class ScittStatements implements FileFormat {
  private static final String ENVELOPE = "application/vnd.dsse.envelope.v1+json";

  private final SigningKey key;
  private final Optional<CoseReceipts> receipts;

  /**
   * @param receipts makes those that go along, if any do
   */
  ScittStatements(SigningKey key, Optional<CoseReceipts> receipts) {
    this.key = key;
    this.receipts = receipts;
  }

  @Override
  public void each(Bundle bundle, BiConsumer<Event, byte[]> taker) {
    String origin = bundle.manifest().origin();
    if (receipts.isPresent()) {
      receipts
          .get()
          .outcomes(
              bundle,
              (outcome, receipt) ->
                  taker.accept(outcome.event(), statement(origin, outcome, Optional.of(receipt))));
    } else {
      ExportedOutcome.each(
          bundle,
          outcome -> taker.accept(outcome.event(), statement(origin, outcome, Optional.empty())));
    }
  }

  private byte[] statement(String origin, ExportedOutcome outcome, Optional<byte[]> receipt) {
    return statement(
        origin, outcome.decision().request(), outcome.envelope().toBytes(), receipt, key);
  }

  /**
   * One statement.
   *
   * @param origin the name of the log
   * @param request the digest of the request, which all statements on what became of it name
   * @param payload the envelope of the signed document
   * @param receipt of the event that names the document; in the unprotected header, which nobody
   *     signs
   */
  public static byte[] statement(
      String origin, Digest request, byte[] payload, Optional<byte[]> receipt, SigningKey key) {
    byte[] header = header("urn:writ:log:" + origin, "urn:writ:request:" + request, key);
    Cbor message = CoseSign1.begin(header);
    if (receipt.isPresent()) {
      message.map(1).integer(CoseSign1.RECEIPTS).array(1).bytes(receipt.get());
    } else {
      message.map(0);
    }
    return message.bytes(payload).bytes(CoseSign1.sign(header, payload, key)).toBytes();
  }

  private static byte[] header(String issuer, String subject, SigningKey key) {
    Cbor header =
        new Cbor()
            .map(4)
            .integer(CoseSign1.ALG)
            .integer(CoseSign1.algorithm(key))
            .integer(CoseSign1.CONTENT_TYPE)
            .text(ENVELOPE)
            .integer(CoseSign1.KID)
            .bytes(CoseSign1.kid(key));
    return CoseSign1.claims(header, issuer, subject).toBytes();
  }
}
