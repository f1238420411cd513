package dev.writ.sandbox.engine;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.Modes;
import dev.writ.sandbox.host.Mounts;
import dev.writ.sandbox.host.ShellScript;
import dev.writ.sandbox.seccomp.OciSeccomp;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Writes an OCI bundle (runtime-spec 1.0.2) and the command line of runc. Root of the container's
 * user namespace is an unprivileged user id; programs run as another one. The cgroup is made by us,
 * not by the runtime, which would delete it before its counters are read.
 */
final class Runc implements Launcher {
  private final Path runc;
  private final Path init;
  private final Path setpriv;
  private final Forwarder forwarder;

  /**
   * @param init a static program that runs as process 1, forwards signals and reaps; as process 1
   *     itself, a program without a handler would ignore TERM
   */
  Runc(Path runc, Path init, Path setpriv, Forwarder forwarder) {
    this.runc = runc;
    this.init = init;
    this.setpriv = setpriv;
    this.forwarder = forwarder;
  }

  @Override
  public ShellScript script(Confinement c) {
    Path bundle = c.directory().resolve("bundle");
    try {
      Modes.makeDirectory(bundle, Modes.PRIVATE);
      Modes.writePrivate(bundle.resolve("config.json"), Jcs.write(config(c)));
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "cannot write a bundle", e);
    }
    ShellScript script = new ShellScript();
    List<String> argv = new ArrayList<>();
    if (c.command().reproducible().isPresent()) {
      argv.addAll(List.of("/usr/bin/setarch", "-R"));
    }
    // runc is killed with this process, but does not end the container then; a later sweep kills
    // that by its cgroup.
    argv.addAll(List.of(setpriv.toString(), "--pdeathsig", "KILL"));
    argv.addAll(
        List.of(
            runc.toString(),
            "--root",
            c.state().runtime().toString(),
            "run",
            "--keep",
            "--pid-file",
            c.statusFile().toString(),
            "--bundle",
            bundle.toString(),
            c.containerId()));
    return c.proxySocket().isEmpty() ? script.exec(argv) : forwarder.wrap(script, c, argv);
  }

  /** The file contains the process's number once the container was created. */
  @Override
  public boolean ran(String status) {
    return !status.isEmpty();
  }

  private JsonValue.Obj config(Confinement c) {
    JsonValue.Obj root =
        JsonValue.object()
            .put("path", c.state().roots().of(c.view()).toString())
            .put("readonly", true)
            .build();
    return JsonValue.object()
        .put("ociVersion", "1.0.2")
        .put("process", process(c))
        .put("root", root)
        .put("hostname", "sandbox")
        .put("mounts", JsonValue.of(mounts(c)))
        .put("linux", linux(c))
        .build();
  }

  private JsonValue.Obj process(Confinement c) {
    List<String> args = new ArrayList<>(List.of("/run/init", "--"));
    args.addAll(c.command().argv());
    List<String> environment = new ArrayList<>();
    c.environment().forEach((name, value) -> environment.add(name + "=" + value));
    CgroupLimits limits = c.command().limits();
    JsonValue.Obj none =
        JsonValue.object()
            .put("bounding", JsonValue.of(List.of()))
            .put("effective", JsonValue.of(List.of()))
            .put("inheritable", JsonValue.of(List.of()))
            .put("permitted", JsonValue.of(List.of()))
            .put("ambient", JsonValue.of(List.of()))
            .build();
    return JsonValue.object()
        .put("terminal", false)
        .put(
            "user",
            JsonValue.object()
                .put("uid", Confinement.INSIDE)
                .put("gid", Confinement.INSIDE)
                .put("umask", 022)
                .build())
        .putList("args", args, JsonValue::of)
        .putList("env", environment, JsonValue::of)
        .put("cwd", c.command().directory())
        .put("capabilities", none)
        .put("noNewPrivileges", true)
        .put(
            "rlimits",
            JsonValue.of(
                List.of(
                    limit("RLIMIT_CORE", Confinement.CORE_BYTES),
                    limit("RLIMIT_MEMLOCK", 65_536),
                    limit("RLIMIT_NOFILE", limits.openFiles()),
                    limit("RLIMIT_FSIZE", limits.fileBytes()),
                    limit("RLIMIT_CPU", c.backstopS(), c.backstopS() + 1))))
        .build();
  }

  private static JsonValue limit(String type, long value) {
    return limit(type, value, value);
  }

  private static JsonValue limit(String type, long soft, long hard) {
    return JsonValue.object().put("type", type).put("hard", hard).put("soft", soft).build();
  }

  private List<JsonValue> mounts(Confinement c) {
    Predicate<Path> noexec = Mounts.noexec();
    List<JsonValue> mounts = new ArrayList<>();
    mounts.add(mount("/proc", "proc", "proc", List.of("nosuid", "nodev", "noexec")));
    mounts.add(tmpfs("/dev", 65_536, "755", List.of("noexec")));
    mounts.add(
        mount(
            "/dev/pts",
            "devpts",
            "devpts",
            List.of(
                "nosuid",
                "noexec",
                "newinstance",
                "ptmxmode=0666",
                "mode=0620",
                "max=" + Confinement.TERMINALS)));
    List<String> plain = List.of("nodev", "noexec");
    mounts.add(
        tmpfs(
            "/dev/shm",
            c.profile().shmBytes(),
            "1777",
            c.runsFromTmp() ? List.of("nodev") : plain));
    for (Mounted mounted : c.view()) {
      switch (mounted) {
        case Mounted.ReadOnly m ->
            // In a user namespace noexec mounts must stay noexec.
            mounts.add(
                bind(
                    m.source(),
                    m.target(),
                    noexec.test(m.source())
                        ? List.of("ro", "nosuid", "nodev", "noexec")
                        : List.of("ro", "nosuid", "nodev")));
        case Mounted.Writable m ->
            mounts.add(
                bind(
                    m.source(),
                    m.target(),
                    m.exec() && !noexec.test(m.source())
                        ? List.of("nosuid", "nodev")
                        : List.of("nosuid", "nodev", "noexec")));
        case Mounted.Memory m -> mounts.add(tmpfs(m.target(), m.bytes(), m.mode(), plain));
        case Mounted.Link _, Mounted.Hidden _ -> {
          continue; // already in the root directory
        }
      }
      if (mounted.target().equals("/run")) {
        mounts.add(bind(init, "/run/init", List.of("ro", "nosuid", "nodev")));
      }
    }
    return mounts;
  }

  private static JsonValue tmpfs(String target, long bytes, String mode, List<String> further) {
    List<String> options = new ArrayList<>(List.of("nosuid", "mode=" + mode, "size=" + bytes));
    options.add("nr_inodes=" + Mounts.inodes(bytes));
    options.addAll(further);
    return mount(target, "tmpfs", "tmpfs", options);
  }

  private static JsonValue bind(Path source, String target, List<String> options) {
    List<String> all = new ArrayList<>(List.of("bind"));
    all.addAll(options);
    return mount(target, "bind", source.toString(), all);
  }

  private static JsonValue mount(String target, String type, String source, List<String> options) {
    return JsonValue.object()
        .put("destination", target)
        .put("type", type)
        .put("source", source)
        .putList("options", options, JsonValue::of)
        .build();
  }

  private static JsonValue.Obj linux(Confinement c) {
    List<JsonValue> ids = List.of(mapping(0, c.uid() + 1), mapping(Confinement.INSIDE, c.uid()));
    List<String> namespaces =
        new ArrayList<>(List.of("pid", "ipc", "uts", "mount", "user", "cgroup"));
    if (c.proxySocket().isEmpty()) {
      namespaces.add("network");
    }
    List<String> masked =
        c.view().stream().filter(Mounted.Hidden.class::isInstance).map(Mounted::target).toList();
    var linux =
        JsonValue.object()
            .put("uidMappings", JsonValue.of(ids))
            .put("gidMappings", JsonValue.of(ids))
            .putList("namespaces", namespaces, n -> JsonValue.object().put("type", n).build())
            .putList("maskedPaths", masked, JsonValue::of)
            .putList(
                "readonlyPaths",
                List.of("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys"),
                JsonValue::of)
            .put("seccomp", OciSeccomp.of(c.host().architecture(), c.rules()))
            .put("resources", JsonValue.object().put("devices", devices()).build());
    c.cgroup().ifPresent(cgroup -> linux.put("cgroupsPath", cgroup.path()));
    return linux.build();
  }

  private static JsonValue devices() {
    return JsonValue.of(
        List.of(JsonValue.object().put("allow", false).put("access", "rwm").build()));
  }

  private static JsonValue mapping(long inside, long outside) {
    return JsonValue.object()
        .put("containerID", inside)
        .put("hostID", outside)
        .put("size", 1)
        .build();
  }
}
