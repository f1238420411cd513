package dev.writ.guardian.document;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;

/**
 * A credential that a key holder signs to read its own documents, for a short time, from the server
 * of one log (spec/gateway.md). It allows no effect.
 *
 * @param audience the log's origin
 */
public record AccessDocument(String tenant, String audience, Instant issuedAt, Instant expiresAt) {
  public static final String TYPE = PayloadTypes.of("access");
  public static final String SCHEME = "Writ";

  /** The longest time from issue to expiry. */
  public static final Duration LIFE_MAX = Duration.ofMinutes(5);

  public static AccessDocument read(JsonValue document) {
    Fields fields = Fields.of("access", document);
    AccessDocument access =
        new AccessDocument(
            fields.name("tenant"),
            fields.name("audience"),
            fields.time("issued_at"),
            fields.time("expires_at"));
    fields.end();
    return access;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tenant", tenant)
        .put("audience", audience)
        .put("issued_at", issuedAt)
        .put("expires_at", expiresAt)
        .build();
  }

  /** The value of the Authorization header that carries it. */
  public static String header(Envelope signed) {
    return SCHEME + " " + Base64.getUrlEncoder().withoutPadding().encodeToString(signed.toBytes());
  }
}
