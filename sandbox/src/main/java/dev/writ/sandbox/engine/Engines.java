package dev.writ.sandbox.engine;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.Engine;
import dev.writ.sandbox.EngineReport;
import dev.writ.sandbox.Guarantee;
import dev.writ.sandbox.ProgramImage;
import dev.writ.sandbox.RemoteEngine;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.Tally;
import dev.writ.sandbox.docker.Sockets;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.Host;
import dev.writ.sandbox.workspace.TreeLimits;
import dev.writ.sandbox.workspace.Workspaces;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.stream.Stream;

/**
 * The engines of this host, and the workspaces of runs. A state directory belongs to one process at
 * a time; opening it removes what a killed process left there.
 */
public final class Engines implements AutoCloseable {
  private final StateDirectory state;
  private final List<ConfiningEngine> engines;
  private final Workspaces workspaces;
  private final List<String> swept;
  private final Optional<RemoteEngine> remote;

  private Engines(
      StateDirectory state,
      List<ConfiningEngine> engines,
      Workspaces workspaces,
      List<String> swept,
      Optional<RemoteEngine> remote) {
    this.state = state;
    this.engines = List.copyOf(engines);
    this.workspaces = workspaces;
    this.swept = List.copyOf(swept);
    this.remote = remote;
  }

  /**
   * Examines the host without changing anything, for {@code writ doctor}.
   *
   * @return a report for each known engine, installed or not
   */
  public static List<EngineReport> detect() {
    return detect(System.getenv());
  }

  /**
   * @param environment may name the socket of a service
   */
  public static List<EngineReport> detect(Map<String, String> environment) {
    return detect(Sockets.look(environment));
  }

  /** The same with the service that the settings name, as {@link #open} finds it. */
  public static List<EngineReport> detect(SandboxSettings settings) {
    List<EngineReport> reports = new ArrayList<>(detect(sockets(settings)));
    settings.remote().ifPresent(opener -> reports.add(opener.look()));
    return List.copyOf(reports);
  }

  private static List<EngineReport> detect(List<Path> sockets) {
    Host host = Host.look();
    return List.of(
        Detection.bubblewrap(host), Detection.runc(host), Containers.look(host, sockets).report());
  }

  private static List<Path> sockets(SandboxSettings settings) {
    return settings.containers().map(List::of).orElseGet(() -> Sockets.look(System.getenv()));
  }

  /**
   * Opens a state directory, and removes what a killed process left there.
   *
   * @throws WritException {@code SBX-005}, {@code SBX-006}, {@code SBX-007}
   */
  public static Engines open(SandboxSettings settings) {
    Host host = Host.look();
    StateDirectory state = StateDirectory.open(settings.stateDirectory(), host);
    try {
      Containers containers = Containers.look(host, sockets(settings));
      boolean gone =
          containers.client().map(c -> ContainerStarter.sweep(c, state.id())).orElse(false);
      Sweeper sweeper = new Sweeper(state, host.cgroups());
      List<String> swept = sweeper.sweepAll(gone);
      state.roots().clear();
      state.gathered().clear();
      Workspaces workspaces =
          new Workspaces(state.workspaces(), host.root(), settings.workspaces());
      workspaces.sweep();
      settings.owner().ifPresent(workspaces::belongTo);
      Forwarder forwarder = Detection.forwarder();
      Assembly assembly =
          new Assembly(
              host,
              state,
              settings,
              new Executables(host.architecture(), state.gathered()),
              sweeper);
      List<ConfiningEngine> engines = new ArrayList<>();
      for (EngineReport report : List.of(Detection.bubblewrap(host), Detection.runc(host))) {
        Starter starter =
            report.available() ? new ProcessStarter(Detection.launcher(report, forwarder)) : null;
        engines.add(assembly.engine(report, starter, forwarder));
      }
      engines.add(
          assembly.engine(
              containers.report(), containers.starter(host, state, forwarder), forwarder));
      Optional<RemoteEngine> remote =
          settings
              .remote()
              .map(o -> o.open(new RemoteEngine.Place(state.live(), state.id(), settings)));
      return new Engines(state, engines, workspaces, swept, remote);
    } catch (RuntimeException e) {
      state.close();
      throw e;
    }
  }

  /** Whether libfaketime is installed, by which libc's clock and random numbers can be set. */
  public static boolean fixesClocks() {
    return Variables.faketime(Host.look().architecture().triplet()).isPresent();
  }

  /** Whether a killed process left a sandbox there, which opening would remove; changes nothing. */
  public static boolean leftSomething(SandboxSettings settings) {
    String[] live = settings.stateDirectory().resolve("live").toFile().list();
    return live != null && live.length > 0
        || settings
            .owner()
            .filter(name -> Workspaces.areOfAnother(workspaces(settings), name))
            .isPresent();
  }

  private static Path workspaces(SandboxSettings settings) {
    return settings.stateDirectory().resolve("workspaces");
  }

