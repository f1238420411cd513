package dev.writ.sandbox.engine;

import dev.writ.sandbox.cgroup.Cgroup;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Optional;
import java.util.TreeSet;

/** All processes of one command. */
final class Tree {
  private static final int OWN_DEPTH = depth(ProcessHandle.current().pid());

  private final Process engine;
  private final Optional<Cgroup> cgroup;

  Tree(Process engine, Optional<Cgroup> cgroup) {
    this.engine = engine;
    this.cgroup = cgroup;
  }

  /**
   * Sends TERM to every process inside, but not to the engine, which would kill them all at once.
   * Processes inside are those in a deeper pid namespace than ours.
   */
  void terminate() {
    TreeSet<Long> all = members();
    engine.descendants().forEach(one -> all.add(one.pid()));
    terminate(all);
  }

  /**
   * The processes of the cgroup; without a cgroup the descendants of the engine, which takes much
   * longer.
   */
  TreeSet<Long> members() {
    TreeSet<Long> all = new TreeSet<>();
    if (cgroup.isPresent()) {
      all.addAll(cgroup.get().pids());
    } else {
      engine.descendants().forEach(one -> all.add(one.pid()));
    }
    return all;
  }

  private static void terminate(ProcessHandle one) {
    if (depth(one.pid()) > OWN_DEPTH) {
      one.destroy();
    }
  }

  /** Sends TERM to those of these processes that are in a deeper pid namespace than ours. */
  static void terminate(Collection<Long> pids) {
    pids.forEach(pid -> ProcessHandle.of(pid).ifPresent(Tree::terminate));
  }

  /** Kills every process; when this returns, none of the cgroup is left. */
  void kill() {
    // Through its handle: Process.destroyForcibly would also close the streams and lose their
    // content.
    engine.toHandle().destroyForcibly();
    cgroup.ifPresent(Cgroup::kill);
  }

  /** The number of pid namespaces that a process is in. */
  private static int depth(long pid) {
    try {
      for (String line :
          Files.readAllLines(Path.of("/proc/" + pid + "/status"), StandardCharsets.ISO_8859_1)) {
        if (line.startsWith("NSpid:")) {
          return line.split("\\s+").length - 1;
        }
      }
    } catch (IOException e) {
      // It has ended.
    }
    return 0;
  }
}
