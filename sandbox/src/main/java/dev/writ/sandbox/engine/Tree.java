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
   * Asks every process inside to end, and not the engine, which would end them all at once. What is
   * inside is deeper than we are in pid namespaces.
   */
  void terminate() {
    TreeSet<Long> all = members();
    engine.descendants().forEach(one -> all.add(one.pid()));
    terminate(all);
  }

  /** Those of the cgroup; without one, those that the engine started, which takes much longer. */
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

  /** Asks those of some processes to end that are deeper than we are in pid namespaces. */
  static void terminate(Collection<Long> pids) {
    pids.forEach(pid -> ProcessHandle.of(pid).ifPresent(Tree::terminate));
  }

  /** Ends every process; when this returns, none of the cgroup is left. */
  void kill() {
    // By its handle: Process.destroyForcibly would also close the streams, with what is in them.
    engine.toHandle().destroyForcibly();
    cgroup.ifPresent(Cgroup::kill);
  }

  /** In how many pid namespaces a process has a number. */
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
