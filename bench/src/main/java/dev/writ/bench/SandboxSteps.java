package dev.writ.bench;

import dev.writ.canonicalize.disk.TemporaryDirectory;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Engine;
import dev.writ.sandbox.EngineReport;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.docker.Sockets;
import dev.writ.sandbox.engine.Engines;
import dev.writ.sandbox.host.HostCommands;
import dev.writ.sandbox.host.Trees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.stream.Stream;

/**
 * A sandbox from creation to removal, with one program in it: against the bare program, and against
 * the engine's own command line with the same flags. No rows where an engine is not there, or we
 * are not root.
 */
final class SandboxSteps implements AutoCloseable {
  private static final BenchTarget BARE = new BenchTarget.TimeAtMost(60);
  private static final BenchTarget RAW = new BenchTarget.TimeAtMost(1.3);
  private static final String DOCKER = "docker";

  /** One program as ours, raw and bare. */
  record Start(String name, Runnable ours, Runnable raw, Runnable bare) {}

  private final Optional<Path> directory;
  private final Optional<Engines> engines;
  private final Optional<RawSandboxes> raw;
  private final AtomicLong ids = new AtomicLong();

  private SandboxSteps(Optional<Path> place) throws IOException {
    directory = place;
    if (place.isPresent()) {
      Path state = place.get().resolve("s");
      engines = Optional.of(Engines.open(SandboxSettings.in(state)));
      raw = Optional.of(new RawSandboxes(place.get(), state));
    } else {
      engines = Optional.empty();
      raw = Optional.empty();
    }
  }

  /**
   * Uses a directory of its own, which every user may traverse.
   *
   * @param asked whether these steps are wanted; there are none if not, or if this host cannot run
   *     them
   */
  static SandboxSteps where(boolean asked) throws IOException {
    if (!asked || !possible()) {
      return new SandboxSteps(Optional.empty());
    }
    Path place = TemporaryDirectory.in(Path.of("/tmp"), "wsb").path();
    Files.setPosixFilePermissions(place, PosixFilePermissions.fromString("rwxr-xr-x"));
    return new SandboxSteps(Optional.of(place));
  }

  /** The raw command line is written for cgroup v1, and for root. */
  private static boolean possible() {
    EngineReport bubblewrap = Engines.detect().getFirst();
    return Files.exists(Path.of("/sys/fs/cgroup/unified"))
        && bubblewrap.available()
        && bubblewrap.shortfalls().isEmpty();
  }

  List<Step> steps(Stopwatch watch) {
    List<Step> steps = new ArrayList<>();
    for (Start start : starts()) {
      Step.Slice ours = watch.repeat(() -> done(start.ours()));
      Step.Slice line = watch.repeat(() -> done(start.raw()));
      Step.Slice bare = watch.repeat(() -> done(start.bare()));
      steps.add(new Step(start.name(), "the engine's own command line", RAW, ours, line));
      if (!start.name().endsWith(DOCKER)) { // containers start in a service: no fair floor
        steps.add(new Step(start.name(), "bare process", BARE, ours, bare));
      }
    }
    return steps;
  }

  private static Object done(Runnable work) {
    work.run();
    return work;
  }

  /** true, Python and Node in each engine that is available. */
  List<Start> starts() {
    List<Start> starts = new ArrayList<>();
    if (engines.isEmpty()) {
      return starts;
    }
    List<List<String>> programs =
        List.of(
            List.of("/usr/bin/true"),
            List.of("/usr/bin/python3", "-c", "0"),
            List.of("/usr/bin/node", "-e", "0"));
    for (EngineReport report : engines.get().reports()) {
      if (report.name().equals(DOCKER) && (!report.version().contains("podman") || !client())) {
        continue; // has no command line to compare with
      }
      for (List<String> program : programs) {
        if (report.available()
            && report.shortfalls().isEmpty()
            && Files.exists(Path.of(program.getFirst()))) {
          starts.add(start(engines.get().named(report.name()), program));
        }
      }
    }
    return starts;
  }

  private Start start(Engine engine, List<String> program) {
    try {
      String short1 = Path.of(program.getFirst()).getFileName().toString();
      RawSandboxes lines = raw.orElseThrow();
      Path line =
          switch (engine.name()) {
            case "runc" -> lines.runc(program, bundle(engine, program));
            case DOCKER -> lines.podman(program, socket());
            default -> lines.bubblewrap(program);
          };
      Path bare = raw.orElseThrow().bare(program);
      return new Start(
          "start of " + short1 + ", " + engine.name(),
          () -> ours(engine, program),
          () -> must(RawSandboxes.run(line)),
          () -> must(RawSandboxes.run(bare)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean client() {
    return HostCommands.find("podman").isPresent();
  }

  /** Where the service was found: the engine takes the first that answers. */
  private static Path socket() {
    return Sockets.look(System.getenv()).stream().filter(Files::exists).findFirst().orElseThrow();
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
    Path place = directory.orElseThrow();
    Path copy = Files.createDirectory(place.resolve(id));
    try (Sandbox sandbox = engine.create(SandboxSpec.of(id, Profile.named("default")))) {
      List<String> slow = List.of("/bin/sh", "-c", "cat; exec \"$@\"", "sh");
      var execution =
          sandbox.start(
              Command.of(Stream.concat(slow.stream(), program.stream()).toList()), (s, b) -> {});
      copyBundle(place.resolve("s/live").resolve(id).resolve("run/bundle"), copy, program);
      execution.await();
    }
    return copy;
  }

  private static void copyBundle(Path from, Path to, List<String> program) throws IOException {
    String config = Files.readString(from.resolve("config.json"), StandardCharsets.UTF_8);
    String args = "\"args\":[\"/run/init\",\"--\"," + quoted(program) + "]";
    String bent =
        config
            .replaceAll(
                "\"args\":\\[\"/run/init\".*?\\],\"capabilities\"",
                Matcher.quoteReplacement(args) + ",\"capabilities\"")
            .replaceAll("\"cgroupsPath\":\"[^\"]*\"", "\"cgroupsPath\":\"/writ-raw/c\"")
            .replaceAll("\"source\":\"[^\"]*/run/tmp\"", "\"source\":\"/dev/shm\"")
            .replaceAll("\"source\":\"[^\"]*/workspace\"", "\"source\":\"/dev/shm\"")
            .replace(
                "\"options\":[\"bind\",\"nosuid\",\"nodev\",\"noexec\"]",
                "\"options\":[\"bind\",\"nosuid\",\"nodev\"]")
            .replace(
                "\"resources\":{",
                "\"resources\":{\"memory\":{\"limit\":268435456,\"swap\":268435456},\"pids\":{\"limit\":64},\"cpu\":{\"quota\":100000,\"period\":100000},");
    Files.writeString(to.resolve("config.json"), bent, StandardCharsets.UTF_8);
  }

  private static String quoted(List<String> program) {
    return String.join(",", program.stream().map(w -> "\"" + w + "\"").toList());
  }

  @Override
  public void close() throws IOException {
    if (directory.isEmpty()) {
      return;
    }
    engines.orElseThrow().close();
    Trees.remove(directory.get());
    // runc leaves the cgroups that it was told to make.
    try (Stream<Path> hierarchies = Files.list(Path.of("/sys/fs/cgroup"))) {
      for (Path one : hierarchies.toList()) {
        Files.deleteIfExists(one.resolve("writ-raw"));
      }
    }
  }
}
