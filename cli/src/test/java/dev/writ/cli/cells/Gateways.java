package dev.writ.cli.cells;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.OwnProcess;
import dev.writ.cli.Run;
import dev.writ.postgres.PostgresServer;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Several gateways, each a process with a home of its own, over the ledgers of one installation.
 */
final class Gateways implements AutoCloseable {
  static final int LEASE_MS = 2000;
  private static final String CELLS = "SELECT epoch, address FROM writ.lease WHERE cell = ";
  private static final AtomicInteger SCHEMAS = new AtomicInteger();

  private final PostgresServer server;
  private final Map<String, String> credentials;
  private final Path dir;
  private final String cell;
  private final int cells;
  private final String schema;
  private final CountingServer outside;
  private final List<Integer> ports = new ArrayList<>();
  private final List<Integer> hops = new ArrayList<>();
  private final List<Optional<Process>> processes = new ArrayList<>();
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /**
   * Makes them; none runs yet.
   *
   * @param through the port by which each reaches the database
   */
  Gateways(PostgresServer server, Path dir, CountingServer outside, int... through)
      throws IOException {
    this(server, dir, outside, folder(dir), Map.of(), through);
  }

  /** One of several cells, in a schema of its own. */
  Gateways(PostgresServer server, Path dir, CountingServer outside, int cells, Ports through)
      throws IOException {
    this(
        server,
        dir,
        outside,
        cells,
        "cells_" + SCHEMAS.incrementAndGet(),
        folder(dir),
        Map.of(),
        through.ports());
  }

  /** The port by which each gateway reaches the database. */
  record Ports(int... ports) {}

  private static String folder(Path dir) throws IOException {
    return "file://" + Files.createDirectory(dir.resolve("contents"));
  }

  /**
   * The same with large contents elsewhere than in a folder.
   *
   * @param contents the address of the store
   * @param credentials for it, in the environment of each
   */
  Gateways(
      PostgresServer server,
      Path dir,
      CountingServer outside,
      String contents,
      Map<String, String> credentials,
      int... through)
      throws IOException {
    this(server, dir, outside, 1, "writ", contents, credentials, through);
  }

  private Gateways(
      PostgresServer server,
      Path dir,
      CountingServer outside,
      int cells,
      String schema,
      String contents,
      Map<String, String> credentials,
      int... through)
      throws IOException {
    this.credentials = credentials;
    this.server = server;
    this.dir = dir;
    this.outside = outside;
    this.cells = cells;
    this.schema = schema;
    URI own = server.newAddress();
    URI address =
        cells == 1 ? own : URI.create(own.toString().replaceFirst("cell=.*", "schema=" + schema));
    this.cell = cells == 1 ? own.getQuery().replace("cell=", "") : "0";
    Files.setPosixFilePermissions(
        Files.createDirectory(dir.resolve("s")), PosixFilePermissions.fromString("rwx--x--x"));
    List<String> init = new ArrayList<>(List.of("init", "--database"));
    init.addAll(List.of(through(address, through[0]), "--contents", contents));
    if (cells > 1) {
      init.addAll(List.of("--cells", String.valueOf(cells)));
    }
    done(0, init.toArray(String[]::new));
    register();
    for (int i = 0; i < through.length; i++) {
      if (i > 0) {
        List<String> join = new ArrayList<>(List.of("init", "--join", home(0).toString()));
        if (through[i] != through[0]) {
          join.addAll(List.of("--database", through(address, through[i])));
        }
        done(i, join.toArray(String[]::new));
      }
      ports.add(freePort());
      hops.add(freePort());
      processes.add(Optional.empty());
      Files.writeString(
          home(i).resolve("gateway.yaml"),
          """
          writ_gateway: 1
          listen: { port: PORT }
          drain_s: 20
          cells: { port: HOP, lease_ms: LEASE, margin_ms: 500, wait_ms: 20000, root_s: 2 }
          """
              .replace("PORT", String.valueOf(ports.get(i)))
              .replace("HOP", String.valueOf(hops.get(i)))
              .replace("LEASE", String.valueOf(LEASE_MS)));
    }
  }

