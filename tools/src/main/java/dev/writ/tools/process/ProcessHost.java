package dev.writ.tools.process;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.Engine;
import dev.writ.sandbox.EngineReport;
import dev.writ.sandbox.Guarantee;
import dev.writ.sandbox.ProgramImage;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.Tally;
import dev.writ.sandbox.engine.Engines;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.workspace.TreeLimits;
import dev.writ.sandbox.workspace.Workspaces;
import dev.writ.tools.error.ToolsError;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;

/**
 * Runs the tools that are processes: holds the sandbox of this host, or the reason why there is
 * none. The sandbox is opened on first use, so that a program without processes does not pay for
 * examining the host; only what a killed process left is removed at once.
 */
public final class ProcessHost implements AutoCloseable {
  /** What the directory of servers' states has at the end of its name. */
  public static final String STATES = "-state";

  private final SandboxSettings settings;
  private final SecretStore secrets;
  private final Optional<String> engineName;
  private final Runnable before;
  private final Path states;
  private final SandboxWorkspaces runWorkspaces = new SandboxWorkspaces(this);
  private final HostPrograms programs = new HostPrograms();
  private final DirectoryLocks directories = new DirectoryLocks();
  private final WritException missing;
  private volatile Engines engines;
  private boolean closed;

  private ProcessHost(
      SandboxSettings settings,
      SecretStore secrets,
      Optional<String> engineName,
      Runnable before,
      Path states,
      WritException missing) {
    this.settings = settings;
    this.engineName = Objects.requireNonNull(engineName);
    this.before = Objects.requireNonNull(before);
    this.states = states;
    this.secrets = Objects.requireNonNull(secrets);
    this.missing = missing;
  }

  /** The sandbox of this host. */
  public static ProcessHost open(SandboxSettings settings, SecretStore secrets) {
    return open(settings, secrets, Optional.empty());
  }

  /**
   * The same with an engine by its name.
   *
   * @param engineName {@code bubblewrap} or {@code runc}; if absent, the first suitable one
   */
  public static ProcessHost open(
      SandboxSettings settings, SecretStore secrets, Optional<String> engineName) {
    return open(settings, secrets, engineName, () -> {});
  }

  /**
   * The same with an action before the state directory is opened, such as checking its owner; an
   * exception of it means that there is no sandbox.
   */
  public static ProcessHost open(
      SandboxSettings settings, SecretStore secrets, Optional<String> engineName, Runnable before) {
    Path states = Path.of(settings.stateDirectory() + STATES);
    return open(settings, secrets, engineName, before, states);
  }

  /**
   * The same, where several hosts of processes have one place for the states of servers.
   *
   * @param states the directory for them, below one that only this user may write to
   */
  public static ProcessHost open(
      SandboxSettings settings,
      SecretStore secrets,
      Optional<String> engineName,
      Runnable before,
      Path states) {
    ProcessHost host =
        new ProcessHost(
            Objects.requireNonNull(settings), secrets, engineName, before, states, null);
    if (Engines.leftSomething(settings)) {
      host.tryOpen();
    }
    return host;
  }

  /**
   * A host without a sandbox, for audits and replays that run no tools.
   *
   * @param why the refusal of every attempt to run a process
   */
  public static ProcessHost missing(WritException why) {
    return new ProcessHost(
        null, SecretStore.none(), Optional.empty(), () -> {}, null, Objects.requireNonNull(why));
  }

  /** if this fails, the failure is reported when a sandbox is needed */
  private void tryOpen() {
    try {
      engines();
    } catch (WritException e) {
      return;
    }
  }

  /** The engine for a caller that waives no guarantees. */
  public Engine engine() {
    return engine(List.of());
  }

  /**
   * The engine that confines processes.
   *
   * @param waived guarantees that the caller waives if this host lacks them
   * @throws WritException why there is nothing: {@code SBX-001} to {@code SBX-003}, {@code
   *     SBX-005}, {@code SBX-006}, {@code TOL-005}, or what {@link #missing} was given
   */
  public synchronized Engine engine(List<Guarantee> waived) {
    Engines all = engines();
    return engineName.map(name -> all.named(name, waived)).orElseGet(() -> all.choose(waived));
  }

