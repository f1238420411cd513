package dev.writ.gateway.http.auth;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.message.Headers;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.BiPredicate;

/**
 * Takes the cookie of a session (spec/console.md). One is made for each configuration: a session
 * lives no longer than the credential that opened it is known.
 */
public final class SessionAuthentication implements Authenticator {
  static final List<String> READING = List.of("GET", "HEAD");
  private static final List<String> OWN_SITE = List.of("same-origin", "none");

  private final Sessions sessions;
  private final BiPredicate<Caller, Instant> known;

  /**
   * @param others what authenticates the credentials that open sessions
   */
  public SessionAuthentication(
      Sessions sessions, List<Authenticator> others, Certificates certificates) {
    this.sessions = sessions;
    this.known =
        (caller, now) ->
            certificates.stillKnows(caller)
                || others.stream().anyMatch(other -> other.stillKnows(caller, now));
  }

  @Override
  public Optional<Caller> authenticate(String scheme, String credentials, Instant now) {
    return scheme.equalsIgnoreCase(SignInCodes.SCHEME)
        ? Optional.of(sessions.codes().take(credentials, now))
        : Optional.empty();
  }

  @Override
  public Optional<Caller> authenticateHead(String httpMethod, Headers headers, Instant now) {
    Optional<Sessions.Seen> shown = sessions.of(headers, now);
    if (shown.isEmpty()) {
      return Optional.empty();
    }
    Sessions.Seen session = shown.get();
    if (!known.test(session.by(), now)) {
      sessions.end(session.id());
      throw new WritException(GatewayError.SESSION_ENDED, "its credential is not known any more");
    }
    requireOwnSite(headers);
    // A page that names its session reads nothing as who signed in after it in the same browser.
    if (!READING.contains(httpMethod) || headers.one("writ-csrf").isPresent()) {
      requireOwnPage(headers, session.csrf());
    }
    Caller by = session.by();
    return Optional.of(
        new Caller(
            Sessions.METHOD,
            by.principal(),
            session.id().hex(),
            by.tenant(),
            by.subject(),
            by.roles()));
  }

  /**
   * Browsers say where a call comes from (Fetch Metadata); what is no browser says nothing.
   *
   * @throws WritException {@code GWY-092} for another site's page
   */
  static void requireOwnSite(Headers headers) {
    Optional<String> site = headers.one("sec-fetch-site");
    if (site.filter(word -> !OWN_SITE.contains(word)).isPresent()) {
      throw new WritException(GatewayError.CROSS_SITE, "");
    }
    Optional<String> origin = headers.one("origin");
    String host = headers.one("host").orElse("");
    if (origin
        .filter(o -> !o.equals("https://" + host) && !o.equals("http://" + host))
        .isPresent()) {
      throw new WritException(GatewayError.CROSS_SITE, "");
    }
  }

  private static void requireOwnPage(Headers headers, String csrf) {
    if (headers.one("writ-csrf").filter(sent -> Sessions.same(sent, csrf)).isEmpty()) {
      throw new WritException(GatewayError.CSRF, "");
    }
  }

  @Override
  public boolean stillKnows(Caller earlier, Instant now) {
    return earlier.method().equals(Sessions.METHOD)
        && sessions
            .openedBy(earlier.fingerprint(), now)
            .filter(by -> known.test(by, now))
            .isPresent();
  }

  @Override
  public String challenge() {
    return "";
  }
}
