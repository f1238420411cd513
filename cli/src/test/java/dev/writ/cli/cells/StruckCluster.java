package dev.writ.cli.cells;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.disk.ScratchDirectory;
import dev.writ.cli.OwnProcess;
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

/** The cluster of {@code deploy/cluster/up}, for tests. */
final class StruckCluster implements AutoCloseable {
  private static final Path TOP = Path.of(System.getProperty("writ.root", ".."));
  private static final Pattern OWNER =
      Pattern.compile("\\n +0 \\| +([0-9]+) \\| 127\\.0\\.0\\.1:([0-9]+) \\| t\\n");

  private final Path place;
  private final Path cluster;
  private final TreeMap<String, String> environment = new TreeMap<>();
  private int base;

  /** Nothing runs yet. */
  StruckCluster() throws IOException {
    place = ScratchDirectory.create("writ-cluster-");
    cluster = place.resolve("c");
  }

  /** Has a folder of this name, or a file, of the test's own. */
  Path file(String name) {
    return place.resolve(name);
  }

  Path home(String gateway) {
    return cluster.resolve(gateway);
  }

  @Override
  public void close() throws IOException {
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

  String strike(String... what) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(TOP.resolve("deploy/cluster/strike").toString(), cluster.toString()));
    command.addAll(List.of(what));
    return ran(command.toArray(String[]::new));
  }

  String writ(String home, String... arguments) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(TOP.resolve("writ").toString(), "--home", cluster.resolve(home).toString()));
    command.addAll(List.of(arguments));
    return ran(command.toArray(String[]::new));
  }

  /** The first of the ports that a cluster takes, none of which is in use. */
  private static int freePorts() {
    // Another test looks for ports at the same moment, and starts elsewhere.
    int first = 21_000 + (int) (ProcessHandle.current().pid() % 90) * 100;
    while (!IntStream.range(first, first + 40).allMatch(StruckCluster::isFree)) {
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
  void up(CountingServer outside, String... options) throws IOException {
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
    environment.put("WRIT_JAVA_OPTS", OwnProcess.COMPILER);
    Path said = place.resolve("up.txt");
    List<String> command =
        new ArrayList<>(
            List.of(
                TOP.resolve("deploy/cluster/up").toString(),
                cluster.toString(),
                "--port",
                String.valueOf(base)));
    command.addAll(List.of(options));
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile());
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
    int status = up.onExit().join().exitValue();
    assertThat(status).as(Files.readString(said) + (status == 0 ? "" : logs())).isZero();
  }

  /** The last of what each gateway said. */
  private String logs() throws IOException {
    StringBuilder logs = new StringBuilder();
    for (String gateway : List.of("gw1", "gw2", "gw3")) {
      Path log = cluster.resolve("log/" + gateway);
      String all = Files.exists(log) ? Files.readString(log) : "";
      logs.append("\n-- ").append(gateway).append("\n");
      logs.append(all.substring(Math.max(0, all.length() - 2_000)));
    }
    return logs.toString();
  }

  static void await(String what, Gateways.Condition condition) throws IOException {
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
  String owner() throws IOException {
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

  String primary() throws IOException {
    return strike("show").replaceFirst("(?s).*primary: (db[123])\n.*", "$1");
  }

  /** The databases that are not the primary. */
  List<String> standbys() throws IOException {
    List<String> all = new ArrayList<>(List.of("db1", "db2", "db3"));
    all.remove(primary());
    return all;
  }

  String standby(Random random) throws IOException {
    return standbys().get(random.nextInt(2));
  }

  URI url(int gateway) {
    return URI.create("http://127.0.0.1:" + (base + 10 * gateway + 5));
  }

  /** How often a line of a gateway to a database lost the answer to a COMMIT. */
  int lostAnswers(String gateway) throws IOException {
    int lost = 0;
    for (int database = 1; database <= 3; database++) {
      Path said = cluster.resolve("log/" + gateway + "-db" + database);
      lost += (int) Files.readAllLines(said).stream().filter(l -> l.endsWith("was lost")).count();
    }
    return lost;
  }

  /** All of it is audited, and two runs are verified by both verifiers, and replayed. */
  void verify(String runs) throws Exception {
    writ("gw1", "audit");
    writ("gw1", "checkpoint");
    String trust = home("gw2").resolve("trust.jwks").toString();
    for (String run : List.of(runs + "0", runs + "1")) {
      String bundle = file(run + ".writ").toString();
      writ("gw2", "export", run, "-o", bundle);
      writ("gw2", "verify", bundle, "--trust", trust);
      assertThat(writ("gw2", "replay", bundle, "--trust", trust)).contains("COMPLETE");
      SecondVerifier.verified(bundle, trust);
    }
  }

  /** Ends all gateways, and looks at every row of what they leave. */
  void endGateways() throws IOException {
    for (String gateway : List.of("gw1", "gw2", "gw3")) {
      strike("end", gateway);
    }
    writ("gw1", "fsck");
    writ("gw1", "audit");
  }
}
