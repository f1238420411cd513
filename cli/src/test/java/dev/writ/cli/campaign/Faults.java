package dev.writ.cli.campaign;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Faults at the boundary to the operating system: a library (faults.c) that is loaded before libc
 * and lets the Nth call of one kind fail, or be the process's last.
 */
final class Faults {
  static final int EIO = 5;
  static final int ENOSPC = 28;

  private final Path library;
  private final Path directory;
  private final Path log;

  /** What happens at the Nth call of a kind that concerns the directory. */
  record Plan(String call, int nth, String action, int errno) {
    boolean kills() {
      return action.equals("kill");
    }

    @Override
    public String toString() {
      return action + " at " + call + " " + nth + (kills() ? "" : ", errno " + errno);
    }
  }

  private Faults(Path library, Path directory, Path log) {
    this.library = library;
    this.directory = directory;
    this.log = log;
  }

  /**
   * Compiles the library.
   *
   * @param directory below which calls count
   */
  static Faults compile(Path work, Path directory) throws IOException, InterruptedException {
    Path source = work.resolve("faults.c");
    try (InputStream in = Faults.class.getResourceAsStream("faults.c")) {
      Files.write(source, in.readAllBytes());
    }
    Path library = work.resolve("faults.so");
    Shell.run(
        "gcc", "-shared", "-fPIC", "-O2", "-o", library.toString(), source.toString(), "-ldl");
    return new Faults(library, directory, work.resolve("faults.log"));
  }

  /** The environment of a process that has this fault. */
  Map<String, String> environment(Plan plan) throws IOException {
    Files.deleteIfExists(log);
    Map<String, String> all = new TreeMap<>();
    all.put("LD_PRELOAD", library.toString());
    all.put("WRIT_FAULT_DIR", directory.toRealPath().toString());
    all.put("WRIT_FAULT_CALL", plan.call());
    all.put("WRIT_FAULT_NTH", Integer.toString(plan.nth()));
    all.put("WRIT_FAULT_DO", plan.action());
    all.put("WRIT_FAULT_ERRNO", Integer.toString(plan.errno()));
    all.put("WRIT_FAULT_LOG", log.toString());
    return all;
  }

  /** How often the fault struck since the environment was made. */
  int struck() throws IOException {
    return Files.exists(log) ? Files.readAllLines(log).size() : 0;
  }

  /**
   * The inodes whose sync failed. Linux marks their pages as clean nevertheless, so that a power
   * cut takes them although a later sync succeeded.
   */
  Set<Long> unsynced() throws IOException {
    Set<Long> inodes = new TreeSet<>();
    if (Files.exists(log)) {
      for (String line : Files.readAllLines(log)) {
        if (line.startsWith("sync ")) {
          inodes.add(Long.parseLong(line.substring("sync ".length())));
        }
      }
    }
    return inodes;
  }
}
