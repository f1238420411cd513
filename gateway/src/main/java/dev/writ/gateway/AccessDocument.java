package dev.writ.gateway;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A key holder's word that it wants to read what is its own, for a short time, from one log's
 * server (spec/gateway.md). It asks for no effect.
 *
 * @param audience the log's origin
 */
public record AccessDocument(String tenant, String audience, Instant issuedAt, Instant expiresAt) {
  public static final String TYPE = PayloadTypes.of("access");
  public static final String SCHEME = "Writ";

  /** How a caller of this kind is called in logs; nobody vouches for one. */
  public static final String METHOD = "access";

  public static final Duration LIFE_MAX = Duration.ofMinutes(5);

  private static final Duration SKEW = Duration.ofSeconds(2);

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

  /** Takes access documents in the Authorization header. */
  public static Authenticator authenticator(Supplier<Trust> trust, String audience) {
    return new Authenticator() {
      @Override
      public Optional<Caller> authenticate(String scheme, String credentials, Instant now) {
        return scheme.equals("writ")
            ? Optional.of(caller(credentials, trust.get(), audience, now))
            : Optional.empty();
      }

      @Override
      public String challenge() {
        return SCHEME;
      }
    };
  }

  private static Caller caller(String credentials, Trust trust, String audience, Instant now) {
    byte[] bytes;
    try {
      bytes = Base64.getUrlDecoder().decode(credentials);
    } catch (IllegalArgumentException e) {
      throw new WritException(GatewayError.ACCESS_REFUSED, "it is not base64url", e);
    }
    Envelope envelope = Envelope.parse(bytes);
    TrustedKey signer = trust.verify(envelope, TYPE, now).getFirst();
    AccessDocument access = read(envelope.document());
    access.requireFor(signer, audience, now);
    return new Caller(METHOD, signer.kid(), access.tenant, signer.subject(), List.of());
  }

  private void requireFor(TrustedKey signer, String server, Instant now) {
    if (signer.tenant().filter(tenant::equals).isEmpty()) {
      throw new WritException(
          GatewayError.ACCESS_REFUSED, "the key is not of the tenant " + tenant);
    }
    if (!audience.equals(server)) {
      throw new WritException(
          GatewayError.ACCESS_REFUSED, "it is for " + audience + ", this is " + server);
    }
    boolean inTime =
        !issuedAt.minus(SKEW).isAfter(now)
            && expiresAt.isAfter(now)
            && !expiresAt.isAfter(issuedAt.plus(LIFE_MAX));
    if (!inTime) {
      throw new WritException(
          GatewayError.ACCESS_REFUSED,
          "it is from " + issuedAt + " to " + expiresAt + ", at most " + LIFE_MAX + "; now " + now);
    }
  }
}
