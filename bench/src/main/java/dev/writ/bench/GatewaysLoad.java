package dev.writ.bench;

import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.executor.CellPlacement;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Several gateways over one installation in PostgreSQL (spec/cells.md): how many effects one, two
 * and three of them do, what an effect takes longer through a gateway that does not own its cell,
 * and how long a tenant waits after the owner of its cell was killed. Each gateway is a process of
 * its own; on one machine they share its cores with the database and with whoever asks.
 */
public final class GatewaysLoad {
  private static final int GATEWAYS = 3;

  /** One for the system, and three for the tenants. */
  private static final int CELLS = 4;

  /** Such that each cell has two of them. */
  private static final List<String> TENANTS = List.of("t1", "t2", "t3", "t4", "t5", "t6");

  private static final int CALLERS_EACH = 8;
  private static final int FORWARDED_EACH = 50;
  private static final int FORWARDED_ROUNDS = 8;
  private static final int KILLS = 3;
  private static final int LEASE_MS = 6000;
  private static final Pattern OWNED = Pattern.compile("writ_cell_owned\\{cell=\"(\\d+)\"} 1\\.0");

  private static final String SERVING =
      """
      writ_gateway: 1
      listen: { port: PORT }
      cells: { port: HOP, lease_ms: LEASE, margin_ms: 1500 }
      """;

  private final String launcher;
  private final Path dir;
  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
  private final AtomicLong numbers = new AtomicLong();
  private final Map<String, SigningKey> keys = new TreeMap<>();
  private final List<Optional<Process>> processes =
      new ArrayList<>(Collections.nCopies(GATEWAYS, Optional.empty()));
  private final int[] ports = new int[GATEWAYS];

  private GatewaysLoad(String launcher, Path dir) {
    this.launcher = launcher;
    this.dir = dir;
  }

  /**
   * @param arguments the launcher, a directory that is not there yet, the address of a database
   *     that has no schema {@code writ_bench}, and how many effects each rate is measured with,
   *     6,000 without
   */
  public static void main(String[] arguments) throws Exception {
    int effects = arguments.length > 3 ? Integer.parseInt(arguments[3]) : 6_000;
    GatewaysLoad load = new GatewaysLoad(arguments[0], Path.of(arguments[1]));
    try (BenchDatabase database = BenchDatabase.of(URI.create(arguments[2]))) {
      try {
        load.make(database.address());
        load.measure(effects);
      } finally {
        load.end();
      }
    }
    System.exit(0);
  }

  // The installation

  private void make(URI database) throws Exception {
    Path contents = Files.createDirectories(dir.resolve("contents"));
    writ(
        0,
        "init",
        "--database",
        database.toString(),
        "--contents",
        contents.toUri().toString(),
        "--cells",
        String.valueOf(CELLS));
    StringBuilder principals = new StringBuilder("principals:\n");
    for (String tenant : TENANTS) {
      writ(0, "key", "new", "agent-" + tenant, "--tenant", tenant, "--subject", "agent");
      principals.append("  - { tenant: ").append(tenant);
      principals.append(", subject: agent, roles: [analyst] }\n");
      keys.put(tenant, KeyFiles.read(home(0).resolve("keys/agent-" + tenant + ".pem"), () -> null));
    }
    Path policy = home(0).resolve("policy.yaml");
    Files.writeString(
        policy,
        ServerLoad.unlimited(Files.readString(policy))
            .replaceFirst("principals:[^\n]*\n", principals.toString()));
    writ(0, "policy", "activate", policy.toString());
    for (int i = 0; i < GATEWAYS; i++) {
      if (i > 0) {
        writ(i, "init", "--join", home(0).toString());
      }
      ports[i] = freePort();
      Files.writeString(
          home(i).resolve("gateway.yaml"),
          SERVING
              .replace("PORT", String.valueOf(ports[i]))
              .replace("HOP", String.valueOf(freePort()))
              .replace("LEASE", String.valueOf(LEASE_MS)));
    }
  }

