package dev.writ.bench;

import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Scope;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A whole {@code writ serve} under load: how long the first calls after {@code /ready} take, what
 * an effect of a script over HTTP costs the server's processors, and how much memory it holds after
 * how many effects. Those are numbers of another process, so they are read from {@code /proc}.
 */
public final class ServerLoad {
  private static final int CALLERS = 64;

  /** Clock ticks of {@code /proc/PID/stat}, which Linux counts in hundredths of a second. */
  private static final double TICK_MS = 10;

  private static final Resources RESOURCES = new Resources(1_000, 32L << 20, 1 << 16, 5_000);

  private final AtomicLong numbers = new AtomicLong();
  private final String launcher;
  private final Path home;
  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  private ServerLoad(String launcher, Path home) {
    this.launcher = launcher;
    this.home = home;
  }

  /**
   * @param arguments the launcher, a directory that is not there yet, and how many effects, 10,000
   *     without
   */
  public static void main(String[] arguments) throws Exception {
    int effects = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 10_000;
    new ServerLoad(arguments[0], Path.of(arguments[1])).measure(effects);
    System.exit(0);
  }

  private void measure(int effects) throws Exception {
    run(launcher, home, "init");
    Path policy = home.resolve("policy.yaml");
    Files.writeString(policy, unlimited(Files.readString(policy)));
    run(launcher, home, "policy", "activate", policy.toString());
    Process server =
        new ProcessBuilder(launcher, "--home", home.toString(), "serve", "--port", "0")
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try (BufferedReader said = server.inputReader(StandardCharsets.UTF_8)) {
      String line = said.readLine();
      URI url = URI.create(line.substring(line.indexOf("http")));
      long began = System.nanoTime();
      while (!isReady(url)) {
        Thread.sleep(50);
      }
      out.printf(
          Locale.ROOT,
          "ready %.1f s after it listens, %d MiB%n",
          (System.nanoTime() - began) / 1e9,
          residentMib(server.pid()));
      out.println("| effects | p50, ms | p99, ms | slowest, ms | processor for one, ms | MiB |");
      out.println("|---|---|---|---|---|---|");
      int done = 0;
      for (int each = 1; done < effects; each = Math.min(2 * each, 64)) {
        done += CALLERS * each;
        round(server.pid(), url, each, done);
      }
    } finally {
      server.destroy();
      server.waitFor();
    }
  }

  /** Without the starter policy's limits of rates and budgets, and with a place for each caller. */
  static String unlimited(String policy) {
    int rates = policy.indexOf("temporal:");
    return (policy.substring(0, rates) + policy.substring(policy.indexOf("runs:", rates)))
            .replace("version: 1\n\nlimits", "version: 2\n\nlimits")
            .replace("limit: 1000,", "limit: 1000000000,")
            .replace("limit: 3600000,", "limit: 3600000000000,")
        + "\nengine: { slots: 64, quotas: { default: { running: 64, weight: 1 } } }\n";
  }

  private void round(long pid, URI url, int each, int done) throws IOException {
    SigningKey key = KeyFiles.read(home.resolve("keys/agent.pem"), () -> null);
    List<HttpCaller> callers = new ArrayList<>();
    List<List<byte[]>> work = new ArrayList<>();
    for (int i = 0; i < CALLERS; i++) {
      callers.add(new HttpCaller(url.getPort(), "/v1/effects"));
      List<byte[]> requests = new ArrayList<>();
      for (int n = 0; n < each; n++) {
        requests.add(request(key, "local", "run-" + i, numbers.incrementAndGet()));
      }
      work.add(requests);
    }
    long[] nanos = new long[CALLERS * each];
    double before = processorMs(pid);
    Stopwatch.concurrently(
        CALLERS,
        each,
        caller -> {
          for (int n = 0; n < each; n++) {
            long began = System.nanoTime();
            callers.get(caller).post(work.get(caller).get(n), "\"receipt\"");
            nanos[caller * each + n] = System.nanoTime() - began;
          }
        });
    double spent = processorMs(pid) - before;
    callers.forEach(HttpCaller::close);
    Arrays.sort(nanos);
    out.printf(
        Locale.ROOT,
        "| %d | %.1f | %.1f | %.1f | %.2f | %d |%n",
        done,
        nanos[nanos.length / 2] / 1e6,
        nanos[nanos.length * 99 / 100] / 1e6,
        nanos[nanos.length - 1] / 1e6,
        spent / nanos.length,
        residentMib(pid));
  }

  /** A signed request for a small script. */
  static byte[] request(SigningKey key, String tenant, String run, long number) {
    Request request =
        new Request(
            new Scope(tenant, run, "agent"),
            new Effect(
                "js",
                "1.0.0",
                "eval",
                JsonValue.object().put("source", "6*7+" + number).build(),
                List.of(),
                RESOURCES,
                "wasm",
                Optional.empty()),
            List.of(),
            Optional.empty(),
            "load-" + number,
            Instant.now(),
            "keep",
            JsonValue.object().build(),
            Optional.empty(),
            List.of(),
            List.of());
    return Envelope.sign(Request.TYPE, request.toJson(), key).toBytes();
  }

  /** A command in that home, which has to succeed. */
  static void run(String launcher, Path home, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of(launcher, "--home", home.toString()));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    if (process.waitFor() != 0) {
      throw new IllegalStateException(command + " failed");
    }
  }

  private static boolean isReady(URI url) throws IOException {
    HttpURLConnection call = (HttpURLConnection) url.resolve("/ready").toURL().openConnection();
    try {
      return call.getResponseCode() == 200;
    } finally {
      call.disconnect();
    }
  }

  /** What a process has taken of the processors. */
  static double processorMs(long pid) throws IOException {
    String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * TICK_MS;
  }

  private static long residentMib(long pid) throws IOException {
    String status = Files.readString(Path.of("/proc", Long.toString(pid), "status"));
    int at = status.indexOf("VmRSS:") + "VmRSS:".length();
    return Long.parseLong(status.substring(at, status.indexOf(" kB", at)).strip()) / 1024;
  }
}
