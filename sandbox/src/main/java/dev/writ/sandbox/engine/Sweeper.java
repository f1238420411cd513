package dev.writ.sandbox.engine;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.cgroup.Cgroup;
import dev.writ.sandbox.cgroup.Cgroups;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.Mounts;
import dev.writ.sandbox.host.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Removes everything of a sandbox on the host, from its directory and its entry alone: at its end,
 * or at the next start if its process was killed.
 */
final class Sweeper {
  private final StateDirectory state;
  private final Cgroups cgroups;

  Sweeper(StateDirectory state, Cgroups cgroups) {
    this.state = state;
    this.cgroups = cgroups;
  }

  /**
   * Removes all sandboxes; only at a start, when none of ours can be alive. Returns their ids.
   *
   * @param containers whether a service has removed its containers; if it does not answer, their
   *     directories stay until a later start
   */
  List<String> sweepAll(boolean containers) {
    List<Path> directories = new ArrayList<>();
    try (var entries = Files.newDirectoryStream(state.live())) {
      entries.forEach(directories::add);
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "cannot read " + state.live(), e);
    }
    List<String> ids = new ArrayList<>();
    for (Path directory : directories) {
      Optional<LiveEntry> entry = LiveEntry.read(directory);
      if (!containers && entry.map(e -> e.engine().equals(Detection.DOCKER)).orElse(false)) {
        Slots.keep(entry.get().uid()); // its processes still run as this user
        continue;
      }
      entry.ifPresent(e -> sweep(e));
      remove(directory);
      ids.add(directory.getFileName().toString());
    }
    ids.sort(null);
    return ids;
  }

  /**
   * Kills processes first, since they use everything else; then removes cgroups and the state of a
   * runtime.
   */
  void sweep(LiveEntry entry) {
    for (String name : cgroups.names()) {
      if (name.startsWith(entry.cgroups())) {
        Cgroup cgroup = cgroups.existing(name);
        cgroup.kill();
        // The cgroup is removed last: if this is interrupted, a later sweep continues by its name.
        Trees.remove(state.runtime().resolve(name));
        cgroup.remove();
      }
    }
  }

  /** Unmounts what is below a sandbox's directory, and removes it. */
  void remove(Path directory) {
    for (Path point : Mounts.below(directory)) {
      Mounts.unmount(point);
    }
    if (Files.exists(directory)) {
      Trees.remove(directory);
    }
  }
}
