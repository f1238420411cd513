package dev.writ.bench;

import dev.writ.canonicalize.disk.TemporaryDirectory;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.verify.bundle.SecondVerifier;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * How cost grows with what was done: installations with 10³, 10⁴ and more effects, all in one run,
 * and what working on each takes. Every part is a process of its own, so that its memory counts.
 */
public final class Growth {
  private static final int LEAST = 1_000;

  /** A million effects are replayed in half an hour where the machine is busy. */
  private static final int HOURS_MAX = 6;

  /** Those of the launcher for large files (config/launcher/Build.java, SMALL_HEAP). */
  private static final List<String> SMALL_HEAP =
      List.of(
          "-XX:+UseSerialGC",
          "-Xms64m",
          "-Xmn36m",
          "-XX:SurvivorRatio=3",
          "-XX:-UsePerfData",
          "-Dwrit.heap=small");

  /** The parts that read piece by piece, and are held to that. */
  private static final List<String> BOUNDED =
      List.of("fsck", "audit", "export", "verify", "replay", "report");

  private static final List<String> PARTS =
      List.of("start", "close", "fsck", "audit", "export", "verify", "replay", "report");

  /** Prints to the standard error stream what Node's process took, beside the program. */
  private static final String PEAK =
      "process.on('exit', () => require('fs').writeSync(2, '\\n' + JSON.stringify({"
          + "cpu_ms: Math.round((process.resourceUsage().userCPUTime"
          + " + process.resourceUsage().systemCPUTime) / 1000), "
          + "peak_kib: process.resourceUsage().maxRSS, "
          + "wall_ms: Math.round(performance.now())})))";

  private final Path folder;
  private final Consumer<String> progress;

  private Growth(Path folder, Consumer<String> progress) {
    this.folder = folder;
    this.progress = progress;
  }

  /**
   * Measures 1,000 effects and ten times as many again and again.
   *
   * @param most not more than so many
   * @param parent where the installations are made: its disk is measured
   */
  public static GrowthReport measure(int most, Path parent, Consumer<String> progress)
      throws IOException {
    return measure(LEAST, most, parent, progress);
  }

  static GrowthReport measure(int least, int most, Path parent, Consumer<String> progress)
      throws IOException {
    List<GrowthReport.Line> lines = new ArrayList<>();
    for (long effects = least; effects <= most; effects *= 10) {
      try (TemporaryDirectory home = TemporaryDirectory.in(parent, "writ-growth")) {
        lines.add(new Growth(home.path(), progress).line((int) effects));
      }
    }
    return new GrowthReport(lines, BenchReport.diskOf(parent), BenchReport.load());
  }

  private GrowthReport.Line line(int effects) throws IOException {
    TreeMap<String, JsonValue.Obj> parts = new TreeMap<>();
    progress.accept(effects + " effects: make");
    parts.put("make", java(List.of(), "make", String.valueOf(effects)).orElseThrow());
    for (String part : PARTS) {
      progress.accept(effects + " effects: " + part);
      java(BOUNDED.contains(part) ? SMALL_HEAP : List.of(), part)
          .ifPresent(took -> parts.put(part, took));
    }
    progress.accept(effects + " effects: verify.mjs");
    node().ifPresent(took -> parts.put("verify.mjs", took));
    return new GrowthReport.Line(effects, parts);
  }

  /** Runs a part; empty where it fails, as for want of memory. */
  private Optional<JsonValue.Obj> java(List<String> flags, String part, String... more)
      throws IOException {
    return run(command(folder, flags, part, more), 0);
  }

  /** The command line of a part's process. */
  static List<String> command(Path folder, List<String> flags, String part, String... more) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin/java").toString());
    command.addAll(flags);
    command.addAll(
        List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"));
    for (String name : List.of("java.library.path", "writ.native")) {
      Optional.ofNullable(System.getProperty(name))
          .ifPresent(value -> command.add("-D" + name + "=" + value));
    }
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), GrowthTask.class.getName()));
    command.addAll(List.of(part, folder.toString()));
    command.addAll(List.of(more));
    return command;
  }

  private Optional<JsonValue.Obj> node() throws IOException {
    Path verifier = folder.resolve("verify.mjs");
    Path peak = folder.resolve("peak.cjs");
    Files.write(verifier, SecondVerifier.source());
    Files.writeString(peak, PEAK);
    int integrityOnly = 5; // signers are not pinned
    try {
      return run(
          List.of(
              "node",
              "-r",
              peak.toString(),
              verifier.toString(),
              GrowthTask.bundle(folder).toString()),
          integrityOnly);
    } catch (IOException e) {
      return Optional.empty(); // no Node here
    }
  }

  /** The last line that a process prints, which is what it took. */
  private Optional<JsonValue.Obj> run(List<String> command, int wanted) throws IOException {
    Path out = folder.resolve("out");
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile()).start();
    process.getOutputStream().close();
    try {
      if (!process.waitFor(HOURS_MAX, TimeUnit.HOURS)) {
        process.destroyForcibly();
      }
      List<String> said = Files.readAllLines(out);
      if (process.waitFor() != wanted || said.isEmpty()) {
        progress.accept("failed: " + String.join(" ", said.subList(0, Math.min(3, said.size()))));
        return Optional.empty();
      }
      return Optional.of(
          (JsonValue.Obj) Jcs.parse(said.getLast().getBytes(StandardCharsets.UTF_8)));
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
