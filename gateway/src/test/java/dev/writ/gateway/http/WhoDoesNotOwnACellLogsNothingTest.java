package dev.writ.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.gateway.http.server.Front;
import dev.writ.gateway.http.server.HopKey;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A gateway that is taken for the owner of a cell says that it is not, to the other gateway alone:
 * that asks again and again for each request that waits (spec/cells.md, "Forwarding").
 */
class WhoDoesNotOwnACellLogsNothingTest {
  private final ConcurrentLinkedQueue<String> logged = new ConcurrentLinkedQueue<>();
  private final HttpClient http = HttpClient.newHttpClient();
  private Front front;

  @BeforeEach
  void start() {
    front = TestFront.open(TestFront.oneCell(), finished -> logged.add(finished.code().orElse("")));
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
        TestFront.KEY.sign(
            "GET", "/v1/runs", front.address(), 0, from, InstantSource.system().instant());
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
