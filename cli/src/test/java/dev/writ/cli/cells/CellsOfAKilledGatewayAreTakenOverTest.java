package dev.writ.cli.cells;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.postgres.PostgresServer;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The owner of several cells is killed: the others take all of them over and share them equally.
 * {@code -Dwrit.takeovers=N} kills so many owners one after another; what is printed is the time
 * from the kill until a request for each of the cells is answered.
 */
class CellsOfAKilledGatewayAreTakenOverTest {
  private static final PostgresServer SERVER = PostgresServer.shared();
  private static final int KILLS = Integer.getInteger("writ.takeovers", 1);
  private static final int CELLS = 8;

  @TempDir Path dir;

  @Test
  void eachOfThemAnswersAgain() throws Exception {
    int port = SERVER.newAddress().getPort();
    try (CountingServer outside = new CountingServer(dir.resolve("ca.pem"));
        Gateways gateways =
            new Gateways(SERVER, dir, outside, CELLS, new Gateways.Ports(port, port, port))) {
      for (int gateway = 0; gateway < 3; gateway++) {
        gateways.start(gateway);
      }
      List<Long> all = new ArrayList<>();
      List<Long> last = new ArrayList<>();
      for (int kill = 0; kill < KILLS; kill++) {
        gateways.awaitShares(0, 1, 2);
        int killed = mostOf(gateways.owners());
        List<Long> took = killed(gateways, killed);
        all.addAll(took);
        last.add(Collections.max(took));
        gateways.awaitShares((killed + 1) % 3, (killed + 2) % 3);
        gateways.start(killed);
      }
      Collections.sort(all);
      Collections.sort(last);
      System.out.println(
          KILLS
              + " kills, lease "
              + Gateways.LEASE_MS
              + " ms; until a cell answered, in ms: median "
              + all.get(all.size() / 2)
              + ", all "
              + all
              + "; until the last of a gateway's did: "
              + last);
      gateways.awaitShares(0, 1, 2);
      oneThatIsGivenBackIsSaid(gateways);
    }
  }

  /** The gateway that started last got its cells from the others, which go on. */
  private static void oneThatIsGivenBackIsSaid(Gateways gateways) throws IOException {
    String said = gateways.said(0) + gateways.said(1) + gateways.said(2);
    assertThat(said)
        .containsPattern("\"detail\":\"cell [0-7], shared\"[^\\n]*\"event\":\"cell-given-up\"")
        .containsPattern(
            "\"detail\":\"cell [0-7], everything at work was"
                + " finished\"[^\\n]*\"event\":\"cell-closed\"")
        .as("no gateway has ended but by a kill")
        .doesNotContain("\"draining\"", "\"stopped\"");
    assertThat(gateways.stop(0)).isEqualTo(143);
    assertThat(gateways.said(0)).containsOnlyOnce("\"draining\"").containsOnlyOnce("\"stopped\"");
  }

  private static int mostOf(List<Integer> owners) {
    return Collections.max(
        List.of(0, 1, 2),
        (a, b) ->
            Integer.compare(Collections.frequency(owners, a), Collections.frequency(owners, b)));
  }

  /** How long each of its cells had no answer, in milliseconds. */
  private static List<Long> killed(Gateways gateways, int killed) throws Exception {
    List<Integer> owners = gateways.owners();
    List<Integer> lost =
        IntStream.range(0, CELLS).filter(cell -> owners.get(cell) == killed).boxed().toList();
    assertThat(lost).hasSizeGreaterThan(1);
    int other = (killed + 1) % 3;
    String bearer = "Bearer " + gateways.token(other);
    URI cells = gateways.url(other).resolve("/v1/cells");
    ConcurrentLinkedQueue<Long> took = new ConcurrentLinkedQueue<>();
    long begun = System.nanoTime();
    gateways.kill(killed);
    List<Thread> asking = new ArrayList<>();
    for (int cell : lost) {
      asking.add(
          Thread.ofVirtual()
              .start(() -> {
                if (isAnswered(gateways, cells, bearer, cell)) {
                  took.add((System.nanoTime() - begun) / 1_000_000);
                }
              }));
    }
    for (Thread each : asking) {
      each.join();
    }
    assertThat(took).hasSameSizeAs(lost);
    return List.copyOf(took);
  }

  private static boolean isAnswered(Gateways gateways, URI cells, String bearer, int cell) {
    for (int attempt = 0; attempt < 100; attempt++) {
      try {
        String answer =
            gateways.ask(cells, "Authorization", bearer, "Writ-Cell", String.valueOf(cell));
        if (answer.startsWith("200 ")) {
          return true;
        }
      } catch (IOException e) {
        return false;
      }
    }
    return false;
  }
}
