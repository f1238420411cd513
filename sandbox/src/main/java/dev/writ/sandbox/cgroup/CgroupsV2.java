package dev.writ.sandbox.cgroup;

import dev.writ.canonicalize.WritException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/** Version 2 alone. */
final class CgroupsV2 implements Cgroups {
  private static final List<String> WANTED = List.of("memory", "pids", "cpu");
  private static final long PERIOD_US = 100_000;

  private final Path mount;
  private final Path base;
  private final TreeSet<String> enabled;

  private CgroupsV2(Path mount, Path base, TreeSet<String> enabled) {
    this.mount = mount;
    this.base = base;
    this.enabled = enabled;
  }

  /**
   * Ours are made below the root of the hierarchy, if the root is mounted. In a container or under
   * a service manager they are made below our own cgroup, which must be delegated to us and contain
   * no other processes, since a cgroup with processes cannot pass on controllers.
   */
  static Cgroups at(Path mount, String own) {
    boolean isRoot = !Files.exists(mount.resolve("cgroup.type"));
    Path base = isRoot ? mount : mount.resolve(ownPath(own));
    if (!Files.isWritable(base.resolve("cgroup.subtree_control"))) {
      return new CgroupsNone();
    }
    try {
      if (!isRoot) {
        leaveTo(base.resolve(PARENT + "-self"), base);
      }
      enable(base);
      Path parent = base.resolve(PARENT);
      ControlFiles.makeDirectory(parent);
      enable(parent);
      return new CgroupsV2(mount, base, words(parent.resolve("cgroup.subtree_control")));
    } catch (WritException e) {
      return new CgroupsNone();
    }
  }

  /** The path in the line {@code 0::/path}, relative to the mount. */
  private static String ownPath(String own) {
    for (String line : own.split("\n")) {
      if (line.startsWith("0::/")) {
        return line.substring("0::/".length()).strip();
      }
    }
    return "";
  }

  private static void leaveTo(Path leaf, Path base) {
    String processes = ControlFiles.read(base.resolve("cgroup.procs")).orElse("").strip();
    String self = Long.toString(ProcessHandle.current().pid());
    if (processes.equals(self)) {
      ControlFiles.makeDirectory(leaf);
      ControlFiles.write(leaf.resolve("cgroup.procs"), self);
    }
  }

  private static void enable(Path directory) {
    TreeSet<String> there = words(directory.resolve("cgroup.controllers"));
    there.retainAll(WANTED);
    there.removeAll(words(directory.resolve("cgroup.subtree_control")));
    for (String controller : there) {
      ControlFiles.write(directory.resolve("cgroup.subtree_control"), "+" + controller);
    }
  }

  private static TreeSet<String> words(Path file) {
    TreeSet<String> words = new TreeSet<>();
    Arrays.stream(ControlFiles.read(file).orElse("").strip().split(" "))
        .filter(word -> !word.isEmpty())
        .forEach(words::add);
    return words;
  }

  @Override
  public String describe() {
    return "cgroup v2 (" + String.join(", ", enabled) + ") below " + base;
  }

  @Override
  public int version() {
    return 2;
  }

  @Override
  public boolean limitsMemory() {
    return enabled.contains("memory");
  }

  @Override
  public boolean limitsPids() {
    return enabled.contains("pids");
  }

  @Override
  public boolean limitsCpu() {
    return enabled.contains("cpu");
  }

  @Override
  public boolean measures() {
    return true;
  }

  @Override
  public Cgroup create(String name, CgroupLimits limits) {
    Path directory = directory(name);
    ControlFiles.makeDirectory(directory);
    if (limitsMemory()) {
      ControlFiles.write(directory.resolve("memory.max"), Long.toString(limits.memoryBytes()));
      if (Files.exists(directory.resolve("memory.swap.max"))) {
        ControlFiles.write(directory.resolve("memory.swap.max"), "0");
      }
    }
    if (limitsPids()) {
      ControlFiles.write(directory.resolve("pids.max"), Long.toString(limits.pids()));
    }
    if (limitsCpu()) {
      ControlFiles.write(
          directory.resolve("cpu.max"), limits.cpuMilli() * PERIOD_US / 1_000 + " " + PERIOD_US);
    }
    return existing(name);
  }

  @Override
  public Cgroup existing(String name) {
    Path directory = directory(name);
    Optional<Path> kill = Optional.of(directory.resolve("cgroup.kill")).filter(Files::exists);
    return new Cgroup(
        name, List.of(directory), kill, Optional.of(freezer(directory)), () -> counters(directory));
  }

  private static Freezer freezer(Path directory) {
    return new Freezer(directory.resolve("cgroup.freeze"), "1", "0");
  }

  @Override
  public Cgroup ofProcess(String text) {
    String path = Cgroups.paths(text).getOrDefault("", "");
    Path directory = mount.resolve(path);
    return new Cgroup(
        path,
        List.of(directory),
        Optional.empty(),
        Optional.of(freezer(directory)),
        new Cgroup.Reader() {
          @Override
          public Counters read() {
            return counters(directory);
          }

          @Override
          public List<String> wrong(CgroupLimits limits) {
            return wrongLimits(directory, limits);
          }
        });
  }

  private static List<String> wrongLimits(Path directory, CgroupLimits limits) {
    List<String> wrong = new ArrayList<>();
    long bytes = ControlFiles.number(directory.resolve("memory.max"));
    if (bytes <= 0 || bytes > limits.memoryBytes()) {
      wrong.add("memory.max is " + bytes);
    }
    Path swap = directory.resolve("memory.swap.max");
    if (Files.exists(swap) && !ControlFiles.read(swap).orElse("").strip().equals("0")) {
      wrong.add("memory.swap.max is not 0");
    }
    if (ControlFiles.number(directory.resolve("pids.max")) != limits.pids()) {
      wrong.add("pids.max is not " + limits.pids());
    }
    String[] cpu =
        ControlFiles.read(directory.resolve("cpu.max")).orElse("max 0").strip().split(" ");
    boolean shared =
        cpu.length == 2
            && cpu[0].matches("[0-9]{1,12}")
            && cpu[1].matches("[0-9]{1,12}")
            && Long.parseLong(cpu[0]) * 1_000 <= limits.cpuMilli() * Long.parseLong(cpu[1]);
    if (!shared) {
      wrong.add("cpu.max is " + String.join(" ", cpu));
    }
    return wrong;
  }

  private static Counters counters(Path directory) {
    return new Counters(
        ControlFiles.number(directory.resolve("cpu.stat"), "usage_usec") / 1_000,
        ControlFiles.number(directory.resolve("memory.peak")),
        ControlFiles.number(directory.resolve("memory.events"), "oom_kill"),
        ControlFiles.number(directory.resolve("pids.events"), "max"),
        ControlFiles.number(directory.resolve("pids.peak")),
        0);
  }

  @Override
  public List<String> names() {
    return Cgroups.namesBelow(List.of(base.resolve(PARENT)));
  }

  private Path directory(String name) {
    return base.resolve(PARENT).resolve(name);
  }
}
