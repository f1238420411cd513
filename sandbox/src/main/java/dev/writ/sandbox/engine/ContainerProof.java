package dev.writ.sandbox.engine;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;

/**
 * Checks that a container is confined as requested. A service may silently ignore an option that it
 * does not know, so the kernel is asked.
 */
final class ContainerProof {
  private static final List<String> NAMESPACES = List.of("ipc", "mnt", "net", "pid", "uts");

  private final Path proc;
  private final Path own;

  /**
   * @param proc the directory in /proc of the container's first process
   * @param own the same directory of this process
   */
  ContainerProof(Path proc, Path own) {
    this.proc = proc;
    this.own = own;
  }

  /**
   * @param uid that the process must have
   * @param hidden files of /proc that must read as empty
   * @param noexec directories from which no program may run
   * @throws WritException {@code SBX-003} naming everything that is not as requested
   */
  void require(long uid, List<String> hidden, List<String> noexec) {
    List<String> wrong = new ArrayList<>();
    try {
      status(uid, wrong);
      for (String name : NAMESPACES) {
        Path link = Path.of("ns", name);
        Path theirs = Files.readSymbolicLink(proc.resolve(link));
        if (theirs.equals(Files.readSymbolicLink(own.resolve(link)))) {
          wrong.add("the " + name + " namespace is the host's");
        }
      }
      mounts(hidden, noexec, wrong);
    } catch (IOException e) {
      throw new WritException(
          SandboxError.ENGINE_FAILED, "the container's first process is not on this host", e);
    }
    if (!wrong.isEmpty()) {
      throw new WritException(SandboxError.NOT_ENFORCED, Detection.DOCKER + ": " + wrong);
    }
  }

  private void status(long uid, List<String> wrong) throws IOException {
    TreeMap<String, String> status = new TreeMap<>();
    for (String line : lines("status")) {
      String[] pair = line.split(":", 2);
      status.put(pair[0], pair.length == 2 ? pair[1].strip() : "");
    }
    for (String key : List.of("Uid", "Gid")) {
      boolean all =
          Arrays.stream(status.getOrDefault(key, "").split("\\s+"))
              .allMatch(Long.toString(uid)::equals);
      if (!all) {
        wrong.add(key + " is " + status.get(key));
      }
    }
    for (String key : List.of("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")) {
      if (!status.getOrDefault(key, "none").matches("0+")) {
        wrong.add(key + " is " + status.get(key));
      }
    }
    if (!status.getOrDefault("NoNewPrivs", "").equals("1")) {
      wrong.add("privileges may be gained");
    }
    if (!status.getOrDefault("Seccomp", "").equals("2")) {
      wrong.add("no filter of system calls");
    }
  }

  /**
   * mountinfo (proc(5)): the fifth column is the mount point, the sixth its options; the last line
   * for a mount point counts.
   */
  private void mounts(List<String> hidden, List<String> noexec, List<String> wrong)
      throws IOException {
    TreeMap<String, List<String>> options = new TreeMap<>();
    TreeMap<String, String> types = new TreeMap<>();
    for (String line : lines("mountinfo")) {
      String[] columns = line.split(" ");
      options.put(columns[4], List.of(columns[5].split(",")));
      types.put(columns[4], line.substring(line.indexOf(" - ") + " - ".length()).split(" ")[0]);
    }
    for (String place : ContainerConfig.COVERED) {
      if (!types.getOrDefault(place, "").equals("tmpfs")) {
        wrong.add(place + " is not hidden");
      }
    }
    requireOptions(options, "/", List.of("ro"), wrong);
    requireOptions(options, "/workspace", List.of("nosuid", "nodev"), wrong);
    for (String place : noexec) {
      requireOptions(options, place, List.of("nosuid", "nodev", "noexec"), wrong);
    }
    for (String file : hidden) {
      if (!options.containsKey(file)) {
        wrong.add(file + " is not hidden");
      }
    }
  }

  private static void requireOptions(
      TreeMap<String, List<String>> options,
      String place,
      List<String> wanted,
      List<String> wrong) {
    List<String> there = options.getOrDefault(place, List.of());
    for (String option : wanted) {
      if (!there.contains(option)) {
        wrong.add(place + " is not " + option);
      }
    }
  }

  private List<String> lines(String file) throws IOException {
    return Files.readAllLines(proc.resolve(file), StandardCharsets.ISO_8859_1);
  }
}
