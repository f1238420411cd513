package dev.writ.gateway.http.auth;

import dev.writ.gateway.http.message.Headers;
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

  /**
   * The caller that the rest of a head shows, where it has no Authorization header.
   *
   * @param httpMethod of the call
   * @return empty where it shows nothing of this kind
   * @throws dev.writ.canonicalize.WritException for what it shows and is not valid
   */
  default Optional<Caller> authenticateHead(String httpMethod, Headers headers, Instant now) {
    return Optional.empty();
  }

  /** Whether a caller that was authenticated earlier would be now, by the same credential. */
  default boolean stillKnows(Caller earlier, Instant now) {
    return false;
  }

  /** The challenge for {@code WWW-Authenticate} (RFC 9110, 11.6.1); empty for none. */
  String challenge();
}
