package dev.writ.sandbox.cgroup;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;

/** Version 1, with or without an additional version 2 hierarchy. */
final class CgroupsV1 implements Cgroups {
  /** Controllers that limit or measure; OCI runtimes make directories in further ones. */
  static final List<String> CONTROLLERS =
      List.of(
          "memory",
          "pids",
          "cpu",
          "cpuacct",
          "freezer",
          "devices",
          "blkio",
          "cpuset",
          "hugetlb",
          "net_cls",
          "net_prio",
          "perf_event",
          "name=systemd");

  private static final long PERIOD_US = 100_000;

  /** Despite its name, of UDP too. */
  private static final String SOCKETS_LIMIT = "memory.kmem.tcp.limit_in_bytes";

  private final SortedMap<String, Path> controllers;
  private final Optional<Path> unified;
  private final String parent;

  private CgroupsV1(SortedMap<String, Path> controllers, Optional<Path> unified, String parent) {
    this.controllers = controllers;
    this.unified = unified;
    this.parent = parent;
  }

  /**
   * As root below {@code writ} in each hierarchy; as another user below {@code writ-UID}, in those
   * hierarchies in which an administrator made that directory and gave it to the user.
   */
  static Cgroups at(TreeMap<String, Path> found, Optional<Path> unified, long uid) {
    if (Files.isWritable(found.get("memory"))) {
      return new CgroupsV1(new TreeMap<>(found), unified, PARENT);
    }
    String parent = PARENT + "-" + uid;
    TreeMap<String, Path> delegated = new TreeMap<>(found);
    delegated.values().removeIf(mount -> !Files.isWritable(mount.resolve(parent)));
    // The version 2 hierarchy is not used: only root can move a process into it from outside the
    // user's own part.
    return delegated.containsKey("memory")
        ? new CgroupsV1(delegated, Optional.empty(), parent)
        : new CgroupsNone();
  }

  @Override
  public String describe() {
    return "cgroup v1 ("
        + String.join(", ", controllers.keySet())
        + ")"
        + (unified.isPresent() ? " with a v2 hierarchy beside it" : "")
        + (parent.equals(PARENT) ? "" : " below " + parent + ", which is ours");
  }

  @Override
  public int version() {
    return 1;
  }

  @Override
  public boolean limitsMemory() {
    return Files.exists(controllers.get("memory").resolve(SOCKETS_LIMIT));
  }

  @Override
  public boolean limitsPids() {
    return controllers.containsKey("pids");
  }

  @Override
  public boolean limitsCpu() {
    return controllers.containsKey("cpu") && measures();
  }

  @Override
  public boolean measures() {
    return unified.isPresent() || controllers.containsKey("cpuacct");
  }

  @Override
  public Cgroup create(String name, CgroupLimits limits) {
    List<Path> joined = new ArrayList<>();
    Path memory = make(joined, "memory", name);
    limitSockets(memory, limits);
    String bytes = Long.toString(memoryBytes(limits));
    ControlFiles.write(memory.resolve("memory.limit_in_bytes"), bytes);
    // Memory with swap must not be less than memory, so it comes second.
    if (Files.exists(memory.resolve("memory.memsw.limit_in_bytes"))) {
      ControlFiles.write(memory.resolve("memory.memsw.limit_in_bytes"), bytes);
    }
    if (controllers.containsKey("pids")) {
      Path pids = make(joined, "pids", name);
      ControlFiles.write(pids.resolve("pids.max"), Long.toString(limits.pids()));
    }
    if (controllers.containsKey("cpu")) {
      Path cpu = make(joined, "cpu", name);
      ControlFiles.write(cpu.resolve("cpu.cfs_period_us"), Long.toString(PERIOD_US));
      ControlFiles.write(
          cpu.resolve("cpu.cfs_quota_us"), Long.toString(limits.cpuMilli() * PERIOD_US / 1_000));
    }
    if (unified.isPresent()) {
      Path directory = below(unified.get(), name);
      ControlFiles.makeDirectory(directory);
      joined.add(directory);
    } else if (controllers.containsKey("cpuacct")) {
      make(joined, "cpuacct", name);
    }
    return cgroup(name, joined);
  }

  /** Must be set before its first socket is made: an existing socket is never counted. */
  private static void limitSockets(Path memory, CgroupLimits limits) {
    ControlFiles.write(memory.resolve(SOCKETS_LIMIT), Long.toString(socketBytes(limits)));
  }

  /** A sixteenth of the memory is for sockets. */
  static long socketBytes(CgroupLimits limits) {
    return limits.memoryBytes() / 16;
  }

  @Override
  public long memoryBytes(CgroupLimits limits) {
    return limits.memoryBytes() - socketBytes(limits);
  }

  private Path make(List<Path> joined, String controller, String name) {
    Path directory = below(controllers.get(controller), name);
    ControlFiles.makeDirectory(directory);
    if (!joined.contains(directory)) { // cpu and cpuacct are often one
      joined.add(directory);
    }
    return directory;
  }

