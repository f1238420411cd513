package dev.writ.bench;

import dev.writ.sandbox.Command;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Engine;
import dev.writ.sandbox.EngineReport;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.engine.Engines;
import dev.writ.sandbox.host.Trees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.stream.Stream;

/**
 * A sandbox from its making to its end, with one program in it: against the bare program, and
 * against the engine's own command line with the same flags. No rows where an engine is not there,
 * or we are not root.
 */
public final class SandboxSteps implements AutoCloseable {
  private static final Target BARE = new Target.TimeAtMost(60);
  private static final Target RAW = new Target.TimeAtMost(1.3);

  /** One program as ours, raw and bare. */
  public record Start(String name, Runnable ours, Runnable raw, Runnable bare) {}

  private final Path directory;
  private final Engines engines;
  private final RawSandboxes raw;
  private final AtomicLong ids = new AtomicLong();

  /**
   * @param parent every user may traverse it
   */
  public SandboxSteps(Path parent) throws IOException {
    directory = Files.createTempDirectory(parent, "wsb");
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path state = directory.resolve("s");
    engines = Engines.open(SandboxSettings.in(state));
    raw = new RawSandboxes(directory, state);
  }

  /** Whether this host can run them. */
  public static boolean possible() {
    boolean v1 = Files.exists(Path.of("/sys/fs/cgroup/unified"));
    EngineReport bubblewrap = Engines.detect().getFirst();
    return v1 && bubblewrap.available() && bubblewrap.shortfalls().isEmpty();
  }

  List<Step> steps(Stopwatch watch) {
    List<Step> steps = new ArrayList<>();
    for (Start start : starts()) {
      Step.Slice ours = watch.repeat(() -> done(start.ours()));
      steps.add(
          new Step(
              start.name(), "the engine's own command line", RAW, ours,
              watch.repeat(() -> done(start.raw()))));
      steps.add(
          new Step(start.name(), "bare process", BARE, ours, watch.repeat(() -> done(start.bare()))));
    }
    return steps;
  }

  private static Object done(Runnable work) {
    work.run();
    return work;
  }

  /** true, Python and Node in each engine that is there. */
  public List<Start> starts() {
    List<Start> starts = new ArrayList<>();
    List<List<String>> programs =
        List.of(
            List.of("/usr/bin/true"),
            List.of("/usr/bin/python3", "-c", "0"),
            List.of("/usr/bin/node", "-e", "0"));
    for (EngineReport report : engines.reports()) {
      for (List<String> program : programs) {
        if (report.available() && report.shortfalls().isEmpty() && Files.exists(Path.of(program.getFirst()))) {
          starts.add(start(engines.named(report.name()), program));
        }
      }
    }
    return starts;
  }

  private Start start(Engine engine, List<String> program) {
    try {
      String short1 = Path.of(program.getFirst()).getFileName().toString();
      Path line =
          engine.name().equals("runc")
              ? raw.runc(program, bundle(engine, program))
              : raw.bubblewrap(program);
      Path bare = raw.bare(program);
      return new Start(
          "start of " + short1 + ", " + engine.name(),
          () -> ours(engine, program),
          () -> must(RawSandboxes.run(line)),
          () -> must(RawSandboxes.run(bare)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void ours(Engine engine, List<String> program) {
    SandboxSpec spec = SandboxSpec.of("b-" + ids.incrementAndGet(), Profile.named("default"));
    try (Sandbox sandbox = engine.create(spec)) {
      Ended ended = sandbox.exec(Command.of(program));
      must(ended.exitCode().orElse(-1));
    }
  }

  private static void must(int status) {
    if (status != 0) {
      throw new IllegalStateException("a measured program ended with " + status);
    }
  }

  /** The bundle that the engine writes for a program, taken while it runs, without our cgroup. */
  private Path bundle(Engine engine, List<String> program) throws IOException {
    String id = "bundle-" + ids.incrementAndGet();
    Path copy = Files.createDirectory(directory.resolve(id));
    try (Sandbox sandbox = engine.create(SandboxSpec.of(id, Profile.named("default")))) {
      List<String> slow = List.of("/bin/sh", "-c", "cat; exec \"$@\"", "sh");
      var execution = sandbox.start(Command.of(Stream.concat(slow.stream(), program.stream()).toList()), (s, b) -> {});
      copyBundle(directory.resolve("s/live").resolve(id).resolve("run/bundle"), copy, program);
      execution.await();
    }
    return copy;
  }

  private static void copyBundle(Path from, Path to, List<String> program) throws IOException {
    String config = Files.readString(from.resolve("config.json"));
    String args = "\"args\":[\"/run/init\",\"--\"," + quoted(program) + "]";
    String bent =
        config
            .replaceAll("\"args\":\\[\"/run/init\".*?\\],\"capabilities\"", Matcher.quoteReplacement(args) + ",\"capabilities\"")
            .replaceAll("\"cgroupsPath\":\"[^\"]*\"", "\"cgroupsPath\":\"/writ-raw/c\"")
            .replaceAll("\"source\":\"[^\"]*/run/tmp\"", "\"source\":\"/dev/shm\"")
            .replaceAll("\"source\":\"[^\"]*/workspace\"", "\"source\":\"/dev/shm\"")
            .replace("\"options\":[\"bind\",\"nosuid\",\"nodev\",\"noexec\"]", "\"options\":[\"bind\",\"nosuid\",\"nodev\"]")
            .replace(
                "\"resources\":{",
                "\"resources\":{\"memory\":{\"limit\":268435456,\"swap\":268435456},\"pids\":{\"limit\":64},\"cpu\":{\"quota\":100000,\"period\":100000},");
    Files.writeString(to.resolve("config.json"), bent);
    Path rootfs = Files.createDirectory(to.resolve("rootfs"));
    Files.setPosixFilePermissions(rootfs, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.setAttribute(rootfs, "unix:uid", 2_000_000_001);
    for (String link : List.of("bin", "lib", "lib64", "sbin")) {
      Files.createSymbolicLink(rootfs.resolve(link), Path.of("usr", link));
    }
  }

  private static String quoted(List<String> program) {
    return String.join(",", program.stream().map(w -> "\"" + w + "\"").toList());
  }

  @Override
  public void close() throws IOException {
    engines.close();
    Files.deleteIfExists(Path.of("/sys/fs/cgroup/memory/writ-raw"));
    Trees.remove(directory);
    try (Stream<Path> hierarchies = Files.list(Path.of("/sys/fs/cgroup"))) {
      for (Path one : hierarchies.toList()) {
        Files.deleteIfExists(one.resolve("writ-raw"));
      }
    }
  }
}
