package dev.writ.sandbox.testing;

import dev.writ.sandbox.cgroup.Cgroups;
import dev.writ.sandbox.host.Mounts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Counts what sandboxes left on the host. */
public final class Leftovers {
  private static final long FIRST_UID = 2_000_000_000L;

  private Leftovers() {}

  /** Processes of our user ids, cgroups of a prefix, and mounts and directories below a place. */
  public static List<String> of(Path state) {
    List<String> found = new ArrayList<>(processes());
    Mounts.below(state).forEach(p -> found.add("mount " + p));
    for (String name : Cgroups.detect().names()) {
      found.add("cgroup " + name);
    }
    for (String directory : List.of("live", "oci")) {
      list(state.resolve(directory)).forEach(p -> found.add("directory " + p));
    }
    return found;
  }

  /**
   * What is left beside what is expected, once the kernel is done with the processes that it was
   * told to kill: they leave their cgroup a moment before they are gone.
   */
  public static List<String> await(Path state, Predicate<String> expected) {
    long give = System.nanoTime() + 5_000_000_000L;
    List<String> left;
    do {
      left = of(state);
      left.removeIf(expected);
    } while (!left.isEmpty() && System.nanoTime() < give);
    return left;
  }

  /** Processes that run as one of the user ids of sandboxes. */
  public static List<String> processes() {
    List<String> found = new ArrayList<>();
    for (Path process : list(Path.of("/proc"))) {
      if (process.getFileName().toString().matches("[0-9]+")) {
        try {
          long uid = ((Integer) Files.getAttribute(process, "unix:uid")).longValue();
          if (uid >= FIRST_UID && !isDead(process)) {
            found.add("process " + process.getFileName() + " of " + uid);
          }
        } catch (IOException e) {
          continue; // it has ended
        }
      }
    }
    return found;
  }

  /**
   * Whether it has ended, and only waits for the host's process 1 to take note: what bubblewrap's own
   * process 1 becomes when the process that started it has gone.
   */
  private static boolean isDead(Path process) throws IOException {
    String stat = Files.readString(process.resolve("stat"), StandardCharsets.ISO_8859_1);
    return stat.charAt(stat.lastIndexOf(')') + 2) == 'Z';
  }

  private static List<Path> list(Path directory) {
    List<Path> all = new ArrayList<>();
    if (!Files.exists(directory)) {
      return all;
    }
    try (var entries = Files.newDirectoryStream(directory)) {
      entries.forEach(all::add);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return all;
  }
}
