package dev.writ.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.executor.TenantElsewhere;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.http.server.CellChoice;
import dev.writ.gateway.http.server.Front;
import dev.writ.gateway.http.server.GatewayServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A gateway sends a tenant's request where it has seen that the tenant is, and that cell has seen
 * another one: a client that repeats finds it a moment later (spec/cells.md, "Moving").
 */
class TheCellOfATenantIsBeingLearntTest {
  private static final int CELLS = 8;
  private static final Tokens TOKENS =
      new Tokens(List.of(token("writ_2", "t2"), token("writ_3", "t3")));

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final CellChoice choice = TestFront.cells(CELLS, TOKENS);
  private final List<GatewayServer> servers = new ArrayList<>();
  private Front front;

  /** Every cell is here; what is asked is the work of the tenant that the path names. */
  private final class Elsewhere implements Surface {
    @Override
    public String name() {
      return "v1";
    }

    private HttpAnswer refused(String tenant) {
      throw new TenantElsewhere(tenant, 5, 3);
    }

    @Override
    public List<Route> routes() {
      return List.of(
          Route.get("/of/{tenant}", Route.Access.CALLER, call -> refused(call.value("tenant"))),
          Route.post("/v1/effects", Route.Access.DOCUMENT, 4096, _ -> refused("t2")));
    }
  }

  private static Tokens.Entry token(String token, String tenant) {
    return new Tokens.Entry(token, Tokens.digest(token), tenant, "ci", List.of(), Optional.empty());
  }

  @BeforeEach
  void start() {
    front = TestFront.open(choice);
    for (int cell = 0; cell < CELLS; cell++) {
      servers.add(
          GatewayServer.start(
              new GatewayServer.Config(
                  Listen.loopback(0),
                  HttpLimits.DEFAULT,
                  List.of(new Elsewhere()),
                  List.of(TOKENS),
                  GatewayServer.places(HttpLimits.DEFAULT),
                  _ -> {},
                  (_, _) -> {},
                  InstantSource.system(),
                  new SecureRandom()),
              Optional.of(front.cell(cell))));
    }
  }

  @AfterEach
  void stop() {
    http.shutdownNow();
    servers.forEach(GatewayServer::close);
    front.close();
  }

  private HttpResponse<String> ask(String method, String path, String... headers) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + front.port() + path))
            .method(method, HttpRequest.BodyPublishers.ofString(method.equals("GET") ? "" : "{}"));
    return http.send(
        headers.length == 0 ? request.build() : request.headers(headers).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private static void isToBeRepeated(HttpResponse<String> answer) {
    assertThat(answer.statusCode()).isEqualTo(503);
    assertThat(answer.headers().firstValue("Retry-After")).hasValue("1");
    assertThat(answer.body()).contains("EXE-967", "the tenant t2 is in cell 5, this is cell 3");
  }

  private static void isFinal(HttpResponse<String> answer) {
    assertThat(answer.statusCode()).isEqualTo(421);
    assertThat(answer.body()).contains("EXE-990");
  }

  @Test
  void aRequestThatWentWhereItsTenantIsIsToBeRepeated() throws Exception {
    isToBeRepeated(ask("GET", "/of/t2", "Authorization", "Bearer writ_2"));
    isToBeRepeated(ask("POST", "/v1/effects", "Authorization", "Bearer writ_2"));
    isToBeRepeated(ask("POST", "/v1/effects"));
  }

  @Test
  void whoNamedTheWrongCellOrHasACredentialOfAnotherTenantIsToldSo() throws Exception {
    isFinal(ask("GET", "/of/t2", "Authorization", "Bearer writ_2", "Writ-Cell", "3"));
    isFinal(ask("GET", "/of/t2", "Authorization", "Bearer writ_3"));
    isFinal(ask("POST", "/v1/effects", "Authorization", "Bearer writ_3"));
    isFinal(ask("POST", "/v1/effects", "Cookie", "writ-session=3.abc"));
  }
}
