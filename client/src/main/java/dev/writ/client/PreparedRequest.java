package dev.writ.client;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.guardian.document.MandateDocument;
import dev.writ.guardian.document.Request;
import java.time.Instant;
import java.util.List;

/**
 * A request that is not signed yet. What a mandate is bound to is settled: whoever holds it can be
 * asked, and can take their time, since the request has the time at which it is signed.
 */
public record PreparedRequest(Request request) {

  /** What the nonce of the key binding of a mandate has to be (spec/mandate.md). */
  public String challenge() {
    return MandateDocument.challenge(request);
  }

  Envelope sign(Instant at, SigningKey key) {
    return signed(at, List.of(), key).request();
  }

  SignedRequest sign(String mandate, Instant at, SigningKey key) {
    Envelope brought =
        Envelope.sign(MandateDocument.TYPE, new MandateDocument(mandate).toJson(), key);
    return signed(at, List.of(brought), key);
  }

  private SignedRequest signed(Instant at, List<Envelope> evidence, SigningKey key) {
    Request signed =
        new Request(
            request.scope(),
            request.effect(),
            request.consumes(),
            request.idempotencyKey(),
            request.nonce(),
            at,
            request.retention(),
            request.context(),
            request.origin(),
            evidence.stream().map(Envelope::id).toList(),
            request.delegations());
    return new SignedRequest(Envelope.sign(Request.TYPE, signed.toJson(), key), evidence);
  }
}
