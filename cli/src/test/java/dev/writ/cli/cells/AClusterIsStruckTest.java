package dev.writ.cli.cells;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The cluster of {@code deploy/cluster/up} under load: three gateways, PostgreSQL with two
 * synchronous standbys, an object store. In each round one thing happens to it; then it is mended.
 * After every tenth round, and at the end, all of it is audited, and the runs of these rounds are
 * verified. {@code -Dwrit.cluster.rounds=N} for more rounds, {@code -Dwrit.cluster.seed=N} for
 * others, {@code -Dwrit.cluster.strikes=PATTERN} for those of such a name.
 */
class AClusterIsStruckTest {
  private static final int ROUNDS = Integer.getInteger("writ.cluster.rounds", 2);
  private static final long SEED = Long.getLong("writ.cluster.seed", 1);
  private static final String STRIKES = System.getProperty("writ.cluster.strikes", ".*");
  private static final int EACH = 5;
  private static final int WORK = 4 * EACH;
  private static final int VERIFIED_EVERY = 10;

  /** Of a strike that lets nothing succeed: so many answers that do not stay, and it is mended. */
  private static final int ENOUGH_TRIES = 40;

  private static final int ANSWERS_LOST = 3;

  /** What happens in a round; the first ones happen in each run. */
  private enum Strike {
    FAILOVER,
    STORE_STANDS_STILL,
    OWNER_STANDS_STILL,
    OWNER_KILLED,
    OWNER_ENDS,
    OWNER_CUT_FROM_DATABASE,
    OWNER_CUT_FROM_STORE,
    OWNER_CUT_FROM_PEERS,
    STANDBY_STANDS_STILL,
    STANDBY_KILLED,
    ANSWERS_TO_COMMITS_LOST,
    STANDBYS_LAG_AND_ONE_IS_PROMOTED,
    DISK_OF_DATABASE_FULL,
    DISK_OF_OWNER_FULL,
    DISK_OF_STORE_FULL,
    CLOCK_OF_GATEWAY_AHEAD,
    CLOCK_OF_GATEWAY_BACK,
    CLOCK_OF_DATABASE_AHEAD,
    CLOCK_OF_DATABASE_BACK
  }

  private static final List<Strike> CHOSEN =
      List.of(Strike.values()).stream().filter(strike -> strike.name().matches(STRIKES)).toList();

  private StruckCluster cluster;
  private Workload workload;
  private final TreeMap<Strike, Integer> rounds = new TreeMap<>();

  @BeforeEach
  void make() throws IOException {
    cluster = new StruckCluster();
  }

  @AfterEach
  void remove() throws IOException {
    cluster.close();
  }

  @Test
  void nothingAcknowledgedIsLostAndNothingHappensTwice() throws Exception {
    try (CountingServer outside = new CountingServer(cluster.file("ca.pem"))) {
      cluster.up(outside, options());
      try (Agent agent = new Agent(cluster.home("gw1"))) {
        Random random = new Random(SEED);
        // The contents of every third effect lie in the object store.
        workload =
            new Workload(
                agent,
                List.of(cluster.url(1), cluster.url(2), cluster.url(3)),
                () -> "'" + "x".repeat(10) + "'.repeat(" + (7_000 + random.nextInt(1000)) + ")");
        for (int round = 0; round < ROUNDS; round++) {
          if (round % VERIFIED_EVERY == 0) {
            workload.goOnIn("run-" + round / VERIFIED_EVERY + "-");
          }
          round(round, random);
          if ((round + 1) % VERIFIED_EVERY == 0 || round == ROUNDS - 1) {
            cluster.owner();
            workload.compareNew(outside);
            cluster.verify("run-" + round / VERIFIED_EVERY + "-");
            System.out.println(soFar(outside));
          }
        }
        workload.compare(outside);
        assertThat(workload.acknowledged()).isGreaterThanOrEqualTo(ROUNDS * WORK);
      }
      cluster.endGateways();
    }
  }

  /** What the cluster has to have for the strikes that come. */
  private static String[] options() {
    List<Strike> coming = CHOSEN.subList(0, Math.min(ROUNDS, CHOSEN.size()));
    List<String> options = new ArrayList<>();
    if (coming.stream().anyMatch(strike -> strike.name().startsWith("DISK"))) {
      options.add("--bounded");
    }
    if (coming.stream().anyMatch(strike -> strike.name().startsWith("CLOCK"))) {
      options.add("--clocks");
    }
    return options.toArray(String[]::new);
  }

