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
 * Takes away what a sandbox has on the host, from its directory and its entry alone: at its end,
 * and at the next start for those whose process was killed.
 */
final class Sweeper {
  private final StateDirectory state;
  private final Cgroups cgroups;

  Sweeper(StateDirectory state, Cgroups cgroups) {
    this.state = state;
    this.cgroups = cgroups;
  }

  /**
   * Takes away all that live; for a start, when nothing of ours can. Returns their ids.
   *
   * @param containers whether those of a service are gone; where it does not answer, their
   *     directories wait for a start at which it does
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
        Slots.keep(entry.get().uid()); // what runs there runs as this one
        continue;
      }
      entry.ifPresent(e -> sweep(e));
      remove(directory);
      ids.add(directory.getFileName().toString());
    }
    ids.sort(null);
    return ids;
  }

  /** Processes first, for they hold everything else; then cgroups and what a runtime keeps. */
  void sweep(LiveEntry entry) {
    for (String name : cgroups.names()) {
      if (name.startsWith(entry.cgroups())) {
        Cgroup cgroup = cgroups.existing(name);
        cgroup.kill();
        // The cgroup goes last: by its name a later sweep finds what this one did not get to.
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
