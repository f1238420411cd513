package dev.writ.sandbox.cgroup;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;

/** The cgroup of one command, in every hierarchy in which it has one. */
public final class Cgroup {
  private final String name;
  private final List<Path> directories;
  private final Optional<Path> killFile;
  private final Optional<Freezer> freezer;
  private final Reader reader;

  /** Reads counters, which differ between the versions. */
  @FunctionalInterface
  interface Reader {
    Counters read();

    /** Limits the memory of its sockets, if the kernel counts that separately. */
    default void limitSockets(CgroupLimits limits) {}

    /** Limits that are missing or wrong, for a cgroup that another program made. */
    default List<String> wrong(CgroupLimits limits) {
      return List.of();
    }
  }

  Cgroup(
      String name,
      List<Path> directories,
      Optional<Path> killFile,
      Optional<Freezer> freezer,
      Reader reader) {
    this.name = name;
    this.directories = List.copyOf(directories);
    this.killFile = killFile;
    this.freezer = freezer;
    this.reader = reader;
  }

  /** Its path below the mount of each hierarchy: {@code /writ/NAME}. */
  public String path() {
    return "/" + Cgroups.PARENT + "/" + name;
  }

  /** The files that a process joins by writing 0 to each. */
  public List<Path> joinFiles() {
    return directories.stream().map(d -> d.resolve("cgroup.procs")).toList();
  }

  public Counters counters() {
    return reader.read();
  }

  /** Limits that are missing or wrong, as text for people; empty if all are right. */
  public List<String> wrongLimits(CgroupLimits limits) {
    return reader.wrong(limits);
  }

  /** Limits the memory of its sockets, if the kernel counts that separately. */
  public void limitSockets(CgroupLimits limits) {
    reader.limitSockets(limits);
  }

  /** Kills every process in it, repeatedly until none is left. */
  public void kill() {
    long give = System.nanoTime() + 10_000_000_000L;
    for (int round = 0; ; round++) {
      TreeSet<Long> pids = pids();
      if (pids.isEmpty()) {
        return;
      }
      if (System.nanoTime() > give) {
        throw new WritException(
            SandboxError.HOST, pids.size() + " processes of " + path() + " outlive SIGKILL");
      }
      if (killFile.isPresent() && round % 100 == 0) {
        ControlFiles.write(killFile.get(), "1");
      }
      // Without cgroup.kill a forked process may escape a round; the pids limit bounds the number
      // of rounds.
      pids.forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
      pause();
    }
  }

  /**
   * Kills every process in it but one. All are stopped first, so that none can fork; when this
   * returns, none of the others is left.
   */
  public void killAllBut(long keeper) {
    long give = System.nanoTime() + 10_000_000_000L;
    while (true) {
      TreeSet<Long> pids = pids();
      pids.remove(keeper);
      if (pids.isEmpty()) {
        return;
      }
      if (System.nanoTime() > give) {
        throw new WritException(
            SandboxError.HOST, pids.size() + " processes of " + name + " outlive SIGKILL");
      }
      freezer.ifPresent(Freezer::freeze);
      try {
        pids = pids();
        pids.remove(keeper);
        pids.forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
      } finally {
        freezer.ifPresent(Freezer::thaw);
      }
      pause();
    }
  }

  /** The numbers of its processes. */
  public TreeSet<Long> pids() {
    TreeSet<Long> pids = new TreeSet<>();
    for (Path file : joinFiles()) {
      for (String line : ControlFiles.read(file).orElse("").split("\n")) {
        if (!line.isEmpty() && !line.equals("0")) {
          pids.add(Long.parseLong(line));
        }
      }
    }
    return pids;
  }

  /**
   * Removes it everywhere.
   *
   * @throws WritException {@code SBX-007} where a directory stays
   */
  public void remove() {
    List<Path> left = new ArrayList<>(directories);
    for (int round = 0; round < 1_000; round++) {
      left.removeIf(ControlFiles::removeDirectory);
      if (left.isEmpty()) {
        return;
      }
      pause(); // a process that is ending is counted for a moment
    }
    throw new WritException(SandboxError.HOST, "the cgroup " + left.getFirst() + " stays busy");
  }

  private static void pause() {
    LockSupport.parkNanos(1_000_000);
  }
}