  private String soFar(CountingServer outside) {
    return rounds
        + ", "
        + workload.acknowledged()
        + " acknowledged, "
        + workload.inDoubt()
        + " of them in doubt, "
        + outside.all().size()
        + " effects outside";
  }

  private void round(int round, Random random) throws Exception {
    Strike strike = CHOSEN.get(round < CHOSEN.size() ? round : random.nextInt(CHOSEN.size()));
    rounds.merge(strike, 1, Integer::sum);
    workload.begin(EACH, random.nextLong());
    StruckCluster.await("half of the work", () -> workload.hasLeft(WORK / 2));
    int tries = workload.tries();
    Mend mend = strike(strike, random);
    StruckCluster.await(
        "a quarter of the work, or that it does not go on",
        () -> workload.hasLeft(WORK / 4) || workload.tries() > tries + ENOUGH_TRIES);
    mend.run();
    StruckCluster.await("the rest of the work", () -> workload.hasLeft(0));
    workload.end();
    assertThat(workload.found()).as(strike + ", round " + round).isEmpty();
  }

  @FunctionalInterface
  private interface Mend {
    void run() throws IOException;
  }

  /** Does it, and gives what takes it back. */
  private Mend strike(Strike strike, Random random) throws IOException {
    String owner = cluster.owner();
    return switch (strike) {
      case FAILOVER -> {
        String former = cluster.primary();
        cluster.strike("failover");
        yield () -> cluster.strike("start", former);
      }
      case STORE_STANDS_STILL -> between("pause", "resume", "s3");
      case OWNER_STANDS_STILL -> between("pause", "resume", owner);
      case OWNER_KILLED -> between("kill", "start", owner);
      case OWNER_ENDS -> between("end", "start", owner);
      case OWNER_CUT_FROM_DATABASE -> between("cut", "mend", owner, "db");
      case OWNER_CUT_FROM_STORE -> between("cut", "mend", owner, "s3");
      case OWNER_CUT_FROM_PEERS -> between("cut", "mend", owner, "peers");
      case STANDBY_STANDS_STILL -> between("pause", "resume", cluster.standby(random));
      case STANDBY_KILLED -> between("kill", "start", cluster.standby(random));
      case ANSWERS_TO_COMMITS_LOST -> {
        for (int lost = 0; lost < ANSWERS_LOST; lost++) {
          int before = cluster.lostAnswers(owner);
          cluster.strike("drop", owner);
          StruckCluster.await(
              "a COMMIT", () -> cluster.lostAnswers(owner) > before || workload.hasLeft(0));
        }
        yield () -> {};
      }
      case STANDBYS_LAG_AND_ONE_IS_PROMOTED -> {
        String former = cluster.primary();
        for (String standby : cluster.standbys()) {
          cluster.strike("lag", standby);
        }
        yield () -> {
          cluster.strike("failover");
          for (String standby : cluster.standbys()) {
            if (!standby.equals(former)) {
              cluster.strike("catchup", standby);
            }
          }
          cluster.strike("start", former);
        };
      }
      case DISK_OF_DATABASE_FULL -> between("fill", "free", cluster.primary());
      case DISK_OF_OWNER_FULL -> between("fill", "free", owner);
      case DISK_OF_STORE_FULL -> between("fill", "free", "s3");
      case CLOCK_OF_GATEWAY_AHEAD -> leap(gateway(random), 100 + random.nextInt(300));
      case CLOCK_OF_GATEWAY_BACK -> leap(gateway(random), -1 - random.nextInt(30));
      case CLOCK_OF_DATABASE_AHEAD -> leap(cluster.primary(), 1 + random.nextInt(300));
      case CLOCK_OF_DATABASE_BACK -> leap(cluster.primary(), -1 - random.nextInt(30));
    };
  }

  private static String gateway(Random random) {
    return "gw" + (1 + random.nextInt(3));
  }

  private Mend between(String strike, String mend, String name, String... more) throws IOException {
    List<String> what = new ArrayList<>(List.of(name));
    what.addAll(List.of(more));
    cluster.strike(with(strike, what));
    return () -> cluster.strike(with(mend, what));
  }

  private static String[] with(String first, List<String> others) {
    List<String> all = new ArrayList<>(List.of(first));
    all.addAll(others);
    return all.toArray(String[]::new);
  }

  private Mend leap(String name, int days) throws IOException {
    cluster.strike("clock", name, String.format("%+d", days * 86_400));
    return () -> cluster.strike("clock", name, "+0");
  }
}
