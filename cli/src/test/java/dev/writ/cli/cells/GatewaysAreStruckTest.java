package dev.writ.cli.cells;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.postgres.PostgresServer;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three gateways under load, whose owner is killed, paused past its lease and woken, cut off from
 * the database, and ended: no receipt that was acknowledged is lost, no effect outside happens
 * twice, and the log is one history. {@code -Dwrit.cells.rounds=N} for more rounds, {@code
 * -Dwrit.cells.seed=N} for others.
 */
class GatewaysAreStruckTest {
  private static final int ROUNDS = Integer.getInteger("writ.cells.rounds", 4);
  private static final long SEED = Long.getLong("writ.cells.seed", 1);

  /** Each of four clients does so much in a round at least. */
  private static final int EACH = 6;

  private static final int WORK = 4 * EACH;

  /** What happens to the owner. */
  private enum Strike {
    KILL,
    PAUSE,
    CUT,
    END
  }

  @TempDir Path dir;

  /** The longest time without an owner that answers, in milliseconds; for whoever reads it. */
  private final Map<Strike, Long> longest = new TreeMap<>();

  private final List<DatabaseLine> lines = new ArrayList<>();
  private Gateways gateways;
  private Workload workload;

  @Test
  void nothingAcknowledgedIsLostAndNothingHappensTwice() throws Exception {
    PostgresServer server = PostgresServer.shared();
    int port = server.newAddress().getPort();
    for (int i = 0; i < 3; i++) {
      lines.add(new DatabaseLine(port));
    }
    int[] ports = lines.stream().mapToInt(DatabaseLine::port).toArray();
    try (CountingServer outside = new CountingServer(dir.resolve("ca.pem"));
        Gateways made = new Gateways(server, dir, outside, ports);
        Agent signing = new Agent(made)) {
      gateways = made;
      List<URI> urls = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        gateways.start(i);
        urls.add(gateways.url(i));
      }
      Random random = new Random(SEED);
      workload = new Workload(signing, urls, () -> "6*7");
      for (int round = 0; round < ROUNDS; round++) {
        round(Strike.values()[round < 4 ? round : random.nextInt(4)], random.nextLong());
      }
      assertThat(workload.found()).isEmpty();
      assertThat(workload.acknowledged()).isGreaterThanOrEqualTo(ROUNDS * WORK);
      gateways.awaitOwner();
      workload.compare(outside);
      System.out.println(
          ROUNDS
              + " rounds, "
              + workload.acknowledged()
              + " acknowledged, "
              + workload.inDoubt()
              + " of them in doubt, "
              + outside.all().size()
              + " effects outside, epoch "
              + gateways.epoch()
              + ", longest takeovers in ms (lease "
              + Gateways.LEASE_MS
              + "): "
              + longest);
      for (int i = 0; i < 3; i++) {
        gateways.stop(i);
      }
      verify();
    } finally {
      for (DatabaseLine line : lines) {
        line.close();
      }
    }
  }

  private void round(Strike strike, long seed) throws Exception {
    int owner = gateways.awaitOwner();
    workload.begin(EACH, seed);
    gateways.await("half of the work", () -> workload.hasLeft(WORK / 2));
    long struckAt = System.nanoTime();
    switch (strike) {
      case KILL -> {
        gateways.kill(owner);
        taken(strike, owner, struckAt);
        gateways.start(owner);
      }
      case PAUSE -> {
        gateways.signal(owner, "-STOP");
        taken(strike, owner, struckAt);
        gateways.signal(owner, "-CONT");
        gateways.await(
            "it gave the cell up",
            () ->
                gateways.said(owner).lastIndexOf("cell-given-up")
                    > gateways.said(owner).lastIndexOf("cell-owned"));
      }
      case CUT -> {
        lines.get(owner).cut();
        taken(strike, owner, struckAt);
        lines.get(owner).mend();
      }
      case END -> {
        assertThat(gateways.stop(owner)).isEqualTo(143);
        taken(strike, owner, struckAt);
        gateways.start(owner);
      }
    }
    gateways.await("the rest of the work", () -> workload.hasLeft(0));
    workload.end();
  }

  private void taken(Strike strike, int owner, long struckAt) throws IOException {
    gateways.awaitOwnerOtherThan(owner);
    longest.merge(strike, (System.nanoTime() - struckAt) / 1_000_000, Math::max);
  }

  private void verify() throws Exception {
    gateways.done(0, "fsck");
    gateways.done(0, "audit");
    gateways.done(0, "checkpoint");
    String trust = gateways.home(1).resolve("trust.jwks").toString();
    for (String run : List.of("run-0", "run-1")) {
      String bundle = dir.resolve(run + ".writ").toString();
      gateways.done(1, "export", run, "-o", bundle);
      gateways.done(1, "verify", bundle, "--trust", trust);
      assertThat(gateways.done(1, "replay", bundle, "--trust", trust).out()).contains("COMPLETE");
      SecondVerifier.verified(bundle, trust);
    }
  }
}
