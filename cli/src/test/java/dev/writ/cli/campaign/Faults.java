package dev.writ.cli.campaign;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

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
    return environment(plan, directory.toRealPath());
  }

  /**
   * The same where other calls count.
   *
   * @param below those that concern files of this folder, without links; it may be made later
   */
  Map<String, String> environment(Plan plan, Path below) throws IOException {
    forget();
    Map<String, String> all = new TreeMap<>();
    all.put("LD_PRELOAD", library.toString());
    all.put("WRIT_FAULT_DIR", below.toString());
    all.put("WRIT_FAULT_CALL", plan.call());
    all.put("WRIT_FAULT_NTH", Integer.toString(plan.nth()));
    all.put("WRIT_FAULT_DO", plan.action());
    all.put("WRIT_FAULT_ERRNO", Integer.toString(plan.errno()));
    all.put("WRIT_FAULT_LOG", log.toString());
    return all;
  }

  /** What struck before is over: those bytes were written and synced again since. */
  void forget() throws IOException {
    Files.deleteIfExists(log);
  }

  /** How often the fault struck since the environment was made. */
  int struck() throws IOException {
    return Files.exists(log) ? Files.readAllLines(log).size() : 0;
  }

  /** Bytes of a file that a failed sync did not bring to the disk. */
  record Unsynced(long inode, long from, long to) {}

  /**
   * What failed syncs left behind. Linux marks those pages as clean nevertheless, so that a power
   * cut takes them although a later sync succeeded.
   */
  List<Unsynced> unsynced() throws IOException {
    if (!Files.exists(log)) {
      return List.of();
    }
    return Files.readAllLines(log).stream()
        .map(line -> line.split(" "))
        .filter(words -> words[0].equals("sync"))
        .map(words ->
            new Unsynced(
                Long.parseLong(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3])))
        .toList();
  }
}
