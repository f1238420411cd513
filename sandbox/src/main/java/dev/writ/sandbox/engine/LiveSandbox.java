package dev.writ.sandbox.engine;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Conversation;
import dev.writ.sandbox.DebianPackages;
import dev.writ.sandbox.Execution;
import dev.writ.sandbox.Held;
import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.OutputListener;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SecretFile;
import dev.writ.sandbox.cgroup.Cgroup;
import dev.writ.sandbox.egress.EgressProxy;
import dev.writ.sandbox.egress.EgressRule;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.Modes;
import dev.writ.sandbox.host.Mounts;
import dev.writ.sandbox.host.Owners;
import dev.writ.sandbox.host.Trees;
import dev.writ.sandbox.workspace.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;

/** A sandbox of this process: its directory, its user id, and its running command. */
final class LiveSandbox implements Sandbox {
  private final ConfiningEngine engine;
  private final LiveEntry entry;
  private final Path directory;
  private final Profile profile;
  private final Workspace workspace;
  private final boolean limited;
  private final Optional<ImageReference> image;
  private LiveExecution running;
  private long commands;
  private boolean gone;

  /**
   * @param limited whether commands get a cgroup
   */
  LiveSandbox(
      ConfiningEngine engine,
      LiveEntry entry,
      Path directory,
      Profile profile,
      Workspace workspace,
      boolean limited,
      Optional<ImageReference> image) {
    this.engine = engine;
    this.entry = entry;
    this.directory = directory;
    this.profile = profile;
    this.workspace = workspace;
    this.limited = limited;
    this.image = image;
  }

  @Override
  public String id() {
    return entry.id();
  }

  @Override
  public Profile profile() {
    return profile;
  }

  @Override
  public Workspace workspace() {
    return workspace;
  }

  @Override
  public Execution start(Command command, OutputListener listener) {
    return begin(command, OptionalLong.empty(), false, listener);
  }

  @Override
  public Held hold(Command command, long waitMs, OutputListener listener) {
    requireNoStdin(command);
    return begin(command, OptionalLong.of(waitMs), false, listener);
  }

  @Override
  public Conversation converse(Command command, OutputListener listener) {
    requireNoStdin(command);
    return begin(command, OptionalLong.empty(), true, listener);
  }

  private static void requireNoStdin(Command command) {
    if (command.stdin().length > 0) {
      throw new WritException(SandboxError.COMMAND, "a command that waits has a stdin already");
    }
  }

  private LiveExecution begin(
      Command command, OptionalLong waitMs, boolean talks, OutputListener listener) {
    LiveExecution last;
    synchronized (this) {
      last = running;
    }
    if (last != null && last.hasEnded()) {
      last.awaitRemoval(); // not while locked: the removal's last step needs the lock
    }
    return beginNext(command, waitMs, talks, listener);
  }

  private synchronized LiveExecution beginNext(
      Command command, OptionalLong waitMs, boolean talks, OutputListener listener) {
    if (gone) {
      throw new WritException(SandboxError.SANDBOX_GONE, id());
    }
    if (running != null) {
      throw new WritException(SandboxError.SANDBOX_BUSY, id());
    }
    requireAllowed(command);
    String container = entry.cgroups() + ++commands;
    Path run = directory.resolve("run");
    Optional<Cgroup> cgroup = Optional.empty();
    Optional<EgressProxy> proxy = Optional.empty();
    try {
      makeDirectory(run);
      View.Places places = places(command, run);
      List<Mounted> view =
          View.of(profile, command, engine.executables(), places, image.isPresent());
      SortedMap<String, String> environment =
          engine.environment(profile, command, image.isPresent());
      if (image.isEmpty()) {
        View.requireProgram(view, command.argv().getFirst(), environment.get("PATH"));
      }
      proxy = openProxy(command, run);
      if (limited) {
        cgroup = Optional.of(engine.host().cgroups().create(container, command.limits()));
      }
      Confinement c =
          new Confinement(
              engine.host(),
              engine.state(),
              run,
              entry.uid(),
              container,
              profile,
              command,
              view,
              environment,
              cgroup,
              proxy.map(p -> run.resolve("proxy.sock")),
              command.stdin().length > 0 || waitMs.isPresent() || talks,
              image,
              words());
      workspace.running(true);
      Optional<EgressProxy> opened = proxy;
      running =
          new LiveExecution(
              c,
              engine.starter(),
              workspace,
              opened,
              waitMs,
              talks,
              listener,
              () -> finished(run, container),
              engine::ended);
      return running;
    } catch (IOException | RuntimeException e) {
      proxy.ifPresent(EgressProxy::close);
      finished(run, container);
      if (e instanceof RuntimeException unchecked) {
        throw unchecked;
      }
      throw new WritException(SandboxError.HOST, "a command cannot be prepared", e);
    }
  }

