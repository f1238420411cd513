package dev.writ.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.gateway.http.auth.Certificates;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.http.server.CellChoice;
import dev.writ.gateway.http.server.Front;
import dev.writ.gateway.http.server.HopKey;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A gateway that is taken for the owner of a cell says that it is not, to the other gateway alone:
 * that asks again and again for each request that waits (spec/cells.md, "Forwarding").
 */
class WhoDoesNotOwnACellLogsNothingTest {
  private final HopKey key = new HopKey(new byte[32]);
  private final ConcurrentLinkedQueue<String> logged = new ConcurrentLinkedQueue<>();
  private final HttpClient http = HttpClient.newHttpClient();
  private Front front;

  @BeforeEach
  void start() {
    front =
        Front.open(
            new Front.Config(
                Listen.loopback(0),
                HttpLimits.DEFAULT,
                List.of(),
                List.of(),
                List.of(),
                new HopSettings(
                    "127.0.0.1", 0, Optional.empty(), Optional.empty(), Duration.ofSeconds(90)),
                key,
                new CellChoice(
                    1,
                    "local",
                    Optional.empty(),
                    new Tokens(List.of()),
                    new Certificates(List.of())),
                0,
                finished -> logged.add(finished.code().orElse("")),
                (_, _) -> {},
                InstantSource.system(),
                new SecureRandom()));
  }

  @AfterEach
  void stop() {
    front.close();
    http.shutdownNow();
  }

  private HttpResponse<String> ask(String said) throws Exception {
    return http.send(
        HttpRequest.newBuilder(URI.create("http://" + front.address() + "/v1/runs"))
            .header(HopKey.HEADER, said)
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void aGatewayIsTold() throws Exception {
    Client from = new Client("192.0.2.7", List.of(), new Client.LetIn());
    String said =
        key.sign("GET", "/v1/runs", front.address(), 0, from, InstantSource.system().instant());
    HttpResponse<String> told = ask(said);
    assertThat(told.statusCode()).isEqualTo(503);
    assertThat(told.headers().firstValue(Front.NOT_OWNER)).hasValue("0");
    assertThat(told.body()).contains("GWY-192");
    assertThat(logged).isEmpty();
  }

  @Test
  void whoIsNoGatewayIsLogged() throws Exception {
    assertThat(ask("somebody").body()).contains("GWY-193");
    assertThat(logged).containsExactly("GWY-193");
  }
}
