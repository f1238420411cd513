package dev.writ.cli.cells;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * The cluster of {@code deploy/cluster/up --patroni}: the primary is killed under load, and nobody
 * but Patroni promotes a standby. {@code -Dwrit.cluster.patroni=N} kills so many one after another.
 */
class PatroniReplacesThePrimaryTest {
  private static final int KILLS = Integer.getInteger("writ.cluster.patroni", 1);
  private static final int EACH = 5;
  private static final int WORK = 4 * EACH;

  @Test
  void nothingAcknowledgedIsLostAndNothingHappensTwice() throws Exception {
    try (StruckCluster cluster = new StruckCluster();
        CountingServer outside = new CountingServer(cluster.file("ca.pem"))) {
      cluster.up(outside, "--patroni");
      try (Agent agent = new Agent(cluster.home("gw1"))) {
        Workload workload =
            new Workload(
                agent, List.of(cluster.url(1), cluster.url(2), cluster.url(3)), () -> "6*7");
        Random random = new Random(1);
        for (int kill = 0; kill < KILLS; kill++) {
          workload.begin(EACH, random.nextLong());
          StruckCluster.await("half of the work", () -> workload.hasLeft(WORK / 2));
          String former = cluster.primary();
          cluster.strike("kill", former);
          StruckCluster.await("the rest of the work", () -> workload.hasLeft(0));
          workload.end();
          assertThat(workload.found()).isEmpty();
          assertThat(cluster.primary()).startsWith("db").isNotEqualTo(former);
          cluster.strike("start", former);
        }
        assertThat(workload.acknowledged()).isGreaterThanOrEqualTo(KILLS * WORK);
        cluster.owner();
        workload.compare(outside);
        System.out.println(
            KILLS
                + " primaries replaced by Patroni, "
                + workload.acknowledged()
                + " acknowledged, "
                + workload.inDoubt()
                + " of them in doubt, "
                + outside.all().size()
                + " effects outside");
      }
      cluster.verify("run-");
      cluster.endGateways();
    }
  }
}
