package dev.writ.gateway.witness;

import dev.writ.gateway.http.Listen;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.http.server.GatewayServer;
import dev.writ.ledger.witness.AddCheckpoint;
import dev.writ.ledger.witness.Witness;
import dev.writ.ledger.witness.WitnessAnswer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.function.Consumer;

/** Serves a {@link Witness}: the calls of C2SP tlog-witness, within the limits of any server. */
public final class WitnessServer {
  private WitnessServer() {}

  /**
   * Starts it.
   *
   * @param failures gets unexpected exceptions; clients see nothing of them
   * @throws dev.writ.canonicalize.WritException {@code GWY-004}
   */
  public static GatewayServer start(
      Listen listen,
      Witness witness,
      Consumer<Throwable> failures,
      InstantSource clock,
      SecureRandom random) {
    return GatewayServer.start(
        new GatewayServer.Config(
            listen,
            HttpLimits.DEFAULT,
            List.of(new Calls(witness)),
            List.of(),
            GatewayServer.places(HttpLimits.DEFAULT),
            _ -> {},
            (_, e) -> failures.accept(e),
            clock,
            random));
  }

  private record Calls(Witness witness) implements Surface {
    @Override
    public String name() {
      return "witness";
    }

    @Override
    public List<Route> routes() {
      return List.of(
          Route.post(
              "/add-checkpoint",
              Route.Access.PUBLIC,
              AddCheckpoint.BYTES_MAX,
              call -> http(witness.add(call.body(), call.receivedAt()))),
          Route.get(
              "/{hash}/checkpoint",
              Route.Access.PUBLIC,
              call -> http(witness.latest(call.value("hash")))));
    }

    private static HttpAnswer http(WitnessAnswer answer) {
      return HttpAnswer.of(
          answer.status(), answer.type(), answer.text().getBytes(StandardCharsets.UTF_8));
    }
  }
}
