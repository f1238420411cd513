package dev.writ.kube;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Execution;
import dev.writ.sandbox.Held;
import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.OutputListener;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.Modes;
import dev.writ.sandbox.host.Trees;
import dev.writ.sandbox.workspace.Workspace;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Runs each command in a pod of its own; the workspace stays on this host between them. */
final class PodSandbox implements Sandbox {
  private final KubernetesEngine engine;
  private final SandboxSpec spec;
  private final ImageReference image;
  private final Path directory;
  private final Workspace workspace;
  private PodExecution running;
  private long commands;
  private boolean gone;

  /**
   * @param directory private to this sandbox
   */
  PodSandbox(
      KubernetesEngine engine,
      SandboxSpec spec,
      ImageReference image,
      Path directory,
      Workspace workspace) {
    this.engine = engine;
    this.spec = spec;
    this.image = image;
    this.directory = directory;
    this.workspace = workspace;
  }

  @Override
  public String id() {
    return spec.id();
  }

  @Override
  public Profile profile() {
    return spec.profile();
  }

  @Override
  public Workspace workspace() {
    return workspace;
  }

  @Override
  public synchronized Execution start(Command command, OutputListener listener) {
    if (gone) {
      throw new WritException(SandboxError.SANDBOX_GONE, id());
    }
    if (running != null) {
      throw new WritException(SandboxError.SANDBOX_BUSY, id());
    }
    requireAllowed(command);
    Path scratch = directory.resolve("run-" + ++commands);
    try {
      Modes.makeDirectory(scratch, Modes.PRIVATE);
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "cannot make " + scratch, e);
    }
    try {
      running =
          new PodExecution(
              new PodExecution.Job(
                  engine.cluster(),
                  engine.form(spec, image, command, commands),
                  command,
                  PodScripts.files(spec.profile(), command, Map.of()),
                  workspace,
                  spec.freshBytes(),
                  scratch,
                  engine.name() + " " + engine.report().version() + ", image " + image,
                  engine.startMs()),
              listener,
              how -> finished(scratch, how));
      return running;
    } catch (RuntimeException e) {
      Trees.remove(scratch);
      engine.ended(Optional.empty());
      throw e;
    }
  }

  private void finished(Path scratch, Optional<Ended> how) {
    Trees.remove(scratch);
    engine.ended(how);
    synchronized (this) {
      running = null;
    }
  }

  private void requireAllowed(Command command) {
    String where = command.directory();
    if (where.startsWith("/workspace/")) {
      workspace.requireDirectory(where.substring("/workspace/".length()));
    } else if (!List.of("/", "/tmp", "/workspace").contains(where)) {
      throw new WritException(
          SandboxError.COMMAND, "it starts neither in /workspace nor in / or /tmp");
    }
    refuse(command.reproducible().isPresent(), "a reproducible run");
    refuse(command.executables().isPresent(), "a list of executables: they are the image's");
    refuse(!command.binds().isEmpty(), "files of this host");
    refuse(!command.egress().isEmpty(), "a network, since its settings name no proxy");
  }

  private void refuse(boolean wanted, String what) {
    if (wanted) {
      throw new WritException(SandboxError.UNSUPPORTED, engine.name() + " cannot give " + what);
    }
  }

  @Override
  public Held hold(Command command, long waitMs, OutputListener listener) {
    throw new WritException(
        SandboxError.UNSUPPORTED, engine.name() + " has no commands that wait for their input");
  }

  @Override
  public void destroy() {
    PodExecution last;
    synchronized (this) {
      if (gone) {
        return;
      }
      gone = true;
      last = running;
    }
    if (last != null) {
      last.settle();
    }
    Trees.remove(directory);
    engine.forget(id(), workspace);
  }
}
