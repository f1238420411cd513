package dev.writ.gateway.http.auth;

import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;

/**
 * A provider with what its files hold.
 *
 * @param secret of the client
 * @param authorities by which its certificate is verified; none for those of the system
 */
public record OidcProvider(
    OidcSettings settings, Optional<String> secret, List<X509Certificate> authorities) {
  public OidcProvider {
    authorities = List.copyOf(authorities);
  }

  /** Without the secret. */
  @Override
  public String toString() {
    return settings.issuer();
  }
}
