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

/**
 * Counts what the sandboxes of some JVMs left on the host. Others may run sandboxes at the same
 * time; theirs do not count.
 */
public final class Leftovers {
  private Leftovers() {}

  /** Of this JVM, which may have some left that are expected. */
  public static List<String> await(Path state, Predicate<String> expected) {
    return await(state, expected, List.of(ProcessHandle.current().pid()));
  }

  /**
   * What is left beside what is expected, once the kernel is done with the processes that it was
   * told to kill: they leave their cgroup a moment before they are gone.
   *
   * @param owners the process numbers of the JVMs whose sandboxes count
   */
  public static List<String> await(Path state, Predicate<String> expected, List<Long> owners) {
    long give = System.nanoTime() + 5_000_000_000L;
    List<String> left;
    do {
      left = of(state, owners);
      left.removeIf(expected);
    } while (!left.isEmpty() && System.nanoTime() < give);
    return left;
  }

  /** Processes, cgroups, mounts, and directories below the state directory. */
  private static List<String> of(Path state, List<Long> owners) {
    List<String> found = new ArrayList<>(processes(state, owners));
    Mounts.below(state).forEach(p -> found.add("mount " + p));
    for (String name : Cgroups.detect().names()) {
      if (isOf(name, owners)) {
        found.add("cgroup " + name);
      }
    }
    for (String directory : List.of("live", "oci")) {
      list(state.resolve(directory)).forEach(p -> found.add("directory " + p));
    }
    return found;
  }

  private static boolean isOf(String cgroups, List<Long> owners) {
    return owners.stream().anyMatch(pid -> cgroups.matches("(?s).*u[0-9]+-" + pid + "-.*"));
  }

  /** Those in a cgroup of ours, and those of engines, which name the state directory. */
  private static List<String> processes(Path state, List<Long> owners) {
    List<String> found = new ArrayList<>();
    for (Path process : list(Path.of("/proc"))) {
      if (process.getFileName().toString().matches("[0-9]+")) {
        try {
          String cgroup = Files.readString(process.resolve("cgroup"), StandardCharsets.UTF_8);
          String line = Files.readString(process.resolve("cmdline"), StandardCharsets.ISO_8859_1);
          boolean engine = line.contains(state + "/") && !line.contains("SoakMain");
          if ((isOf(cgroup, owners) || engine) && !isDead(process)) {
            String name = cgroup.replaceAll("(?s).*/writ/([^/\\n]*).*", "$1");
            found.add(
                "process "
                    + process.getFileName()
                    + (engine ? ": " + line : " in " + name.strip()));
          }
        } catch (IOException e) {
          continue; // it has ended
        }
      }
    }
    return found;
  }

  /**
   * Whether it has ended, and only waits for the host's process 1 to take note: what bubblewrap's
   * own process 1 becomes when the process that started it has gone.
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
