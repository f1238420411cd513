package dev.writ.gateway.http.auth;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.gateway.error.GatewayError;
import dev.writ.guardian.document.AccessDocument;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Takes {@link AccessDocument access documents} in the Authorization header (spec/gateway.md). */
public final class AccessAuthentication {
  /** The method's name in logs; surfaces do not vouch for such callers, since they have keys. */
  public static final String METHOD = "access";

  private static final Duration SKEW = Duration.ofSeconds(2);

  private AccessAuthentication() {}

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
      public boolean stillKnows(Caller earlier, Instant now) {
        return earlier.method().equals(SignInCodes.METHOD)
            && trust
                .get()
                .key(earlier.principal())
                .filter(key -> key.isValidAt(now) && key.revokedAt().isEmpty())
                .filter(key -> key.subject().equals(earlier.subject()))
                .filter(key -> key.tenant().filter(earlier.tenant()::equals).isPresent())
                .isPresent();
      }

      @Override
      public String challenge() {
        return AccessDocument.SCHEME;
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
    TrustedKey signer = trust.verify(envelope, AccessDocument.TYPE, now).getFirst();
    AccessDocument access = AccessDocument.read(envelope.document());
    require(access, signer, audience, now);
    return new Caller(METHOD, signer.kid(), access.tenant(), signer.subject(), List.of());
  }

  private static void require(
      AccessDocument access, TrustedKey signer, String server, Instant now) {
    if (signer.tenant().filter(access.tenant()::equals).isEmpty()) {
      throw new WritException(
          GatewayError.ACCESS_REFUSED, "the key is not of the tenant " + access.tenant());
    }
    if (!access.audience().equals(server)) {
      throw new WritException(
          GatewayError.ACCESS_REFUSED, "it is for " + access.audience() + ", this is " + server);
    }
    boolean inTime =
        !access.issuedAt().minus(SKEW).isAfter(now)
            && access.expiresAt().isAfter(now)
            && !access.expiresAt().isAfter(access.issuedAt().plus(AccessDocument.LIFE_MAX));
    if (!inTime) {
      throw new WritException(
          GatewayError.ACCESS_REFUSED,
          "it is from "
              + access.issuedAt()
              + " to "
              + access.expiresAt()
              + ", at most "
              + AccessDocument.LIFE_MAX
              + "; now "
              + now);
    }
  }
}
