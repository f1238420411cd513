package dev.writ.sandbox.elsewhere;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Execution;
import dev.writ.sandbox.Held;
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
import java.util.Optional;
import java.util.function.Consumer;

/** Commands run elsewhere, each in a place of its own; the workspace stays here between them. */
public abstract class ElsewhereSandbox implements Sandbox {
  private final LiveSandboxes all;
  private final String engine;
  private final SandboxSpec spec;
  private final Path directory;
  private final Workspace workspace;
  private ElsewhereExecution running;
  private long commands;
  private boolean gone;

  /**
   * @param engine its name
   * @param directory private to this sandbox
   */
  protected ElsewhereSandbox(
      LiveSandboxes all, String engine, SandboxSpec spec, Path directory, Workspace workspace) {
    this.all = all;
    this.engine = engine;
    this.spec = spec;
    this.directory = directory;
    this.workspace = workspace;
  }

  protected final SandboxSpec spec() {
    return spec;
  }

  @Override
  public final String id() {
    return spec.id();
  }

  @Override
  public final Profile profile() {
    return spec.profile();
  }

  @Override
  public final Workspace workspace() {
    return workspace;
  }

  /**
   * Refuses what this engine cannot give, before anything is made.
   *
   * @throws WritException {@code SBX-025}, {@code SBX-033}
   */
  protected void requireAllowed(Command command) {
    String where = command.directory();
    if (where.startsWith("/workspace/")) {
      workspace.requireDirectory(where.substring("/workspace/".length()));
    } else if (!List.of("/", "/tmp", "/workspace").contains(where)) {
      throw new WritException(
          SandboxError.COMMAND, "it starts neither in /workspace nor in / or /tmp");
    }
    refuse(command.reproducible().isPresent(), "a reproducible run");
  }

  /** Begins a command; what was begun and fails is ended there. */
  protected abstract ElsewhereExecution launch(Command command, Launch launch);

  /**
   * One command of this sandbox.
   *
   * @param number of the command in its sandbox, from 1
   * @param scratch a private directory of this command
   */
  protected record Launch(
      long number, Path scratch, OutputListener listener, Consumer<Optional<Ended>> atEnd) {}

  @Override
  public final synchronized Execution start(Command command, OutputListener listener) {
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
          launch(command, new Launch(commands, scratch, listener, how -> finished(scratch, how)));
      return running;
    } catch (RuntimeException e) {
      Trees.remove(scratch);
      all.ended(Optional.empty());
      throw e;
    }
  }

  private void finished(Path scratch, Optional<Ended> how) {
    Trees.remove(scratch);
    all.ended(how);
    synchronized (this) {
      running = null;
    }
  }

  protected final void refuse(boolean wanted, String what) {
    if (wanted) {
      throw new WritException(SandboxError.UNSUPPORTED, engine + " cannot give " + what);
    }
  }

  @Override
  public final Held hold(Command command, long waitMs, OutputListener listener) {
    throw new WritException(
        SandboxError.UNSUPPORTED, engine + " has no commands that wait for their input");
  }

  @Override
  public final void destroy() {
    ElsewhereExecution last;
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
    all.forget(id(), workspace);
  }
}
