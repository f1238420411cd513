package dev.writ.sandbox.elsewhere;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.Tally;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.Modes;
import dev.writ.sandbox.host.Trees;
import dev.writ.sandbox.workspace.Workspace;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** The sandboxes of one engine that live, and how its commands ended. Thread safe. */
public final class LiveSandboxes {
  private final Path directory;
  private final TreeMap<String, Sandbox> live = new TreeMap<>();
  private final TreeMap<String, Long> ended = Tally.noReasons();
  private long started;

  /**
   * @param directory has one directory for each
   */
  public LiveSandboxes(Path directory) {
    this.directory = directory;
  }

  /** Makes a sandbox. */
  @FunctionalInterface
  public interface Maker {
    /**
     * @param own a private directory of its own
     */
    Sandbox make(Path own, Workspace workspace);
  }

  /**
   * Adds one.
   *
   * @throws WritException {@code SBX-007}, {@code SBX-021}, {@code SBX-022}, {@code SBX-042}
   */
  public Sandbox add(SandboxSpec spec, Maker maker) {
    if (spec.profile().approval() && !spec.approved()) {
      throw new WritException(SandboxError.PROFILE_NEEDS_APPROVAL, spec.profile().name());
    }
    Path own = directory.resolve(spec.id());
    try {
      Modes.makeDirectory(own, Modes.PRIVATE);
    } catch (FileAlreadyExistsException e) {
      throw new WritException(SandboxError.SANDBOX_ID, spec.id() + " lives", e);
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "cannot make " + own, e);
    }
    try {
      Sandbox sandbox = maker.make(own, workspace(spec, own));
      synchronized (live) {
        live.put(spec.id(), sandbox);
        started++;
      }
      return sandbox;
    } catch (RuntimeException e) {
      Trees.remove(own);
      throw e;
    }
  }

  private static Workspace workspace(SandboxSpec spec, Path own) {
    if (spec.workspace().isPresent()) {
      spec.workspace().get().hold();
      return spec.workspace().get();
    }
    Path fresh = own.resolve("workspace");
    try {
      Modes.makeDirectory(fresh, Modes.PRIVATE);
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "cannot make " + fresh, e);
    }
    return new Workspace(fresh, -1);
  }

  /** Counts a command that ended; empty if the engine failed. */
  void ended(Optional<Ended> how) {
    synchronized (live) {
      ended.merge(how.map(e -> e.reason().text()).orElse(Tally.ENGINE_FAILED), 1L, Long::sum);
    }
  }

  /** At the end of a sandbox. */
  void forget(String id, Workspace workspace) {
    synchronized (live) {
      live.remove(id);
    }
    workspace.release();
  }

  public Tally tally() {
    synchronized (live) {
      return new Tally(live.size(), started, ended);
    }
  }

  public void destroyAll() {
    List<Sandbox> all;
    synchronized (live) {
      all = new ArrayList<>(live.values());
    }
    all.forEach(Sandbox::destroy);
  }
}
