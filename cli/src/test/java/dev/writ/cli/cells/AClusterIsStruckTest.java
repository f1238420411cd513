package dev.writ.cli.cells;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.disk.ScratchDirectory;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The cluster of {@code deploy/cluster/up} under load: three gateways, PostgreSQL with two
 * synchronous standbys, an object store. In each round one thing happens to it; then it is mended.
 * {@code -Dwrit.cluster.rounds=N} for more rounds, {@code -Dwrit.cluster.seed=N} for others.
 */
class AClusterIsStruckTest {
  private static final int ROUNDS = Integer.getInteger("writ.cluster.rounds", 2);
  private static final long SEED = Long.getLong("writ.cluster.seed", 1);
  private static final int EACH = 5;
  private static final int WORK = 4 * EACH;
  private static final Path TOP = Path.of(System.getProperty("writ.root", ".."));
  private static final Pattern OWNER =
      Pattern.compile("\\n +0 \\| +([0-9]+) \\| 127\\.0\\.0\\.1:([0-9]+) \\| t\\n");

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
    STANDBY_KILLED
  }

  private Path place;
  private Path cluster;
  private final TreeMap<String, String> environment = new TreeMap<>();
  private int base;

  @BeforeEach
  void make() throws IOException {
    place = ScratchDirectory.create("writ-cluster-");
    cluster = place.resolve("c");
  }

  @AfterEach
  void remove() throws IOException {
    if (Files.exists(cluster)) {
      ran(TOP.resolve("deploy/cluster/down").toString(), cluster.toString());
    }
    DurableFiles.deleteTree(place);
  }

  /** What a program printed; it has to succeed. */
  private String ran(String... command) throws IOException {
    Path said = Files.createTempFile(place, "said", ".txt");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile());
    builder.environment().putAll(environment);
    int status = builder.start().onExit().join().exitValue();
    String text = Files.readString(said);
    assertThat(status).as(String.join(" ", command) + "\n" + text).isZero();
    return text;
  }

  private String strike(String... what) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(TOP.resolve("deploy/cluster/strike").toString(), cluster.toString()));
    command.addAll(List.of(what));
    return ran(command.toArray(String[]::new));
  }

  private String writ(String home, String... arguments) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(TOP.resolve("writ").toString(), "--home", cluster.resolve(home).toString()));
    command.addAll(List.of(arguments));
    return ran(command.toArray(String[]::new));
  }

  /** The first of the ports that a cluster takes, none of which is in use. */
  private static int freePorts() {
    int first = 21_000;
    while (!IntStream.range(first, first + 40).allMatch(AClusterIsStruckTest::isFree)) {
      first += 100;
    }
    return first;
  }

  private static boolean isFree(int port) {
    try (ServerSocket _ = new ServerSocket(port)) {
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Makes the cluster; its first home gets a tool before the others join it. */
  private void up(CountingServer outside) throws IOException {
    Files.setPosixFilePermissions(place, PosixFilePermissions.fromString("rwx--x--x"));
    base = freePorts();
    Path asked = place.resolve("asked");
    Path prepared = place.resolve("prepared");
    Path prepare =
        Files.writeString(
            place.resolve("prepare"),
            """
            #!/bin/sh
            touch ASKED
            until [ -e PREPARED ]; do sleep 0.1; done
            """
                .replace("ASKED", asked.toString())
                .replace("PREPARED", prepared.toString()));
    Files.setPosixFilePermissions(prepare, PosixFilePermissions.fromString("rwx------"));
    environment.put("WRIT_CLUSTER_PREPARE", prepare.toString());
    environment.put("WRIT_EGRESS_CA", place.resolve("ca.pem").toString());
    environment.put("WRIT_EGRESS_PRIVATE", outside.place());
    environment.put("WRIT_WARM_UP_S", "0");
    Path said = place.resolve("up.txt");
    ProcessBuilder builder =
        new ProcessBuilder(
                TOP.resolve("deploy/cluster/up").toString(),
                cluster.toString(),
                "--port",
                String.valueOf(base))
            .redirectErrorStream(true)
            .redirectOutput(said.toFile());
    builder.environment().putAll(environment);
    Process up = builder.start();
    await("the first home", () -> Files.exists(asked) || !up.isAlive());
    for (String line : Files.readAllLines(cluster.resolve("cluster.env"))) {
      String[] parts = line.replace("export ", "").split("=", 2);
      environment.put(parts[0], parts[1]);
    }
    new OutsideTool(place, outside)
        .register("principals:\n", cluster.resolve("gw1"), arguments -> writ("gw1", arguments));
    Files.createFile(prepared);
    assertThat(up.onExit().join().exitValue()).as(Files.readString(said)).isZero();
  }

  private static void await(String what, Gateways.Condition condition) throws IOException {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(5);
    while (!condition.holds()) {
      if (System.nanoTime() > end) {
        throw new IOException("not within five minutes: " + what);
      }
      try {
        Thread.sleep(50);
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }
  }

  /** The gateway that owns the cell. */
  private String owner() throws IOException {
    String[] found = {""};
    await(
        "an owner",
        () -> {
          Matcher row = OWNER.matcher(strike("show"));
          if (row.find()) {
            found[0] = "gw" + (Integer.parseInt(row.group(2)) - base) / 10;
          }
          return !found[0].isEmpty();
        });
    return found[0];
  }

  private String primary() throws IOException {
    return strike("show").replaceFirst("(?s).*primary: (db[123])\n.*", "$1");
  }

  private String standby(Random random) throws IOException {
    List<String> all = new ArrayList<>(List.of("db1", "db2", "db3"));
    all.remove(primary());
    return all.get(random.nextInt(2));
  }

  private URI url(int gateway) {
    return URI.create("http://127.0.0.1:" + (base + 10 * gateway + 5));
  }

  @Test
  void nothingAcknowledgedIsLostAndNothingHappensTwice() throws Exception {
    try (CountingServer outside = new CountingServer(place.resolve("ca.pem"))) {
      up(outside);
      try (Agent agent = new Agent(cluster.resolve("gw1"))) {
        Random random = new Random(SEED);
        // The contents of every third effect lie in the object store.
        Workload workload =
            new Workload(
                agent,
                List.of(url(1), url(2), url(3)),
                () -> "'" + "x".repeat(10) + "'.repeat(" + (7_000 + random.nextInt(1000)) + ")");
        TreeMap<Strike, Integer> rounds = new TreeMap<>();
        for (int round = 0; round < ROUNDS; round++) {
          Strike strike =
              Strike.values()[
                  round < Strike.values().length ? round : random.nextInt(Strike.values().length)];
          rounds.merge(strike, 1, Integer::sum);
          workload.begin(EACH, random.nextLong());
          await("half of the work", () -> workload.hasLeft(WORK / 2));
          Mend mend = strike(strike, random);
          await("a quarter of the work", () -> workload.hasLeft(WORK / 4));
          mend.run();
          await("the rest of the work", () -> workload.hasLeft(0));
          workload.end();
          assertThat(workload.found()).as(strike + ", round " + round).isEmpty();
        }
        assertThat(workload.acknowledged()).isGreaterThanOrEqualTo(ROUNDS * WORK);
        owner();
        workload.compare(outside);
        System.out.println(
            rounds
                + ", "
                + workload.acknowledged()
                + " acknowledged, "
                + workload.inDoubt()
                + " of them in doubt, "
                + outside.all().size()
                + " effects outside");
      }
      for (String gateway : List.of("gw1", "gw2", "gw3")) {
        strike("end", gateway);
      }
      verify();
    }
  }

  @FunctionalInterface
  private interface Mend {
    void run() throws IOException;
  }

  /** Does it, and gives what takes it back. */
  private Mend strike(Strike strike, Random random) throws IOException {
    String owner = owner();
    return switch (strike) {
      case FAILOVER -> {
        String former = primary();
        strike("failover");
        yield () -> strike("start", former);
      }
      case STORE_STANDS_STILL -> {
        strike("pause", "s3");
        yield () -> strike("resume", "s3");
      }
      case OWNER_STANDS_STILL -> {
        strike("pause", owner);
        yield () -> strike("resume", owner);
      }
      case OWNER_KILLED -> {
        strike("kill", owner);
        yield () -> strike("start", owner);
      }
      case OWNER_ENDS -> {
        strike("end", owner);
        yield () -> strike("start", owner);
      }
      case OWNER_CUT_FROM_DATABASE -> cut(owner, "db");
      case OWNER_CUT_FROM_STORE -> cut(owner, "s3");
      case OWNER_CUT_FROM_PEERS -> cut(owner, "peers");
      case STANDBY_STANDS_STILL -> {
        String standby = standby(random);
        strike("pause", standby);
        yield () -> strike("resume", standby);
      }
      case STANDBY_KILLED -> {
        String standby = standby(random);
        strike("kill", standby);
        yield () -> strike("start", standby);
      }
    };
  }

  private Mend cut(String gateway, String what) throws IOException {
    strike("cut", gateway, what);
    return () -> strike("mend", gateway, what);
  }

  private void verify() throws Exception {
    writ("gw1", "fsck");
    writ("gw1", "audit");
    writ("gw1", "checkpoint");
    String trust = cluster.resolve("gw2/trust.jwks").toString();
    for (String run : List.of("run-0", "run-1")) {
      String bundle = place.resolve(run + ".writ").toString();
      writ("gw2", "export", run, "-o", bundle);
      writ("gw2", "verify", bundle, "--trust", trust);
      assertThat(writ("gw2", "replay", bundle, "--trust", trust)).contains("COMPLETE");
      SecondVerifier.verified(bundle, trust);
    }
  }
}
