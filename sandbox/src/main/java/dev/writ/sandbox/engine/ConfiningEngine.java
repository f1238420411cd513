package dev.writ.sandbox.engine;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Engine;
import dev.writ.sandbox.EngineReport;
import dev.writ.sandbox.Guarantee;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.Tally;
import dev.writ.sandbox.egress.EgressRule;
import dev.writ.sandbox.egress.Resolver;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.Host;
import dev.writ.sandbox.host.Modes;
import dev.writ.sandbox.host.Mounts;
import dev.writ.sandbox.workspace.Workspace;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;

/** An engine that confines each command separately, by its starter. */
final class ConfiningEngine implements Engine {
  private static final AtomicLong SERIAL = new AtomicLong();

  private final EngineReport report;
  private final Starter starter;
  private final Forwarder forwarder;
  private final Host host;
  private final StateDirectory state;
  private final SandboxSettings settings;
  private final Executables executables;
  private final Sweeper sweeper;
  private final TreeMap<String, LiveSandbox> live = new TreeMap<>();
  private final TreeMap<String, Long> ended = Tally.noReasons();
  private long started;

  ConfiningEngine(
      EngineReport report,
      Starter starter,
      Forwarder forwarder,
      Host host,
      StateDirectory state,
      SandboxSettings settings,
      Executables executables,
      Sweeper sweeper) {
    this.report = report;
    this.starter = starter;
    this.forwarder = forwarder;
    this.host = host;
    this.state = state;
    this.settings = settings;
    this.executables = executables;
    this.sweeper = sweeper;
  }

  @Override
  public EngineReport report() {
    return report;
  }

  @Override
  public Sandbox create(SandboxSpec spec) {
    requireAble(spec);
    Path directory = state.live().resolve(spec.id());
    makeDirectory(directory, spec.id());
    Workspace held = null;
    long uid = host.uid();
    try {
      if (spec.workspace().isPresent()) {
        held = spec.workspace().get();
        held.hold();
      }
      if (host.root()) {
        long preferred = held == null ? -1 : held.owner();
        uid = Slots.claim(settings.firstUid(), settings.sandboxes(), preferred);
        letPass(directory, uid);
      }
      LiveEntry entry = new LiveEntry(spec.id(), report.name(), uid, prefix(uid));
      entry.write(directory);
      Workspace workspace = held == null ? fresh(directory, uid, spec.freshBytes()) : held;
      if (host.root()) {
        workspace.giveTo(uid);
      }
      boolean limited =
          starter.ownCgroups() && report.holdings().get(Guarantee.MEMORY_LIMIT).held();
      LiveSandbox sandbox =
          new LiveSandbox(this, entry, directory, spec.profile(), workspace, limited, spec.image());
      synchronized (live) {
        live.put(spec.id(), sandbox);
        started++;
      }
      return sandbox;
    } catch (RuntimeException e) {
      sweeper.remove(directory);
      if (host.root() && uid != host.uid()) {
        Slots.release(uid);
      }
      if (held != null
          && !(e instanceof WritException w && w.code() == SandboxError.WORKSPACE_BUSY)) {
        held.release();
      }
      throw e;
    }
  }

  /** Requires all guarantees that were not waived by name: there is no silent downgrade. */
  private void requireAble(SandboxSpec spec) {
    if (!report.available()) {
      throw new WritException(SandboxError.ENGINE_MISSING, report.name() + ": " + report.install());
    }
    report.requireHeld(spec.waived());
    starter.requireAble(new Confinement.Wanted(spec.image().isPresent(), false, false, false));
    if (spec.profile().approval() && !spec.approved()) {
      throw new WritException(SandboxError.PROFILE_NEEDS_APPROVAL, spec.profile().name());
    }
  }

  private static void makeDirectory(Path directory, String id) {
    try {
      Modes.makeDirectory(directory, Modes.PRIVATE);
    } catch (FileAlreadyExistsException e) {
      throw new WritException(SandboxError.SANDBOX_ID, id + " lives", e);
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "cannot make " + directory, e);
    }
  }

  private static void letPass(Path directory, long uid) {
    try {
      Modes.letPass(directory, uid);
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "cannot open " + directory + " to its user", e);
    }
  }

  /**
   * The prefix of the names of a sandbox's cgroups. It is unique on this host until the next boot,
   * since it contains the process's number and start.
   */
  private static String prefix(long uid) {
    ProcessHandle self = ProcessHandle.current();
    long start = self.info().startInstant().map(i -> i.toEpochMilli()).orElse(0L);
    return "u"
        + uid
        + "-"
        + self.pid()
        + "-"
        + Long.toString(start, 36)
        + "-"
        + SERIAL.incrementAndGet()
        + ".";
  }

  private Workspace fresh(Path directory, long uid, long bytes) {
    Path place = directory.resolve("workspace");
    try {
      Modes.makeDirectory(place, Modes.PRIVATE);
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "cannot make " + place, e);
    }
    if (host.root()) {
      Mounts.tmpfs(place, bytes, "0700", uid, true);
    }
    return new Workspace(place, host.root() ? uid : -1);
  }

  /** At the end of a sandbox. */
  void forget(LiveEntry entry, Workspace workspace) {
    synchronized (live) {
      live.remove(entry.id());
    }
    workspace.release();
    if (host.root()) {
      Slots.release(entry.uid());
    }
  }

  /** Counts a command that ended; empty if the engine failed. */
  void ended(Optional<Ended> how) {
    synchronized (live) {
      ended.merge(how.map(e -> e.reason().text()).orElse(Tally.ENGINE_FAILED), 1L, Long::sum);
    }
  }

  Tally tally() {
    synchronized (live) {
      return new Tally(live.size(), started, ended);
    }
  }

  void destroyAll() {
    List<LiveSandbox> all;
    synchronized (live) {
      all = new ArrayList<>(live.values());
    }
    all.forEach(LiveSandbox::destroy);
  }

  Starter starter() {
    return starter;
  }

  Forwarder forwarder() {
    return forwarder;
  }

  Host host() {
    return host;
  }

  StateDirectory state() {
    return state;
  }

  Executables executables() {
    return executables;
  }

  Sweeper sweeper() {
    return sweeper;
  }

  Resolver resolver() {
    return settings.resolver();
  }

  /** The rule, with private addresses allowed for the installation's own destinations. */
  EgressRule placed(EgressRule rule) {
    return settings.placed(rule);
  }

  Supplier<SSLContext> tls() {
    return settings.tls();
  }

  SortedMap<String, String> environment(Profile profile, Command command, boolean image) {
    SortedMap<String, String> all =
        Variables.of(profile, command, Variables.faketime(host.architecture().triplet()));
    if (image && !command.environment().containsKey("PATH")) {
      all.remove("PATH"); // an image has its own PATH
    }
    return all;
  }
}
