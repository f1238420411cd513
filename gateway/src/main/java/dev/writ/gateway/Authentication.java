package dev.writ.gateway;

import dev.writ.canonicalize.WritException;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** Tells who calls, by the Authorization header (RFC 9110, 11.6.2). */
final class Authentication {
  private final List<Authenticator> authenticators;

  Authentication(List<Authenticator> authenticators) {
    this.authenticators = List.copyOf(authenticators);
  }

  /**
   * @throws WritException {@code GWY-020} without credentials of a kind that is known, and the code
   *     of what does not hold
   */
  Caller caller(Headers headers, Instant now) {
    Optional<String> header = headers.one("authorization");
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

  String challenges() {
    return authenticators.stream().map(Authenticator::challenge).collect(Collectors.joining(", "));
  }
}