  @Override
  public Cgroup existing(String name) {
    return cgroup(name, parents().stream().map(place -> place.resolve(name)).toList());
  }

  private Cgroup cgroup(String name, List<Path> directories) {
    Optional<Path> kill =
        unified.map(u -> below(u, name).resolve("cgroup.kill")).filter(Files::exists);
    return new Cgroup(
        name,
        directories,
        kill,
        Optional.empty(),
        () ->
            counters(
                controller -> below(controllers.get(controller), name),
                unified.map(u -> below(u, name))));
  }

  @Override
  public Cgroup ofProcess(String text) {
    TreeMap<String, String> paths = Cgroups.paths(text);
    TreeMap<String, Path> directories = new TreeMap<>();
    controllers.forEach((controller, mount) -> {
      if (paths.containsKey(controller)) {
        directories.put(controller, mount.resolve(paths.get(controller)));
      }
    });
    if (!directories.containsKey("memory")) {
      return new CgroupsNone().existing("");
    }
    Optional<Freezer> freezer =
        Optional.ofNullable(directories.get("freezer"))
            .map(d -> new Freezer(d.resolve("freezer.state"), "FROZEN", "THAWED"));
    // The version 2 hierarchy counts only if a runtime made a cgroup there: its root would count
    // all processes.
    Optional<Path> beside =
        unified.flatMap(
            u -> Optional.ofNullable(paths.get("")).filter(p -> !p.isEmpty()).map(u::resolve));
    return new Cgroup(
        paths.get("memory"),
        List.of(directories.get("memory")),
        Optional.empty(),
        freezer,
        new Cgroup.Reader() {
          @Override
          public Counters read() {
            return counters(directories::get, beside);
          }

          @Override
          public void limitSockets(CgroupLimits limits) {
            CgroupsV1.limitSockets(directories.get("memory"), limits);
          }

          @Override
          public List<String> wrong(CgroupLimits limits) {
            return wrongLimits(directories, limits);
          }
        });
  }

  private static List<String> wrongLimits(
      SortedMap<String, Path> directories, CgroupLimits limits) {
    List<String> wrong = new ArrayList<>();
    Path memory = directories.get("memory");
    for (String name : List.of("memory.limit_in_bytes", "memory.memsw.limit_in_bytes")) {
      if (Files.exists(memory.resolve(name))) {
        long bytes = ControlFiles.number(memory.resolve(name));
        if (bytes <= 0 || bytes > limits.memoryBytes()) {
          wrong.add(name + " is " + bytes);
        }
      }
    }
    long sockets = ControlFiles.number(memory.resolve(SOCKETS_LIMIT));
    if (sockets <= 0 || sockets > socketBytes(limits)) {
      wrong.add(SOCKETS_LIMIT + " is " + sockets);
    }
    Path pids = directories.getOrDefault("pids", memory).resolve("pids.max");
    if (ControlFiles.number(pids) != limits.pids()) {
      wrong.add("pids.max is " + ControlFiles.read(pids).orElse("not there").strip());
    }
    Path cpu = directories.getOrDefault("cpu", memory);
    long period = ControlFiles.number(cpu.resolve("cpu.cfs_period_us"));
    long quota = ControlFiles.number(cpu.resolve("cpu.cfs_quota_us"));
    if (period <= 0 || quota <= 0 || quota * 1_000 > limits.cpuMilli() * period) {
      wrong.add("cpu.cfs_quota_us is " + quota + " of " + period);
    }
    return wrong;
  }

  private Counters counters(Function<String, Path> place, Optional<Path> beside) {
    Path memory = place.apply("memory");
    Path pids = controllers.containsKey("pids") ? place.apply("pids") : memory;
    return new Counters(
        cpuMs(place, beside),
        ControlFiles.number(memory.resolve("memory.max_usage_in_bytes"))
            + ControlFiles.number(memory.resolve("memory.kmem.tcp.max_usage_in_bytes")),
        ControlFiles.number(memory.resolve("memory.oom_control"), "oom_kill"),
        ControlFiles.number(pids.resolve("pids.events"), "max"),
        ControlFiles.number(pids.resolve("pids.peak")),
        ControlFiles.number(memory.resolve("memory.kmem.tcp.usage_in_bytes")));
  }

  private long cpuMs(Function<String, Path> place, Optional<Path> beside) {
    if (beside.isPresent()) {
      return ControlFiles.number(beside.get().resolve("cpu.stat"), "usage_usec") / 1_000;
    }
    return controllers.containsKey("cpuacct")
        ? ControlFiles.number(place.apply("cpuacct").resolve("cpuacct.usage")) / 1_000_000
        : 0;
  }

  @Override
  public List<String> names() {
    return Cgroups.namesBelow(parents());
  }

  private List<Path> parents() {
    List<Path> parents = new ArrayList<>();
    controllers.values().forEach(mount -> parents.add(mount.resolve(parent)));
    unified.ifPresent(mount -> parents.add(mount.resolve(parent)));
    return parents.stream().distinct().toList();
  }

  private Path below(Path mount, String name) {
    return mount.resolve(parent).resolve(name);
  }
}
