package dev.writ.guardian.document;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A request for an effect, signed by an agent or by a surface that vouches for it.
 *
 * @param consumes ids of receipts whose outcome this effect builds on (protocol rule 16)
 * @param idempotencyKey scoped to tenant and subject; the request's id where absent (protocol rule
 *     2)
 * @param nonce never used twice within the freshness window
 * @param retention {@code keep} or {@code drop-output} (protocol rule 21)
 * @param context trace context and the like, by which nothing is allowed
 * @param evidence digests of documents that are submitted as evidence
 * @param delegations envelopes, from the principal's to the signer's (protocol rule 9)
 */
public record Request(
    Scope scope,
    Effect effect,
    List<Digest> consumes,
    Optional<String> idempotencyKey,
    String nonce,
    Instant requestedAt,
    String retention,
    JsonValue.Obj context,
    Optional<Origin> origin,
    List<Digest> evidence,
    List<Envelope> delegations) {

  public static final String TYPE = PayloadTypes.of("request");

  public Request {
    consumes = List.copyOf(consumes);
    evidence = List.copyOf(evidence);
    delegations = List.copyOf(delegations);
  }

  /**
   * The run that the caller named: the request's own run, unless the surface could not use that
   * one.
   */
  public String namedRun() {
    return origin.flatMap(Origin::run).orElse(scope.run());
  }

  public static Request read(JsonValue document) {
    return Fields.once(document, Request.class, Request::readNow);
  }

  private static Request readNow(JsonValue document) {
    Fields fields = Fields.of("request", document);
    Request request =
        new Request(
            Scope.read(fields),
            Effect.read(fields.fields("effect")),
            fields.list("consumes", Fields::digestItem),
            fields.optional("idempotency_key", fields::name),
            fields.name("nonce"),
            fields.time("requested_at"),
            fields.oneOf("retention", List.of("keep", "drop-output"), s -> s),
            fields.obj("context"),
            fields.optional("origin", key -> Origin.read(fields.fields(key))),
            fields.list("evidence", Fields::digestItem),
            fields.list("delegations", (path, value) -> Envelope.parse(Jcs.write(value))));
    fields.end();
    return request;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tenant", scope.tenant())
        .put("run", scope.run())
        .put("subject", scope.subject())
        .put("effect", effect.toJson())
        .putList("consumes", consumes, d -> JsonValue.of(d.toString()))
        .putIfPresent("idempotency_key", idempotencyKey, JsonValue::of)
        .put("nonce", nonce)
        .put("requested_at", requestedAt)
        .put("retention", retention)
        .put("context", context)
        .putIfPresent("origin", origin, Origin::toJson)
        .putList("evidence", evidence, d -> JsonValue.of(d.toString()))
        .putList("delegations", delegations, Envelope::toJson)
        .build();
  }
}
