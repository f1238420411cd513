package dev.writ.sandbox.cgroup;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The cgroups of this host. Version 1 has a hierarchy for each controller, and often an additional
 * version 2 hierarchy without controllers, which can kill and measure; version 2 has one hierarchy
 * for all. Ours are below {@code writ} in each.
 */
public sealed interface Cgroups permits CgroupsV1, CgroupsV2, CgroupsNone {
  /** The directory in each hierarchy that contains all of ours. */
  String PARENT = "writ";

  /** What was found, for people. */
  String describe();

  /** 1 or 2; 0 if this process can use none. */
  int version();

  boolean limitsMemory();

  boolean limitsPids();

  boolean limitsCpu();

  boolean measures();

  /**
   * The memory limit of a cgroup, such that all memory of a command is within its limit: version 1
   * counts the memory of sockets separately, so a part of the limit is left for it.
   */
  default long memoryBytes(CgroupLimits limits) {
    return limits.memoryBytes();
  }

  /**
   * Makes a cgroup with limits.
   *
   * @throws dev.writ.canonicalize.WritException {@code SBX-007} where the kernel refuses
   */
  Cgroup create(String name, CgroupLimits limits);

  /** A cgroup that may exist: for killing and removing what an earlier process left. */
  Cgroup existing(String name);

  /**
   * The cgroup of a process, made by another program: only for measuring, freezing and killing, not
   * for limiting or removing.
   *
   * @param text of its /proc/PID/cgroup
   */
  Cgroup ofProcess(String text);

  /** The names of ours that exist. */
  List<String> names();

  /**
   * The kinds of memory that the kernel's command line excludes from cgroup memory, so that they
   * are not limited; empty if everything is counted.
   *
   * @param commandLine the text of /proc/cmdline
   * @param v2 whether memory is limited by version 2, which alone can leave sockets out
   */
  static String uncounted(String commandLine, boolean v2) {
    for (String word : commandLine.strip().split("\\s+")) {
      if (word.startsWith("cgroup.memory=")) {
        List<String> off = List.of(word.substring("cgroup.memory=".length()).split(","));
        if (off.contains("nokmem") || v2 && off.contains("nosocket")) {
          return word;
        }
      }
    }
    return "";
  }

  /** Looks at this host. */
  static Cgroups detect() {
    try {
      return detect(
          Files.readString(Path.of("/proc/self/mounts"), StandardCharsets.UTF_8),
          Files.readString(Path.of("/proc/self/cgroup"), StandardCharsets.UTF_8),
          ((Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid")).longValue());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * @param mounts the text of /proc/self/mounts
   * @param own the text of /proc/self/cgroup
   * @param uid the user that the cgroups belong to
   */
  static Cgroups detect(String mounts, String own, long uid) {
    TreeMap<String, Path> controllers = new TreeMap<>();
    Optional<Path> unified = Optional.empty();
    for (String line : mounts.split("\n")) {
      String[] columns = line.split(" ");
      if (columns.length < 4) {
        continue;
      }
      if (columns[2].equals("cgroup2")) {
        unified = Optional.of(Path.of(columns[1]));
      } else if (columns[2].equals("cgroup")) {
        for (String option : columns[3].split(",")) {
          if (CgroupsV1.CONTROLLERS.contains(option)) {
            controllers.put(option, Path.of(columns[1]));
          }
        }
      }
    }
    if (controllers.containsKey("memory")) {
      return CgroupsV1.at(controllers, unified, uid);
    }
    return unified.isPresent() ? CgroupsV2.at(unified.get(), own) : new CgroupsNone();
  }

  /**
   * The path in each hierarchy from the text of a /proc/PID/cgroup; that of version 2 has an empty
   * name.
   */
  static TreeMap<String, String> paths(String text) {
    TreeMap<String, String> paths = new TreeMap<>();
    for (String line : text.split("\n")) {
      String[] columns = line.split(":", 3);
      if (columns.length == 3 && columns[2].startsWith("/")) {
        for (String controller : columns[1].split(",")) {
          paths.put(controller, columns[2].substring(1));
        }
      }
    }
    return paths;
  }

  /** The names below {@code parent} in any of the hierarchies. */
  static List<String> namesBelow(List<Path> parents) {
    List<String> names = new ArrayList<>();
    for (Path parent : parents) {
      try (var entries = Files.newDirectoryStream(parent, Files::isDirectory)) {
        entries.forEach(e -> names.add(e.getFileName().toString()));
      } catch (IOException e) {
        continue; // not there
      }
    }
    return names.stream().distinct().sorted().toList();
  }
}
