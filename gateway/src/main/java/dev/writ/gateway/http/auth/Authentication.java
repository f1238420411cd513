package dev.writ.gateway.http.auth;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.message.Headers;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Identifies the caller by the Authorization header (RFC 9110, 11.6.2) or the client's certificate.
 */
public final class Authentication {
  private final List<Authenticator> authenticators;
  private final Certificates certificates;

  public Authentication(List<Authenticator> authenticators, Certificates certificates) {
    this.authenticators = List.copyOf(authenticators);
    this.certificates = certificates;
  }

  /**
   * Uses one credential: the Authorization header if there is one, otherwise a session's cookie,
   * otherwise the certificate.
   *
   * @param httpMethod of the call
   * @param certificate the client's certificate on this connection, if it presented one
   * @throws WritException {@code GWY-020} without a credential of a known kind; the credential's
   *     own code if it is not valid; {@code GWY-092} for a certificate that another site's page has
   *     the browser use for a change
   */
  public Caller caller(
      String httpMethod, Headers headers, Optional<X509Certificate> certificate, Instant now) {
    Optional<String> header = headers.one("authorization");
    if (header.isEmpty()) {
      Optional<Caller> signedIn = signedIn(httpMethod, headers, now);
      if (signedIn.isPresent()) {
        return signedIn.get();
      }
    }
    if (header.isEmpty() && certificate.isPresent()) {
      // A browser presents it for whatever page asks, as it does with a cookie.
      if (!SessionAuthentication.READING.contains(httpMethod)) {
        SessionAuthentication.requireOwnSite(headers);
      }
      return certificates.caller(certificate.get(), now);
    }
    if (header.isEmpty()) {
      throw new WritException(GatewayError.NOT_AUTHENTICATED, "no Authorization header");
    }
    String[] parts = header.get().strip().split(" +", 2);
    String credentials = parts.length == 2 ? parts[1] : "";
    for (Authenticator authenticator : authenticators) {
      Optional<Caller> caller =
          authenticator.authenticate(parts[0].toLowerCase(Locale.ROOT), credentials, now);
      if (caller.isPresent()) {
        return caller.get();
      }
    }
    throw new WritException(GatewayError.NOT_AUTHENTICATED, "credentials of no kind that is known");
  }

  /**
   * The caller of a route that needs no credential: empty without an Authorization header and
   * without the certificate of a known caller.
   *
   * @throws WritException as {@link #caller}, for a credential that is presented and not valid
   */
  public Optional<Caller> callerIfShown(
      String httpMethod, Headers headers, Optional<X509Certificate> certificate, Instant now) {
    boolean shown =
        headers.has("authorization")
            || signedIn(httpMethod, headers, now).isPresent()
            || certificate.filter(certificates::knows).isPresent();
    return shown ? Optional.of(caller(httpMethod, headers, certificate, now)) : Optional.empty();
  }

  /**
   * Whether a caller whose answer is not at its end would be the same caller now, with the same
   * roles. What a key may read is judged by its standing when it reads.
   */
  public boolean keeps(Caller caller, Instant now) {
    return switch (caller.method()) {
      case Certificates.METHOD -> certificates.stillKnows(caller);
      case Tokens.METHOD, Sessions.METHOD ->
          authenticators.stream().anyMatch(a -> a.stillKnows(caller, now));
      default -> true;
    };
  }

  private Optional<Caller> signedIn(String httpMethod, Headers headers, Instant now) {
    return authenticators.stream()
        .flatMap(a -> a.authenticateHead(httpMethod, headers, now).stream())
        .findFirst();
  }

  public String challenges() {
    return authenticators.stream()
        .map(Authenticator::challenge)
        .filter(challenge -> !challenge.isEmpty())
        .collect(Collectors.joining(", "));
  }
}
