package dev.writ.sandbox.remote;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.SecretFile;
import dev.writ.sandbox.cgroup.CgroupLimits;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The volumes and the two containers of one command. {@code keep}, of the helper image, takes what
 * is sent and holds what is left; the command's container has its image, and as its first process a
 * script of ours that waits until it is told to go. Neither holds anything of the command but its
 * image and limits: arguments, environment, input and secrets are sent into the volumes.
 */
final class ContainerForms {
  /** The id of the installation's state directory. */
  static final String INSTALLATION = "dev.writ.state";

  /** Tells a creation whose answer was lost from another's. */
  static final String ATTEMPT = "dev.writ.attempt";

  static final String INTENT = "dev.writ.intent";

  /** Processes of ours beside the command's: the script, and what ends it at its deadline. */
  static final long OWN_PIDS = 4;

  /** The user and group of every process. */
  private static final String USER = "65534:65534";

  private static final long MIB = 1L << 20;
  private static final long BLOCK = 4_096;
  private static final long IN_BYTES = 128 * MIB;
  private static final long SECRET_BYTES = 16 * MIB;
  private static final long KEEP_BYTES = 64 * MIB;
  private static final long PERIOD_US = 100_000;

  /** Of every page size that Linux has, so that a kernel takes the number as it is. */
  private static final long PAGES = 65_536;

  /** Threads of all sandboxes of one host together, since all have one user id. */
  private static final long THREADS_OF_USER = 16_384;

  /** What may be needed, beside the start and the command, to fetch what it left. */
  private static final long FETCH_S = 300;

  private final Profile profile;
  private final CgroupLimits limits;
  private final long workspaceBytes;
  private final SortedMap<String, String> labels;
  private final String volumes;
  private final long deadlineS;

  /**
   * @param volumes what the names of its volumes begin with
   * @param startMs how long it may take until the command runs
   */
  ContainerForms(
      Profile profile,
      CgroupLimits limits,
      long workspaceBytes,
      Map<String, String> labels,
      String volumes,
      long startMs) {
    this.profile = profile;
    this.limits = limits;
    this.workspaceBytes = workspaceBytes;
    this.labels = new TreeMap<>(labels);
    this.volumes = volumes;
    this.deadlineS = (startMs + limits.wallMs() + limits.graceMs()) / 1_000 + FETCH_S;
  }

  /** The memory limit, as the kernel has it then. */
  long memoryBytes() {
    return limits.memoryBytes() / PAGES * PAGES;
  }

  long pids() {
    return limits.pids() + OWN_PIDS;
  }

  /** Blocks of the workspace's file system. */
  long workspaceBlocks() {
    return Math.max(1, workspaceBytes / BLOCK);
  }

  /** One volume. */
  private record Volume(String name, String there, boolean writable, long bytes, String options) {}

  /** All volumes; {@code keep} has each below {@code /pod}. */
  private List<Volume> volumes() {
    String program = profile.executablesListed() ? ",noexec" : "";
    return List.of(
        new Volume("bin", "/writ/bin", false, 8 * MIB, ""),
        new Volume("in", "/writ/in", false, IN_BYTES, ",noexec"),
        new Volume("out", "/writ/out", true, 2 * limits.fileBytes() + MIB, ",noexec"),
        new Volume("secrets", SecretFile.DIRECTORY, false, SECRET_BYTES, ",noexec"),
        new Volume("workspace", "/workspace", true, workspaceBlocks() * BLOCK, program));
  }

  List<String> volumeNames() {
    return volumes().stream().map(this::name).toList();
  }

  private String name(Volume volume) {
    return volumes + "-" + volume.name();
  }

  /** Volumes in memory, whose size is given in blocks: podman takes {@code size} for a quota. */
  List<JsonValue.Obj> volumeForms() {
    return volumes().stream()
        .map(volume ->
            JsonValue.object()
                .put("Name", name(volume))
                .put("Driver", "local")
                .put("Labels", labels())
                .put(
                    "DriverOpts",
                    JsonValue.object()
                        .put("type", "tmpfs")
                        .put("device", "tmpfs")
                        .put(
                            "o",
                            "nr_blocks="
                                + volume.bytes() / BLOCK
                                + ",uid=65534,gid=65534,mode=0700,nosuid,nodev"
                                + volume.options())
                        .build())
                .build())
        .toList();
  }

  private JsonValue.Obj labels() {
    ObjectBuilder all = JsonValue.object();
    labels.forEach(all::put);
    return all.build();
  }