  /** Whether a run has a workspace there; changes nothing and needs no lock. */
  public static boolean hasWorkspace(SandboxSettings settings, String tenant, String run) {
    return Workspaces.isIn(workspaces(settings), tenant, run);
  }

  /** Whether the lifetime of a workspace there is over; changes nothing and needs no lock. */
  public static boolean hasExpiredWorkspace(SandboxSettings settings, Instant now) {
    return Workspaces.hasExpired(workspaces(settings), now);
  }

  /** What all engines share. */
  private record Assembly(
      Host host,
      StateDirectory state,
      SandboxSettings settings,
      Executables executables,
      Sweeper sweeper) {
    ConfiningEngine engine(EngineReport report, Starter starter, Forwarder forwarder) {
      return new ConfiningEngine(
          report, starter, forwarder, host, state, settings, executables, sweeper);
    }
  }

  /** Engines without a state directory, for tests of the choice among them. */
  static Engines of(List<ConfiningEngine> engines) {
    return new Engines(null, engines, null, List.of(), Optional.empty());
  }

  /**
   * The first engine that is available and gives the required guarantees.
   *
   * @param waived guarantees that the caller waives on this host
   * @throws WritException {@code SBX-001} where none is there, {@code SBX-003} where none holds it
   */
  public Engine choose(List<Guarantee> waived) {
    List<String> why = new ArrayList<>();
    for (ConfiningEngine engine : engines) {
      EngineReport report = engine.report();
      if (report.available() && report.shortfalls(waived).isEmpty()) {
        return engine;
      }
      if (report.available()) {
        why.add(report.lacks(waived));
      }
    }
    if (why.isEmpty()) {
      throw new WritException(
          SandboxError.NO_ENGINE, "neither bubblewrap nor runc, nor a service of docker or podman");
    }
    throw new WritException(SandboxError.NOT_ENFORCED, String.join("; ", why));
  }

  /**
   * An engine by its name.
   *
   * @throws WritException {@code SBX-002} where it is not there, with the install command
   */
  public Engine named(String name) {
    if (remote.isPresent() && remote.get().name().equals(name)) {
      return remote.get();
    }
    for (ConfiningEngine engine : engines) {
      if (engine.name().equals(name)) {
        if (!engine.report().available()) {
          throw new WritException(
              SandboxError.ENGINE_MISSING, name + ": " + engine.report().install());
        }
        return engine;
      }
    }
    throw new WritException(
        SandboxError.ENGINE_MISSING, "none is called so; there are bubblewrap, runc and docker");
  }

  /**
   * An engine by its name, which must give the required guarantees.
   *
   * @param waived guarantees that the caller waives on this host
   * @throws WritException {@code SBX-002}, {@code SBX-003}
   */
  public Engine named(String name, List<Guarantee> waived) {
    Engine engine = named(name);
    engine.report().requireHeld(waived);
    return engine;
  }

  /**
   * The image that an engine elsewhere has for a program.
   *
   * @param engine its name; empty for any other engine
   */
  public Optional<ProgramImage> imageOf(String engine, String program) {
    return remote.filter(r -> r.name().equals(engine)).flatMap(r -> r.imageOf(program));
  }

  /**
   * The engine that runs images.
   *
   * @throws WritException {@code SBX-002} where it is not there, {@code SBX-003} where it does not
   *     hold what is required and not waived
   */
  public Engine forImages(List<Guarantee> waived) {
    return named(remote.map(Engine::name).orElse(Detection.DOCKER), waived);
  }

  public List<EngineReport> reports() {
    return Stream.concat(engines.stream(), remote.stream()).map(Engine::report).toList();
  }

  /** What was done here so far. */
  public Tally tally() {
    return Stream.concat(
            engines.stream().map(ConfiningEngine::tally), remote.stream().map(RemoteEngine::tally))
        .reduce(Tally.NONE, Tally::plus);
  }

  /** The workspaces of runs. */
  public Workspaces workspaces() {
    return workspaces;
  }

  /**
   * A directory of this host with files of a tool, for read-only binds into sandboxes; made on
   * first use, and kept.
   *
   * @param files by their names, plain and relative
   * @throws WritException {@code SBX-007}
   */
  public Path sharedFiles(SortedMap<String, byte[]> files) {
    return state.files().of(files);
  }

  /**
   * The same, with the content of one of the files in its place: a tar archive, compressed by gzip.
   *
   * @param archive its name among the files
   * @throws WritException {@code SBX-007}, {@code SBX-046}, {@code SBX-047}
   */
  public Path unpacked(SortedMap<String, byte[]> files, String archive, TreeLimits limits) {
    return state.files().unpacked(files, archive, limits);
  }

  /** Ids of sandboxes that a killed process left, and that opening removed. */
  public List<String> swept() {
    return swept;
  }

  /** Destroys every sandbox, and releases the directory. Workspaces on disk stay. */
  @Override
  public void close() {
    remote.ifPresent(RemoteEngine::close);
    engines.forEach(ConfiningEngine::destroyAll);
    workspaces.close();
    state.close();
  }
}
