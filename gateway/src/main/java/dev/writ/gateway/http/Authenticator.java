package dev.writ.gateway.http;

import java.time.Instant;
import java.util.Optional;

/** One way of telling who calls. */
public interface Authenticator {

  /**
   * @param scheme of the Authorization header, in lower case
   * @param credentials what follows it
   * @return the caller; empty if the credentials are of another kind
   * @throws dev.writ.canonicalize.WritException for credentials of its kind that are not valid
   */
  Optional<Caller> authenticate(String scheme, String credentials, Instant now);

  /** The challenge for {@code WWW-Authenticate} (RFC 9110, 11.6.1). */
  String challenge();
}
