package dev.writ.gateway;

import dev.writ.gateway.http.auth.Authenticator;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.message.Headers;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Who may call a cell of an installation that has several (spec/cells.md, "Routing").
 *
 * @param installation what access documents name as their audience, whatever the cell
 * @param rule refuses a caller that was authenticated and is not to be answered here
 */
public record CellDoor(String installation, Consumer<Caller> rule) {

  Authenticator guarding(Authenticator other) {
    return new Authenticator() {
      @Override
      public Optional<Caller> authenticate(String scheme, String credentials, Instant now) {
        return let(other.authenticate(scheme, credentials, now));
      }

      @Override
      public Optional<Caller> authenticateHead(String httpMethod, Headers headers, Instant now) {
        return let(other.authenticateHead(httpMethod, headers, now));
      }

      @Override
      public boolean stillKnows(Caller earlier, Instant now) {
        return other.stillKnows(earlier, now);
      }

      @Override
      public String challenge() {
        return other.challenge();
      }
    };
  }

  private Optional<Caller> let(Optional<Caller> caller) {
    caller.ifPresent(rule);
    return caller;
  }
}