  /**
   * @param helper id of the helper image
   */
  JsonValue.Obj keep(String helper) {
    String script =
        "trap 'exit 0' TERM; n=0; while [ $n -lt "
            + deadlineS
            + " ]; do /bin/busybox sleep 1 & wait $!; n=$((n + 1)); done";
    long held = volumes().stream().mapToLong(Volume::bytes).sum();
    return container(
        helper,
        "/bin/busybox",
        script,
        mounts(true),
        new Limits(KEEP_BYTES + held, 64, 1_000, BLOCK, 8 * MIB));
  }

  /**
   * @param image id of the command's image
   */
  JsonValue.Obj command(String image) {
    String script =
        """
        trap 'exit 143' TERM
        trap 'exit 137' USR1
        until [ -e /writ/in/now ]; do /writ/bin/busybox sleep 0.05; done
        /writ/bin/busybox mkdir /writ/out/ran || exit 126
        { /writ/bin/busybox sleep DEADLINE; kill -USR1 1; } &
        exec 9> /writ/out/counts
        trap 'COUNTS' EXIT
        . /writ/in/run
        """
            .replace("DEADLINE", Long.toString(deadlineS))
            .replace("COUNTS", ContainerScripts.COUNTS);
    return container(
        image,
        "/writ/bin/busybox",
        script,
        mounts(false),
        new Limits(
            memoryBytes(), pids(), limits.cpuMilli(), limits.tmpBytes(), profile.shmBytes()));
  }

  private record Limits(long memoryBytes, long pids, long cpuMilli, long tmpBytes, long shmBytes) {}

  private List<JsonValue> mounts(boolean keeps) {
    List<JsonValue> all = new ArrayList<>();
    for (Volume volume : volumes()) {
      all.add(
          JsonValue.object()
              .put("Type", "volume")
              .put("Source", name(volume))
              .put("Target", keeps ? "/pod/" + volume.name() : volume.there())
              .put("ReadOnly", !keeps && !volume.writable())
              .put("VolumeOptions", JsonValue.object().put("NoCopy", true).build())
              .build());
    }
    return all;
  }

  private JsonValue.Obj container(
      String image, String busybox, String script, List<JsonValue> mounts, Limits given) {
    String kind = profile.tmpExec() ? "rw,nosuid,nodev," : "rw,nosuid,nodev,noexec,";
    return JsonValue.object()
        .put("Image", image)
        .put("Hostname", "sandbox")
        .put("User", USER)
        .putList("Entrypoint", List.of(busybox), JsonValue::of)
        .putList("Cmd", List.of("sh", "-c", script), JsonValue::of)
        .put("Env", JsonValue.of(List.of()))
        .put("WorkingDir", "/")
        .put("NetworkDisabled", true)
        .put("Labels", labels())
        .put(
            "Healthcheck",
            JsonValue.object().putList("Test", List.of("NONE"), JsonValue::of).build())
        .put(
            "HostConfig",
            JsonValue.object()
                .put("NetworkMode", "none")
                .put("IpcMode", "private")
                .put("CgroupnsMode", "private")
                .put("ReadonlyRootfs", true)
                .putList("CapDrop", List.of("ALL"), JsonValue::of)
                .putList("SecurityOpt", List.of("no-new-privileges"), JsonValue::of)
                .put("Memory", given.memoryBytes())
                .put("MemorySwap", given.memoryBytes())
                .put("PidsLimit", given.pids())
                .put("CpuPeriod", PERIOD_US)
                .put("CpuQuota", given.cpuMilli() * PERIOD_US / 1_000)
                .put("ShmSize", given.shmBytes())
                .put("Ulimits", JsonValue.of(ulimits()))
                .put("LogConfig", JsonValue.object().put("Type", "none").build())
                .put("Mounts", JsonValue.of(mounts))
                .put(
                    "Tmpfs",
                    JsonValue.object()
                        .put("/run", "rw,nosuid,nodev,noexec,size=4096,mode=0755")
                        .put("/tmp", kind + "size=" + given.tmpBytes() + ",mode=1777")
                        .put("/var/tmp", "rw,nosuid,nodev,noexec,size=4096,mode=0755")
                        .build())
                .build())
        .build();
  }

  /** Those that a program may lower itself are set by the script that starts it. */
  private List<JsonValue> ulimits() {
    return List.of(
        ulimit("core", 0),
        ulimit("memlock", 65_536),
        ulimit("nofile", Math.max(1_024, limits.openFiles())),
        ulimit("nproc", THREADS_OF_USER));
  }

  private static JsonValue ulimit(String name, long value) {
    return JsonValue.object().put("Name", name).put("Soft", value).put("Hard", value).build();
  }
}
