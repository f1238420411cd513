package dev.writ.gateway;

import dev.writ.executor.Kernel;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.auth.AccessAuthentication;
import dev.writ.gateway.http.auth.Authenticator;
import dev.writ.gateway.http.auth.Certificates;
import dev.writ.gateway.http.auth.OidcCallers;
import dev.writ.gateway.http.auth.SessionAuthentication;
import dev.writ.gateway.http.auth.Sessions;
import dev.writ.gateway.http.auth.Tokens;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Who may call a server: holders of tokens and of certificates, people of a provider, holders of
 * keys that policy trusts, and people who have signed in by a browser.
 *
 * @param sessions of people who sign in by a browser; absent where there is no console
 * @param cell who may call, where the kernel's log is one of several cells
 */
record GatewayCallers(Kernel kernel, Optional<Sessions> sessions, Optional<CellDoor> cell) {
  /** As a configuration has them, in the order in which they are asked. */
  List<Authenticator> authenticators(GatewayConfig config) {
    String audience = cell.map(CellDoor::installation).orElseGet(() -> kernel.ledger().origin());
    List<Authenticator> all =
        new ArrayList<>(
            List.of(
                new Tokens(config.tokens()),
                new OidcCallers(config.extras().oidc()),
                AccessAuthentication.authenticator(() -> kernel.system().trust(), audience)));
    sessions.ifPresent(open ->
        all.add(
            new SessionAuthentication(
                open, List.copyOf(all), new Certificates(config.extras().certificates()))));
    return cell.map(door -> all.stream().map(door::guarding).toList()).orElse(all);
  }
}