  /** Name and version of the engine, and the image by its digest. */
  private String words() {
    String name = engine.report().name() + " " + engine.report().version();
    return image.map(i -> name + ", image " + i).orElse(name);
  }

  private void requireAllowed(Command command) {
    engine.starter().requireAble(Confinement.Wanted.of(image, command));
    String directory = command.directory();
    if (directory.startsWith("/workspace/")) {
      workspace.requireDirectory(directory.substring("/workspace/".length()));
    } else if (!List.of("/", "/tmp", "/workspace").contains(directory)) {
      throw new WritException(
          SandboxError.COMMAND, "it starts neither in /workspace nor in / or /tmp");
    }
    if (profile.executablesListed() && command.executables().isEmpty() && image.isEmpty()) {
      throw new WritException(
          SandboxError.COMMAND, "the profile " + profile.name() + " demands a list of executables");
    }
    if (!command.egress().isEmpty() && !engine.forwarder().available()) {
      throw new WritException(
          SandboxError.ENGINE_MISSING,
          "socat, for egress: " + DebianPackages.install(List.of("socat")));
    }
  }

  /** Only the sandbox's user and root may traverse it. */
  private void makeDirectory(Path path) throws IOException {
    Modes.makeDirectory(path, Modes.PRIVATE);
    if (engine.host().root()) {
      Modes.letPass(path, entry.uid());
    }
  }

  private View.Places places(Command command, Path run) throws IOException {
    Optional<Path> tmp = Optional.empty();
    Optional<Path> secrets = Optional.empty();
    if (engine.host().root()) {
      Path place = run.resolve("tmp");
      Modes.makeDirectory(place, Modes.PRIVATE);
      Mounts.tmpfs(
          place,
          command.limits().tmpBytes(),
          "1777",
          entry.uid(),
          Confinement.runsFromTmp(profile, command));
      tmp = Optional.of(place);
    }
    if (!command.secrets().isEmpty()) {
      secrets = Optional.of(secrets(command.secrets(), run.resolve("secrets")));
    }
    return new View.Places(engine.state().etc(), workspace(command, run), tmp, secrets);
  }

  private Path workspace(Command command, Path run) throws IOException {
    if (Confinement.runsOwn(profile, command) || !engine.host().root()) {
      return workspace.directory();
    }
    Path place = run.resolve("workspace");
    Modes.makeDirectory(place, Modes.PRIVATE);
    Mounts.bindNoexec(workspace.directory(), place);
    return place;
  }

  /** On a tmpfs of its own, never on a disk. */
  private Path secrets(List<SecretFile> files, Path place) throws IOException {
    if (!engine.host().root()) {
      throw new WritException(
          SandboxError.NOT_ENFORCED, "secrets need a tmpfs, which only root may mount here");
    }
    Modes.makeDirectory(place, Modes.PRIVATE);
    Mounts.tmpfs(place, 16L << 20, "0500", entry.uid(), false);
    for (SecretFile file : files) {
      Path path = place.resolve(file.name());
      Modes.writePrivate(path, file.bytes());
      Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("r--------"));
      Owners.give(path, entry.uid());
    }
    return place;
  }

  private Optional<EgressProxy> openProxy(Command command, Path run) throws IOException {
    if (command.egress().isEmpty()) {
      return Optional.empty();
    }
    Path socket = run.resolve("proxy.sock");
    List<EgressRule> rules = command.egress().stream().map(engine::placed).toList();
    EgressProxy proxy = EgressProxy.open(socket, rules, engine.resolver(), engine.tls());
    Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
    if (engine.host().root()) {
      Owners.give(socket, entry.uid());
    }
    return Optional.of(proxy);
  }

  /** Removes what was made for one command; its processes are gone. */
  private void finished(Path run, String container) {
    if (limited) {
      engine.host().cgroups().existing(container).remove();
    }
    Trees.remove(engine.state().runtime().resolve(container));
    engine.sweeper().remove(run);
    workspace.running(false);
    synchronized (this) {
      running = null;
    }
  }

  @Override
  public void destroy() {
    LiveExecution last;
    synchronized (this) {
      if (gone) {
        return;
      }
      gone = true;
      last = running;
    }
    try {
      if (last != null && !last.settle()) {
        engine.sweeper().sweep(entry);
      }
      engine.sweeper().remove(directory);
    } catch (RuntimeException e) {
      synchronized (this) {
        gone = false; // whoever destroys it next tries again: at the latest the engine, at its end
      }
      throw e;
    }
    engine.forget(entry, workspace);
  }
}
