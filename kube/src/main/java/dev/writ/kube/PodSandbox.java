package dev.writ.kube;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Execution;
import dev.writ.sandbox.Held;
import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.OutputListener;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.ProgramImage;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.egress.EgressGate;
import dev.writ.sandbox.egress.EgressProxy;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.Modes;
import dev.writ.sandbox.host.Trees;
import dev.writ.sandbox.workspace.Workspace;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Runs each command in a pod of its own; the workspace stays on this host between them. */
final class PodSandbox implements Sandbox {
  private final KubernetesEngine engine;
  private final SandboxSpec spec;
  private final Path directory;
  private final Workspace workspace;
  private PodExecution running;
  private long commands;
  private boolean gone;

  /**
   * @param directory private to this sandbox
   */
  PodSandbox(KubernetesEngine engine, SandboxSpec spec, Path directory, Workspace workspace) {
    this.engine = engine;
    this.spec = spec;
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
    Runs runs = runs(command);
    Path scratch = directory.resolve("run-" + ++commands);
    try {
      Modes.makeDirectory(scratch, Modes.PRIVATE);
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "cannot make " + scratch, e);
    }
    Optional<EgressGate.Pass> pass = Optional.empty();
    try {
      Map<String, byte[]> files = new TreeMap<>(BoundFiles.of(command.binds()));
      pass = pass(command);
      files.putAll(PodScripts.files(spec.profile(), command, runs.argv(), variables(pass)));
      running =
          new PodExecution(
              new PodExecution.Job(
                  engine.cluster(),
                  engine.form(spec, runs.image(), command, commands),
                  command,
                  files,
                  pass,
                  workspace,
                  spec.freshBytes(),
                  scratch,
                  engine.name() + " " + engine.report().version() + ", image " + runs.image(),
                  engine.startMs()),
              listener,
              how -> finished(scratch, how));
      return running;
    } catch (RuntimeException e) {
      pass.ifPresent(EgressGate.Pass::close);
      Trees.remove(scratch);
      engine.ended(Optional.empty());
      throw e;
    }
  }

  /** The image and the words of a command. */
  private record Runs(ImageReference image, List<String> argv) {}

  /**
   * The image that was named, or that of the program, which is found there by its name: its path is
   * one of this host.
   */
  private Runs runs(Command command) {
    requireAllowed(command);
    if (spec.image().isPresent()) {
      refuse(command.executables().isPresent(), "a list of executables: they are the image's");
      return new Runs(spec.image().get(), command.argv());
    }
    String program = command.argv().getFirst();
    String name = program.substring(program.lastIndexOf('/') + 1);
    ImageReference image =
        engine
            .imageOf(name)
            .map(ProgramImage::image)
            .orElseThrow(() ->
                new WritException(
                    SandboxError.UNSUPPORTED,
                    engine.name() + " has no image for " + name + " (programs of its settings)"));
    List<String> argv = new ArrayList<>(command.argv());
    argv.set(0, name);
    return new Runs(image, List.copyOf(argv));
  }

  private Optional<EgressGate.Pass> pass(Command command) {
    return command.egress().isEmpty()
        ? Optional.empty()
        : Optional.of(engine.egress().orElseThrow().admit(command));
  }

  private Map<String, String> variables(Optional<EgressGate.Pass> pass) {
    return pass.map(p -> EgressProxy.variables(engine.egress().orElseThrow().url(p)))
        .orElseGet(TreeMap::new);
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
    refuse(
        !command.egress().isEmpty() && engine.egress().isEmpty(),
        "a network, since its settings name no proxy");
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