  /**
   * Looks again whether the engine is available and which guarantees it gives: a program may have
   * been removed since. It starts processes and may take seconds, so it should run in the
   * background.
   *
   * @param waived guarantees that the policy in force waives
   * @return what was found, good or not
   * @throws WritException as {@link #engine}
   */
  public EngineReport lookAtEngine(List<Guarantee> waived) {
    String name = engine(waived).name();
    return Engines.detect(settings).stream()
        .filter(report -> report.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  /**
   * The image that gives a program in the place of this host; empty where this host gives it.
   *
   * @param program its name or path
   * @throws WritException as {@link #engine}
   */
  public Optional<ProgramImage> imageOf(String program) {
    if (engineName.isEmpty() || settings == null || settings.remote().isEmpty()) {
      return Optional.empty(); // without opening the sandbox
    }
    String name = program.substring(program.lastIndexOf('/') + 1);
    synchronized (this) {
      return engines().imageOf(engineName.get(), name);
    }
  }

  /** Counts so far; never blocks. */
  public Tally tally() {
    Engines opened = engines;
    return opened == null ? Tally.NONE : opened.tally();
  }

  /**
   * What runs images here.
   *
   * @throws WritException as {@link #engine(List)}
   */
  public synchronized Engine engineOfImages(List<Guarantee> waived) {
    return engines().forImages(waived);
  }

  /**
   * The workspaces of all runs.
   *
   * @throws WritException as {@link #engine}
   */
  public synchronized Workspaces workspaces() {
    return engines().workspaces();
  }

  /**
   * A directory of this host with a tool's files, for read-only binds.
   *
   * @throws WritException as {@link #engine}
   */
  public synchronized Path sharedFiles(SortedMap<String, byte[]> files) {
    return engines().sharedFiles(files);
  }

  /**
   * The same, with one of the files unpacked if it is there: a compressed archive.
   *
   * @throws WritException as {@link #engine}, {@code SBX-046}, {@code SBX-047}
   */
  public synchronized Path sharedFiles(
      SortedMap<String, byte[]> files, String archive, TreeLimits limits) {
    return files.containsKey(archive)
        ? engines().unpacked(files, archive, limits)
        : sharedFiles(files);
  }

  /**
   * Where the states of servers are.
   *
   * @throws WritException {@code TOL-005}, or what {@link #missing} was given
   */
  public synchronized Path states() {
    requireThere();
    return states;
  }

  /**
   * Ends what a process that was killed left in a state directory. One that another process has was
   * swept when that opened it; so was that of this host.
   *
   * @throws WritException as {@link #engine}
   */
  public synchronized void sweep(Path stateDirectory) {
    engines();
    SandboxSettings other = settings.at(stateDirectory);
    if (stateDirectory.equals(settings.stateDirectory().toAbsolutePath())
        || !Engines.leftSomething(other)) {
      return;
    }
    try {
      Engines.open(other).close();
    } catch (WritException e) {
      if (e.code() != SandboxError.STATE_LOCKED) {
        throw e;
      }
    }
  }

  /** The directory under which a command may name one that becomes its workspace. */
  public Optional<Path> workspaceRoot() {
    return settings == null ? Optional.empty() : settings.workspaceRoot();
  }

  private synchronized Engines engines() {
    requireThere();
    if (engines == null) {
      before.run();
      engines = Engines.open(settings);
    }
    return engines;
  }

  /** Whether a run has a workspace; does not open the sandbox. */
  boolean hasWorkspace(String tenant, String run) {
    return settings != null && Engines.hasWorkspace(settings, tenant, run);
  }

  /** Whether the lifetime of a run's workspace is over; does not open the sandbox. */
  boolean hasExpiredWorkspace(Instant now) {
    return settings != null && Engines.hasExpiredWorkspace(settings, now);
  }

  /**
   * The settings of this host, for what reaches others by the rules of sandboxes without one; does
   * not open the sandbox.
   *
   * @throws WritException {@code TOL-005}, or what {@link #missing} was given
   */
  public synchronized SandboxSettings requireSettings() {
    requireThere();
    return settings;
  }

  private void requireThere() {
    if (closed) {
      throw new WritException(ToolsError.DRIVERS_CLOSED, "the host of processes");
    }
    if (missing != null) {
      // A new exception each time: one that is thrown repeatedly would collect suppressed
      // exceptions.
      throw new WritException(missing.code(), missing.found(), missing);
    }
  }

  public SecretStore secrets() {
    return secrets;
  }

  /** Directories of this host that commands work on. */
  DirectoryLocks directories() {
    return directories;
  }

  /** The programs of this host, as observations name them. */
  HostPrograms programs() {
    return programs;
  }

  /** The workspaces in the form that the executor needs. */
  public SandboxWorkspaces runWorkspaces() {
    return runWorkspaces;
  }

  /** Ends every process; afterwards every run is refused. Workspaces stay. */
  @Override
  public synchronized void close() {
    closed = true;
    if (engines != null) {
      engines.close();
      engines = null;
    }
  }
}
