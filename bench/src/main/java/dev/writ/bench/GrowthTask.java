package dev.writ.bench;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.fixture.TestKeys;
import dev.writ.gateway.ops.OldGeneration;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.fsck.Fsck;
import dev.writ.replay.engine.Replay;
import dev.writ.replay.engine.ReplayOptions;
import dev.writ.replay.engine.ReplayResult;
import dev.writ.replay.report.ReportPage;
import dev.writ.verify.audit.Audit;
import dev.writ.verify.audit.AuditReport;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.BundleVerifier;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.FileVisitor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * One part of {@link Growth} in a process of its own, whose memory can be measured. {@code make
 * FOLDER EFFECTS} makes an installation with one long run and ends as a killed process does; every
 * other part works on that folder. Prints what it took as JSON.
 */
public final class GrowthTask {
  static final String RUN = "long";

  /** Requests are signed so many at a time, while nothing is measured. */
  private static final int CHUNK = 2_000;

  /** Calls of a single caller, whose times are the percentiles. */
  private static final int SINGLE = 400;

  private GrowthTask() {}

  /**
   * @param args the part, the folder, and for {@code make} the number of effects
   */
  public static void main(String[] args) throws IOException {
    if ("small".equals(System.getProperty("writ.heap"))) {
      OldGeneration.keepSmall(); // as the command line does
    }
    Path folder = Path.of(args[1]);
    ObjectBuilder json = JsonValue.object();
    Cost.Start start = Cost.Start.now();
    switch (args[0]) {
      case "make" -> make(folder, Integer.parseInt(args[2]), json);
      case "start" -> start(folder);
      case "close" -> close(folder);
      case "fsck" -> fsck(folder);
      case "audit" -> audit(folder);
      case "export" -> export(folder);
      case "verify" -> verify(folder);
      case "replay" -> replay(folder);
      case "report" -> report(folder);
      default -> throw new IllegalArgumentException(args[0]);
    }
    json.put("wall_ms", start.wallNanos() / 1_000_000).put("cpu_ms", start.cpuNanos() / 1_000_000);
    json.put("peak_kib", peakKib());
    System.out.println(new String(Jcs.write(json.build()), StandardCharsets.UTF_8));
    System.out.flush();
    if (List.of("make", "start").contains(args[0])) {
      Runtime.getRuntime().halt(0); // as kill -9 would: nothing is closed
    }
    System.exit(0);
  }

  private static void make(Path folder, int effects, ObjectBuilder json) {
    Lab lab = new Lab(folder);
    long nanos = 0;
    long measured = 0;
    for (int done = 0; done < effects; done += CHUNK) {
      List<byte[]> requests = lab.requests(RUN, Math.min(CHUNK, effects - done));
      Cost cost = together(lab, requests);
      // The last tenth: the rate of an installation that is so long, compiled.
      if (done >= effects - Math.max(CHUNK, effects / 10)) {
        nanos += (long) (cost.wallNs() * requests.size());
        measured += requests.size();
      }
    }
    json.put("rate", measured * 1_000_000_000 / Math.max(1, nanos));
    long[] times = new long[Math.min(SINGLE, Math.max(10, effects / 10))];
    List<byte[]> requests = lab.requests("single", times.length);
    for (int i = 0; i < times.length; i++) {
      long begin = System.nanoTime();
      lab.submit(requests.get(i));
      times[i] = System.nanoTime() - begin;
    }
    Arrays.sort(times);
    json.put("p50_us", times[times.length / 2] / 1000);
    json.put("p99_us", times[times.length * 99 / 100] / 1000);
    json.put("peak_kib_made", peakKib());
    System.gc(); // what is held, and not what was not collected yet
    json.put("heap_kib", heapKib());
    json.put("disk_bytes", sizeOf(folder));
  }

  private static Cost together(Lab lab, List<byte[]> requests) {
    int size = requests.size();
    int each = Math.ceilDiv(size, LedgerSteps.CALLERS);
    Cost.Start start = Cost.Start.now();
    Stopwatch.concurrently(
        LedgerSteps.CALLERS,
        each,
        n ->
            requests
                .subList(Math.min(size, n * each), Math.min(size, (n + 1) * each))
                .forEach(lab::submit));
    return start.each(size);
  }

  /** Until the first effect is done. */
  private static void start(Path folder) {
    Lab lab = new Lab(folder, true);
    lab.submit(lab.requests("start-" + lab.ledger().treeSize(), 1).getFirst());
  }

  private static void close(Path folder) {
    try (Lab lab = new Lab(folder, true)) {
      lab.close(RUN);
    }
  }

  static void fsck(Path folder) {
    var report =
        Fsck.check(
            Fsck.Options.of(folder.resolve("ledger"))
                .withLogKey(TestKeys.key("log").verifyingKey())
                .withAnchor(folder.resolve("anchor")));
    require(report.isSound(), report.problems());
  }

  private static void audit(Path folder) {
    try (LedgerView ledger = Ledger.openReadOnly(folder.resolve("ledger"))) {
      AuditReport report = Audit.check(ledger, Lab.tools(), (_, _) -> {});
      require(report.isSound(), report.problems());
    }
  }

  private static void export(Path folder) throws IOException {
    Files.deleteIfExists(bundle(folder));
    try (LedgerView ledger = Ledger.openReadOnly(folder.resolve("ledger"))) {
      Lab.export(ledger, RUN, bundle(folder));
    }
  }

  private static void verify(Path folder) {
    try (Bundle bundle = Bundle.open(bundle(folder))) {
      BundleVerifier.verify(bundle, BundleVerifier.Options.UNPINNED, _ -> {});
    }
  }

  private static void replay(Path folder) {
    try (Bundle bundle = Bundle.open(bundle(folder))) {
      ReplayResult result =
          new Replay(bundle.ahead(), ReplayOptions.recorded(List.of(new NoopDriver()))).run();
      require(
          result.state() == ReplayResult.State.COMPLETE,
          result.failure() + " " + result.divergences());
    }
  }

  private static void report(Path folder) throws IOException {
    Path page = folder.resolve("page.html");
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(page))) {
      ReportPage.write(List.of(bundle(folder)), ReportPage.Options.NONE, out);
    }
    Files.delete(page);
  }

  static Path bundle(Path folder) {
    return folder.resolve("long.writ");
  }

  private static void require(boolean holds, Object found) {
    if (!holds) {
      throw new IllegalStateException(found.toString());
    }
  }

  static long sizeOf(Path folder) {
    long[] bytes = {0};
    FileVisitor<Path> adding =
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            bytes[0] += attributes.size();
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) {
            return FileVisitResult.CONTINUE; // replaced meanwhile: the kernel still runs
          }
        };
    try {
      Files.walkFileTree(folder, adding);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return bytes[0];
  }

  private static long heapKib() {
    Runtime runtime = Runtime.getRuntime();
    return (runtime.totalMemory() - runtime.freeMemory()) / 1024;
  }

  /** The most memory that this process ever had, as Linux counts it; 0 elsewhere. */
  private static long peakKib() {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
      return lines
          .filter(line -> line.startsWith("VmHWM:"))
          .map(line -> line.replaceAll("[^0-9]", ""))
          .mapToLong(Long::parseLong)
          .findFirst()
          .orElse(0);
    } catch (IOException e) {
      return 0;
    }
  }
}