  private static String through(URI address, int port) {
    return address.toString().replaceFirst(":[0-9]+/", ":" + port + "/")
        + (address.getPort() == port ? "" : "&patience_s=5");
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  /** The tenants of an installation of several cells, beside that of the home. */
  static final List<String> TENANTS = List.of("t1", "t2", "t3", "t4", "t5", "t6");

  /** What policy says of the further tenants, whose agents' keys are made. */
  private String principals() {
    StringBuilder lines = new StringBuilder("principals:\n");
    for (String tenant : cells == 1 ? List.<String>of() : TENANTS) {
      done(0, "key", "new", "agent-" + tenant, "--tenant", tenant, "--subject", "agent");
      lines
          .append("  - { tenant: ")
          .append(tenant)
          .append(", subject: agent, roles: [analyst] }\n");
    }
    return lines.toString();
  }

  private void register() throws IOException {
    new OutsideTool(dir, outside)
        .register(principals(), home(0), arguments -> done(0, arguments).out());
  }

  Path home(int gateway) {
    return dir.resolve("gw" + gateway);
  }

  String schema() {
    return schema;
  }

  int count() {
    return processes.size();
  }

  private Map<String, String> environment() {
    TreeMap<String, String> environment = new TreeMap<>();
    environment.put("WRIT_SANDBOX_DIR", dir.resolve("s").toString());
    environment.put("WRIT_EGRESS_CA", dir.resolve("ca.pem").toString());
    environment.put("WRIT_EGRESS_PRIVATE", outside.place());
    environment.put("WRIT_WARM_UP_S", "0");
    environment.putAll(credentials);
    return environment;
  }

  /** A command of a gateway's home, in this process. */
  Run writ(int gateway, String... arguments) {
    List<String> all = new ArrayList<>(List.of("--home", home(gateway).toString()));
    all.addAll(List.of(arguments));
    return Run.in(environment(), all.toArray(String[]::new));
  }

  Run done(int gateway, String... arguments) {
    Run run = writ(gateway, arguments);
    assertThat(run.status())
        .as(String.join(" ", arguments) + "\n" + run.err() + run.out())
        .isZero();
    return run;
  }

  /** Starts one and waits until it listens. */
  void start(int gateway) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(OwnProcess.writ("--home", home(gateway).toString(), "serve"));
    builder.environment().putAll(environment());
    Process process =
        builder
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log(gateway).toFile()))
            .start();
    processes.set(gateway, Optional.of(process));
    await("gateway " + gateway + " listens", () -> get(gateway, "/health") == 200);
  }

  private Path log(int gateway) {
    return dir.resolve("gw" + gateway + ".log");
  }

  /** What a gateway said. */
  String said(int gateway) throws IOException {
    return Files.readString(log(gateway));
  }

  /** Waits for a condition, as long as it takes. */
  void await(String what, Condition condition) throws IOException {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(3);
    while (!condition.holds()) {
      if (System.nanoTime() > end) {
        StringBuilder all = new StringBuilder(what);
        for (int i = 0; i < count(); i++) {
          all.append("\n-- ").append(i).append("\n");
          all.append(Files.exists(log(i)) ? said(i) : "");
        }
        throw new IOException("not within three minutes: " + all);
      }
      try {
        Thread.sleep(20);
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }
  }

  @FunctionalInterface
  interface Condition {
    boolean holds() throws IOException;
  }

  URI url(int gateway) {
    return URI.create("http://127.0.0.1:" + ports.get(gateway));
  }

  /** Where the others reach one. */
  URI hop(int gateway) {
    return URI.create("http://127.0.0.1:" + hops.get(gateway));
  }

  /** What one answers to a GET with these headers, name and value by turns: status and body. */
  String ask(URI address, String... headers) throws IOException {
    try {
      HttpRequest.Builder asked = HttpRequest.newBuilder(address);
      if (headers.length > 0) {
        asked.headers(headers);
      }
      HttpResponse<String> got = http.send(asked.build(), HttpResponse.BodyHandlers.ofString());
      return got.statusCode() + " " + got.body();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  /** The token that a gateway made for commands on this machine. */
  String token(int gateway) throws IOException {
    return Files.readString(home(gateway).resolve("serving.json"))
        .replaceFirst("(?s).*\"token\":\"([^\"]+)\".*", "$1");
  }

  /** The status of an answer; 0 where there is none. */
  int get(int gateway, String path) {
    try {
      return http.send(
              HttpRequest.newBuilder(url(gateway).resolve(path)).build(),
              HttpResponse.BodyHandlers.discarding())
          .statusCode();
    } catch (IOException e) {
      return 0;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The gateway whose lease runs by the database's clock. */
  Optional<Integer> owner() {
    List<String> rows = server.query(CELLS + cell + " AND until > clock_timestamp()");
    return rows.stream()
        .map(row -> hops.indexOf(Integer.valueOf(row.substring(row.lastIndexOf(':') + 1))))
        .findFirst();
  }

  /** The gateway that owns each cell by the database's clock; -1 for nobody. */
  List<Integer> owners() {
    List<Integer> owners = new ArrayList<>(Collections.nCopies(cells, -1));
    server
        .query(
            "SELECT cell, address FROM "
                + schema
                + ".lease WHERE until > clock_timestamp() ORDER BY cell")
        .forEach(row -> {
          int cut = row.indexOf('|');
          int port = Integer.parseInt(row.substring(row.lastIndexOf(':') + 1));
          owners.set(Integer.parseInt(row.substring(0, cut)), hops.indexOf(port));
        });
    return owners;
  }

  /** Waits until each of these gateways owns so many cells as its share is, and says so. */
  void awaitShares(int... of) throws IOException {
    await(
        "equal shares",
        () -> {
          List<Integer> owners = owners();
          List<Long> shares = new ArrayList<>();
          for (int gateway : of) {
            shares.add(owners.stream().filter(owner -> owner == gateway).count());
          }
          long least = shares.stream().mapToLong(Long::longValue).min().orElseThrow();
          long most = shares.stream().mapToLong(Long::longValue).max().orElseThrow();
          long all = shares.stream().mapToLong(Long::longValue).sum();
          return all == cells && most - least <= 1;
        });
  }

  long epoch() {
    String row = server.query("SELECT epoch FROM writ.cell WHERE cell = " + cell).getFirst();
    return Long.parseLong(row);
  }

  /** Waits until another than this gateway owns the cell and answers. */
  int awaitOwnerOtherThan(int before) throws IOException {
    await(
        "a new owner",
        () -> {
          Optional<Integer> owner = owner().filter(o -> o != before);
          return owner.isPresent()
              && said(owner.get()).lastIndexOf("cell-owned")
                  > said(owner.get()).lastIndexOf("cell-given-up");
        });
    return owner().orElseThrow();
  }

  int awaitOwner() throws IOException {
    return awaitOwnerOtherThan(-1);
  }

  void signal(int gateway, String signal) throws IOException {
    try {
      new ProcessBuilder("kill", signal, String.valueOf(processes.get(gateway).orElseThrow().pid()))
          .start()
          .waitFor();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  boolean runs(int gateway) {
    return processes.get(gateway).filter(Process::isAlive).isPresent();
  }

  /** Kills it and all that it started. */
  void kill(int gateway) {
    Process process = processes.get(gateway).orElseThrow();
    List<ProcessHandle> children = process.descendants().toList();
    process.destroyForcibly();
    children.forEach(ProcessHandle::destroyForcibly);
    process.onExit().join();
    processes.set(gateway, Optional.empty());
  }

  /** Has it end by SIGTERM, and waits. */
  int stop(int gateway) throws IOException {
    Process process = processes.get(gateway).orElseThrow();
    process.destroy();
    int status = process.onExit().join().exitValue();
    processes.set(gateway, Optional.empty());
    return status;
  }

  /** Whether a row with a receipt of this request is in the database. */
  List<String> query(String sql) {
    return server.query(sql.replace("CELL", cell));
  }

  void execute(String sql) {
    server.execute("writ", sql);
  }

  @Override
  public void close() {
    for (int i = 0; i < count(); i++) {
      if (processes.get(i).isPresent()) {
        kill(i);
      }
    }
    http.close();
  }
}