  private Path home(int gateway) {
    return dir.resolve("gateway-" + gateway);
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  private void writ(int gateway, String... arguments) throws Exception {
    ServerLoad.run(launcher, home(gateway), arguments);
  }

  private void start(int gateway) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(launcher, "--home", home(gateway).toString(), "serve");
    builder.environment().put("WRIT_WARM_UP_S", "0"); // the rounds before are the warm-up
    Path log = dir.resolve("gateway-" + gateway + ".log");
    processes.set(
        gateway,
        Optional.of(
            builder
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start()));
  }

  private void end() throws Exception {
    for (Optional<Process> process : processes) {
      process.ifPresent(Process::destroy);
    }
    for (Optional<Process> process : processes) {
      if (process.isPresent()) {
        process.get().waitFor();
      }
    }
  }

  // Who owns what

  /** The gateway that owns each cell, as far as anybody does. */
  private Map<Integer, Integer> owners() {
    Map<Integer, Integer> owners = new TreeMap<>();
    for (int i = 0; i < GATEWAYS; i++) {
      if (processes.get(i).filter(Process::isAlive).isPresent()) {
        Matcher owned = OWNED.matcher(metrics(i));
        while (owned.find()) {
          owners.put(Integer.valueOf(owned.group(1)), i);
        }
      }
    }
    return owners;
  }

