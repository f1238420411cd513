package dev.writ.gateway.http.auth;

import dev.writ.canonicalize.Digest;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * People for whom a provider of OpenID Connect speaks. It speaks once, when they sign in, and opens
 * a session; no call is authenticated by it.
 */
public final class OidcCallers implements Authenticator {
  /** The method's name in logs. */
  public static final String METHOD = "oidc";

  private final Optional<OidcSettings> settings;

  /**
   * @param settings those in force
   */
  public OidcCallers(Optional<OidcSettings> settings) {
    this.settings = settings;
  }

  /**
   * @param person the provider's own name of the person, which it gives nobody else
   * @param roles that the person is narrowed to; empty for all that policy gives the subject
   */
  public static Caller caller(
      OidcSettings by, String person, String tenant, String subject, List<String> roles) {
    String who = Digest.sha256(person.getBytes(StandardCharsets.UTF_8)).hex();
    return new Caller(METHOD, by.issuer(), by.identity().hex() + "." + who, tenant, subject, roles);
  }

  @Override
  public Optional<Caller> authenticate(String scheme, String credentials, Instant now) {
    return Optional.empty();
  }

  /** Until the configuration names another provider, or says otherwise who somebody is. */
  @Override
  public boolean stillKnows(Caller earlier, Instant now) {
    return earlier.method().equals(METHOD)
        && settings
            .filter(s -> earlier.fingerprint().startsWith(s.identity().hex() + "."))
            .isPresent();
  }

  @Override
  public String challenge() {
    return "";
  }
}
