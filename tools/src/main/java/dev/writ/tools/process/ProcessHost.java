package dev.writ.tools.process;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.Engine;
import dev.writ.sandbox.EngineReport;
import dev.writ.sandbox.Guarantee;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.Tally;
import dev.writ.sandbox.engine.Engines;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.workspace.Workspaces;
import dev.writ.tools.error.ToolsError;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;

/**
 * Where the tools that are processes run: the sandbox of this host, or the reason why there is
 * none. The sandbox is opened when it is first asked for, so that who runs no process does not pay
 * for looking what is here; only what a killed process left is swept at once.
 */
public final class ProcessHost implements AutoCloseable {
  private final SandboxSettings settings;
  private final SecretStore secrets;
  private final Optional<String> engineName;
  private final Runnable before;
  private final SandboxWorkspaces runWorkspaces = new SandboxWorkspaces(this);
  private final HostPrograms programs = new HostPrograms();
  private final WritException missing;
  private volatile Engines engines;
  private boolean closed;

  private ProcessHost(
      SandboxSettings settings,
      SecretStore secrets,
      Optional<String> engineName,
      Runnable before,
      WritException missing) {
    this.settings = settings;
    this.engineName = Objects.requireNonNull(engineName);
    this.before = Objects.requireNonNull(before);
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
   * @param engineName {@code bubblewrap} or {@code runc}; without one, the first that will do
   */
  public static ProcessHost open(
      SandboxSettings settings, SecretStore secrets, Optional<String> engineName) {
    return open(settings, secrets, engineName, () -> {});
  }

  /**
   * The same with something to do before the state directory is opened, such as to make sure that
   * it is ours; what it throws is why there is no sandbox.
   */
  public static ProcessHost open(
      SandboxSettings settings, SecretStore secrets, Optional<String> engineName, Runnable before) {
    ProcessHost host =
        new ProcessHost(Objects.requireNonNull(settings), secrets, engineName, before, null);
    if (Engines.leftSomething(settings)) {
      host.tryOpen();
    }
    return host;
  }

  /**
   * A host without a sandbox: for who looks at what tools did and runs none.
   *
   * @param why what every attempt to run a process is refused with
   */
  public static ProcessHost missing(WritException why) {
    return new ProcessHost(
        null, SecretStore.NONE, Optional.empty(), () -> {}, Objects.requireNonNull(why));
  }

  /** A sweep that fails says so when a sandbox is asked for. */
  private void tryOpen() {
    try {
      engines();
    } catch (WritException e) {
      return;
    }
  }

  /** What confines processes here, for who does without nothing. */
  public Engine engine() {
    return engine(List.of());
  }

  /**
   * What confines processes here.
   *
   * @param waived guarantees that the caller does without where this host does not hold them
   * @throws WritException why there is nothing: {@code SBX-001} to {@code SBX-003}, {@code
   *     SBX-005}, {@code SBX-006}, {@code TOL-005}, or what {@link #missing} was given
   */
  public synchronized Engine engine(List<Guarantee> waived) {
    Engines all = engines();
    return engineName.map(name -> all.named(name, waived)).orElseGet(() -> all.choose(waived));
  }

  /**
   * Looks anew whether what confines processes is here and holds what is required: a program may
   * have been removed since. It starts processes and takes up to seconds, so it is for the
   * background.
   *
   * @param waived what the policy in force does without
   * @return what was found
   * @throws WritException as {@link #engine}, and {@code SBX-002}, {@code SBX-003} for what was
   *     here and is no more
   */
  public EngineReport requireEngine(List<Guarantee> waived) {
    String name = engine(waived).name();
    EngineReport report =
        Engines.detect(settings).stream()
            .filter(r -> r.name().equals(name))
            .findFirst()
            .orElseThrow();
    if (!report.available()) {
      throw new WritException(SandboxError.ENGINE_MISSING, name + ": " + report.install());
    }
    report.requireHeld(waived);
    return report;
  }

  /** What was done here so far, without waiting for anybody. */
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
   * A directory of this host with files that a tool brings, for read-only binds.
   *
   * @throws WritException as {@link #engine}
   */
  public synchronized Path sharedFiles(SortedMap<String, byte[]> files) {
    return engines().sharedFiles(files);
  }

  private synchronized Engines engines() {
    if (closed) {
      throw new WritException(ToolsError.DRIVERS_CLOSED, "the host of processes");
    }
    if (missing != null) {
      // A new one each time: an exception that is thrown twice would gather suppressed ones.
      throw new WritException(missing.code(), missing.found(), missing);
    }
    if (engines == null) {
      before.run();
      engines = Engines.open(settings);
    }
    return engines;
  }

  /** Whether a run has a workspace; told without opening the sandbox. */
  boolean hasWorkspace(String tenant, String run) {
    return settings != null && Engines.hasWorkspace(settings, tenant, run);
  }

  /** Whether the lifetime of a run's workspace is over; told without opening the sandbox. */
  boolean hasExpiredWorkspace(Instant now) {
    return settings != null && Engines.hasExpiredWorkspace(settings, now);
  }

  public SecretStore secrets() {
    return secrets;
  }

  /** The programs of this host, as observations name them. */
  HostPrograms programs() {
    return programs;
  }

  /** The workspaces as the executor needs them. */
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