  private String metrics(int gateway) {
    try {
      HttpURLConnection asked =
          (HttpURLConnection)
              URI.create("http://127.0.0.1:" + ports[gateway] + "/metrics")
                  .toURL()
                  .openConnection();
      try {
        return new String(asked.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      } finally {
        asked.disconnect();
      }
    } catch (IOException e) {
      return ""; // it does not listen yet
    }
  }

  private Map<Integer, Integer> awaitShares(int gateways) throws InterruptedException {
    while (true) {
      Map<Integer, Integer> owners = owners();
      boolean isShared =
          owners.size() == CELLS && owners.values().stream().distinct().count() == gateways;
      if (isShared) {
        return owners;
      }
      Thread.sleep(100);
    }
  }

  private static int cellOf(String tenant) {
    return CellPlacement.cellOf(tenant, CELLS);
  }

  // Measuring

  private byte[] request(String tenant, String run) {
    return ServerLoad.request(keys.get(tenant), tenant, run, numbers.incrementAndGet());
  }

  private HttpCaller caller(int gateway) {
    return new HttpCaller(ports[gateway], "/v1/effects");
  }

  private void measure(int effects) throws Exception {
    out.println(
        "| gateways | effects a second | processor of all gateways for one, ms | sent again |");
    out.println("|---|---|---|---|");
    for (int n = 1; n <= GATEWAYS; n++) {
      start(n - 1);
      Map<Integer, Integer> owners = awaitShares(n);
      rate(owners, effects, false); // a gateway that has just started compiles
      rate(owners, effects, true);
    }
    forwarding();
    for (int i = 0; i < KILLS; i++) {
      takeover();
    }
  }

  /** Each caller asks the owner of its tenant's cell. */
  private void rate(Map<Integer, Integer> owners, int effects, boolean isPrinted) throws Exception {
    int callers = TENANTS.size() * CALLERS_EACH;
    int each = Math.ceilDiv(effects, callers);
    List<HttpCaller> connections = new ArrayList<>();
    List<List<byte[]>> work = new ArrayList<>();
    for (int i = 0; i < callers; i++) {
      String tenant = TENANTS.get(i % TENANTS.size());
      connections.add(caller(owners.get(cellOf(tenant))));
      List<byte[]> requests = new ArrayList<>();
      for (int k = 0; k < each; k++) {
        requests.add(request(tenant, "run-" + i));
      }
      work.add(requests);
    }
    double before = processorMs();
    AtomicLong repeated = new AtomicLong();
    Cost cost =
        Stopwatch.concurrently(
            callers,
            each,
            i -> {
              for (byte[] body : work.get(i)) {
                while (!isDone(connections.get(i), body)) {
                  repeated.incrementAndGet();
                  connections.set(i, caller(owners.get(cellOf(TENANTS.get(i % TENANTS.size())))));
                }
              }
            });
    double spent = processorMs() - before;
    connections.forEach(HttpCaller::close);
    if (isPrinted) {
      out.printf(
          Locale.ROOT,
          "| %d | %.0f | %.2f | %d |%n",
          owners.values().stream().distinct().count(),
          1e9 / cost.wallNs(),
          spent / (callers * each),
          repeated.get());
    }
  }

  /**
   * False where it is to be sent again, over another connection: nobody owned its cell just then.
   */
  private static boolean isDone(HttpCaller caller, byte[] body) {
    try {
      caller.post(body, "\"receipt\"");
      return true;
    } catch (IllegalStateException | UncheckedIOException e) {
      caller.close();
      return false;
    }
  }

  private double processorMs() throws IOException {
    double sum = 0;
    for (Optional<Process> process : processes) {
      if (process.isPresent()) {
        sum += ServerLoad.processorMs(process.get().pid());
      }
    }
    return sum;
  }

  /** One caller, in turns at the owner and at another gateway. */
  private void forwarding() {
    String tenant = TENANTS.getFirst();
    int owner = owners().get(cellOf(tenant));
    double[][] nanos = new double[2][FORWARDED_EACH * FORWARDED_ROUNDS];
    for (int round = 0; round < FORWARDED_ROUNDS; round++) {
      for (int way = 0; way < 2; way++) {
        try (HttpCaller asked = caller((owner + way) % GATEWAYS)) {
          for (int i = 0; i < FORWARDED_EACH; i++) {
            byte[] body = request(tenant, "run-forwarded");
            long began = System.nanoTime();
            asked.post(body, "\"receipt\"");
            nanos[way][round * FORWARDED_EACH + i] = System.nanoTime() - began;
          }
        } catch (IllegalStateException | UncheckedIOException e) {
          way--; // the cell moved: this turn again
        }
      }
    }
    Arrays.sort(nanos[0]);
    Arrays.sort(nanos[1]);
    double own = nanos[0][nanos[0].length / 2] / 1e6;
    double other = nanos[1][nanos[1].length / 2] / 1e6;
    out.printf(
        Locale.ROOT,
        "an effect of one caller at the owner %.2f ms, through another gateway %.2f ms (medians)%n",
        own,
        other);
  }

  /** Kills an owner, and waits for an effect of each of its tenants at a gateway that lives. */
  private void takeover() throws Exception {
    Map<Integer, Integer> owners = awaitShares(GATEWAYS);
    int killed = owners.get(cellOf(TENANTS.getFirst()));
    List<String> tenants =
        TENANTS.stream().filter(tenant -> owners.get(cellOf(tenant)) == killed).toList();
    Process process = processes.get(killed).orElseThrow();
    long began = System.nanoTime();
    process.destroyForcibly().waitFor();
    double[] waited = new double[tenants.size()];
    Stopwatch.concurrently(
        tenants.size(),
        1,
        i -> {
          untilDone((killed + 1) % GATEWAYS, tenants.get(i));
          waited[i] = (System.nanoTime() - began) / 1e6;
        });
    out.printf(
        Locale.ROOT,
        "killed: the first effect of its tenants %s is done after %s ms; the lease has %d ms%n",
        tenants,
        Arrays.stream(waited).mapToObj(ms -> String.format(Locale.ROOT, "%.0f", ms)).toList(),
        LEASE_MS);
    start(killed);
  }

  /** The same signed request again, until it is answered. */
  private void untilDone(int gateway, String tenant) {
    byte[] body = request(tenant, "run-taken-over");
    boolean isDone = false;
    while (!isDone) {
      try (HttpCaller caller = caller(gateway)) {
        isDone = isDone(caller, body);
      }
    }
  }
}
