package dev.writ.sandbox.engine;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.docker.Service;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * The requests to a docker or podman service for one command: the container, whose first process
 * only waits, and the command as a second process in it. The result is not trusted but checked by
 * {@link ContainerProof}.
 */
final class ContainerConfig {
  /**
   * The label that says to which state directory a container belongs: its value is that directory's
   * id.
   */
  static final String LABEL = "dev.writ.state";

  private static final long PERIOD_US = 100_000;

  /**
   * Covered, since programs under the other engines do not see them either; and terminals, whose
   * number a service cannot limit.
   */
  static final List<String> COVERED = List.of("/sys", "/dev/pts");

  /** Files that both services hide by default; docker stops hiding them if it is given a list. */
  private static final List<String> ALWAYS_HIDDEN =
      List.of(
          "/proc/acpi",
          "/proc/kcore",
          "/proc/keys",
          "/proc/latency_stats",
          "/proc/sched_debug",
          "/proc/scsi",
          "/proc/timer_list",
          "/proc/timer_stats");

  private final Service service;
  private final Path init;
  private final Confinement c;

  ContainerConfig(Service service, Path init, Confinement c) {
    this.service = service;
    this.init = init;
    this.c = c;
  }

  /**
   * @param image id of the image of its root
   * @param seccomp the filter, as the service wants it
   */
  JsonValue.Obj container(String image, String seccomp) {
    return JsonValue.object()
        .put("Image", image)
        .put("Hostname", "sandbox")
        .put("User", user())
        .putList("Entrypoint", List.of("/run/init", "-P"), JsonValue::of)
        .put("Cmd", JsonValue.of(List.of()))
        .put("Env", JsonValue.of(List.of()))
        .put("WorkingDir", "/")
        .put("NetworkDisabled", true)
        .put("Labels", JsonValue.object().put(LABEL, c.state().id()).build())
        .put(
            "Healthcheck",
            JsonValue.object().putList("Test", List.of("NONE"), JsonValue::of).build())
        .put("HostConfig", host(seccomp))
        .build();
  }

  private String user() {
    return c.uid() + ":" + c.uid();
  }

  private JsonValue.Obj host(String seccomp) {
    CgroupLimits limits = c.command().limits();
    TreeMap<String, String> memory = new TreeMap<>();
    // Otherwise podman mounts one without a limit if the root is read-only.
    memory.put("/var/tmp", "rw,nosuid,nodev,noexec,size=4096,mode=0755");
    List<JsonValue> binds = new ArrayList<>();
    List<String> hidden = new ArrayList<>(COVERED);
    for (Mounted mounted : c.view()) {
      switch (mounted) {
        case Mounted.ReadOnly m -> binds.add(bind(m.source(), m.target(), true));
        case Mounted.Writable m -> binds.add(bind(m.source(), m.target(), false));
        case Mounted.Memory m ->
            memory.put(
                m.target(), "rw,nosuid,nodev,noexec,size=" + m.bytes() + ",mode=" + m.mode());
        case Mounted.Hidden m -> hidden.add(m.target());
        case Mounted.Link _ -> {
          continue; // in the image
        }
      }
    }
    binds.add(bind(init, "/run/init", true));
    if (!service.podman()) {
      // Otherwise docker copies the host's file, with the host's name servers.
      binds.add(bind(c.state().etc().resolve("resolv.conf"), "/etc/resolv.conf", true));
    }
    ObjectBuilder tmpfs = JsonValue.object();
    memory.forEach(tmpfs::put);
    return JsonValue.object()
        .put("NetworkMode", "none")
        .put("IpcMode", "private")
        .put("CgroupnsMode", "private")
        .put("ReadonlyRootfs", true)
        .putList("CapDrop", List.of("ALL"), JsonValue::of)
        .putList("SecurityOpt", security(seccomp, hidden), JsonValue::of)
        .putList("MaskedPaths", masked(hidden), JsonValue::of)
        .put("Memory", c.host().cgroups().memoryBytes(limits))
        .put("MemorySwap", c.host().cgroups().memoryBytes(limits))
        .put("PidsLimit", limits.pids())
        .put("CpuPeriod", PERIOD_US)
        .put("CpuQuota", limits.cpuMilli() * PERIOD_US / 1_000)
        .put("ShmSize", c.profile().shmBytes())
        .put("Ulimits", JsonValue.of(ulimits(limits)))
        .put("LogConfig", JsonValue.object().put("Type", "none").build())
        .put("Mounts", JsonValue.of(binds))
        .put("Tmpfs", tmpfs.build())
        .build();
  }

  private List<String> security(String seccomp, List<String> hidden) {
    List<String> options = new ArrayList<>(List.of("no-new-privileges", "seccomp=" + seccomp));
    if (service.podman()) {
      options.add("mask=" + String.join(":", hidden));
    }
    return options;
  }

  private static List<String> masked(List<String> hidden) {
    List<String> all = new ArrayList<>(ALWAYS_HIDDEN);
    all.addAll(hidden);
    return all.stream().distinct().sorted().toList();
  }

  /**
   * Limits of each process. The number of processes of a user id is limited by the cgroup first.
   */
  private List<JsonValue> ulimits(CgroupLimits limits) {
    return List.of(
        ulimit("core", Confinement.CORE_BYTES),
        ulimit("cpu", c.backstopS(), c.backstopS() + 1),
        ulimit("fsize", limits.fileBytes()),
        ulimit("memlock", 65_536),
        ulimit("nofile", limits.openFiles()),
        ulimit("nproc", limits.pids() + 64));
  }

  private static JsonValue ulimit(String name, long value) {
    return ulimit(name, value, value);
  }

  private static JsonValue ulimit(String name, long soft, long hard) {
    return JsonValue.object().put("Name", name).put("Soft", soft).put("Hard", hard).build();
  }

  private static JsonValue bind(Path source, String target, boolean readOnly) {
    return JsonValue.object()
        .put("Type", "bind")
        .put("Source", source.toString())
        .put("Target", target)
        .put("ReadOnly", readOnly)
        .put("BindOptions", JsonValue.object().put("Propagation", "rprivate").build())
        .build();
  }

  /** The command, as a second process of the container. */
  JsonValue.Obj process() {
    List<String> environment = new ArrayList<>();
    c.environment().forEach((name, value) -> environment.add(name + "=" + value));
    return JsonValue.object()
        .put("AttachStdin", c.feeds())
        .put("AttachStdout", true)
        .put("AttachStderr", true)
        .put("Tty", false)
        .put("User", user())
        .put("WorkingDir", c.command().directory())
        .putList("Cmd", c.command().argv(), JsonValue::of)
        .putList("Env", environment, JsonValue::of)
        .build();
  }
}
