package dev.writ.gateway.http.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.gateway.http.message.Headers;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Who has nothing but the provider is not shut out by sessions in browsers that are gone. */
class TheSeventeenthSessionOfAPersonTest {
  private static final Instant START = Instant.parse("2026-11-21T12:00:00Z");

  private final Sessions sessions = new Sessions(new SecureRandom(), false);

  private static Caller ada(String method) {
    return new Caller(method, "https://id.example", "acme", "ada", List.of());
  }

  private Optional<Sessions.Seen> seen(String cookie, long second) {
    return sessions.of(
        Headers.of(List.of(Map.entry("cookie", cookie.substring(0, cookie.indexOf(';'))))),
        START.plusSeconds(second));
  }

  private List<String> sixteen(Caller caller) {
    List<String> cookies = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      cookies.add(sessions.open(caller, START.plusSeconds(i)));
    }
    return cookies;
  }

  @Test
  void theOneThatWasUnusedLongestEndsForIt() {
    List<String> cookies = sixteen(ada(OidcCallers.METHOD));
    String others = sessions.open(ada("bearer"), START);
    assertThat(seen(cookies.getFirst(), 20)).as("it is used").isPresent();
    String next = sessions.open(ada(OidcCallers.METHOD), START.plusSeconds(21));
    assertThatThrownBy(() -> seen(cookies.get(1), 22)).hasMessageContaining("GWY-090");
    assertThat(seen(cookies.getFirst(), 22)).isPresent();
    assertThat(seen(cookies.get(2), 22)).isPresent();
    assertThat(seen(next, 22)).isPresent();
    assertThat(seen(others, 22)).as("one of another credential").isPresent();
    assertThat(sessions.size()).isEqualTo(17);
  }

  @Test
  void whoHasACredentialEndsThemByIt() {
    sixteen(ada("bearer"));
    assertThatThrownBy(() -> sessions.open(ada("bearer"), START.plusSeconds(21)))
        .hasMessageContaining("GWY-093");
  }
}
