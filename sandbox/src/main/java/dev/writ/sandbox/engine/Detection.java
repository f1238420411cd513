package dev.writ.sandbox.engine;

import dev.writ.sandbox.EngineReport;
import dev.writ.sandbox.EngineReport.Holding;
import dev.writ.sandbox.EngineReport.Missing;
import dev.writ.sandbox.Guarantee;
import dev.writ.sandbox.host.Host;
import dev.writ.sandbox.host.HostCommands;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** Finds the engines of this host, and which guarantees each can give. */
final class Detection {
  static final String BUBBLEWRAP = "bubblewrap";
  static final String RUNC = "runc";
  static final String DOCKER = "docker";

  private Detection() {}

  static EngineReport bubblewrap(Host host) {
    List<Missing> missing = new ArrayList<>();
    require(missing, "bwrap", "bubblewrap");
    require(missing, "setarch", "util-linux");
    if (host.root()) {
      require(missing, "setpriv", "util-linux");
    }
    TreeMap<Guarantee, Holding> holdings = common(host);
    if (missing.isEmpty()) {
      String refused = tryBubblewrap(host);
      if (!refused.isEmpty()) {
        Holding not = new Holding(false, refused);
        for (Guarantee one :
            List.of(Guarantee.NAMESPACES, Guarantee.READ_ONLY_ROOT, Guarantee.NO_NEW_USERNS)) {
          holdings.put(one, not);
        }
      }
    }
    return new EngineReport(BUBBLEWRAP, version("bwrap", "--version"), missing, holdings);
  }

  /** Whether this process can create user namespaces: a kernel or a container may forbid it. */
  private static String tryBubblewrap(Host host) {
    List<String> argv = new ArrayList<>();
    if (host.root()) {
      argv.addAll(Privileges.drop(HostCommands.find("setpriv").orElseThrow(), 65_534));
    }
    argv.add(HostCommands.find("bwrap").orElseThrow().toString());
    argv.addAll(List.of("--unshare-all", "--unshare-user", "--disable-userns"));
    // Not the whole host: a mount that is removed meanwhile would fail this.
    for (String needed : List.of("/usr", "/bin", "/lib", "/lib64")) {
      argv.addAll(List.of("--ro-bind-try", needed, needed));
    }
    argv.addAll(List.of("--", "/bin/echo", "ok"));
    String said = HostCommands.firstLine(argv.toArray(String[]::new));
    return said.equals("ok") ? "" : "user namespaces cannot be made here";
  }

  static EngineReport runc(Host host) {
    List<Missing> missing = new ArrayList<>();
    require(missing, "runc", "runc");
    require(missing, "catatonit", "catatonit");
    require(missing, "setpriv", "util-linux");
    require(missing, "setarch", "util-linux");
    TreeMap<Guarantee, Holding> holdings = common(host);
    if (!host.root()) {
      Holding not = new Holding(false, "runc is used as root only");
      for (Guarantee one : Guarantee.values()) {
        if (one.required()) {
          holdings.put(one, not);
        }
      }
    }
    String version = version("runc", "--version");
    List<String> advice = RuncFixes.missingIn(version).stream().toList();
    return new EngineReport(RUNC, version, missing, holdings, advice);
  }

  static void require(List<Missing> missing, String command, String packageName) {
    if (HostCommands.find(command).isEmpty()) {
      missing.add(new Missing(command, packageName));
    }
  }

  private static String version(String command, String option) {
    return HostCommands.find(command)
        .map(path -> HostCommands.firstLine(path.toString(), option))
        .map(line -> line.replaceAll("^[^0-9]*", ""))
        .orElse("");
  }

  /** Guarantees that depend on the host alone. */
  static TreeMap<Guarantee, Holding> common(Host host) {
    TreeMap<Guarantee, Holding> all = new TreeMap<>();
    String groups = host.cgroups().describe();
    all.put(Guarantee.NAMESPACES, new Holding(true, "mount, pid, ipc, uts, network, cgroup, user"));
    all.put(Guarantee.READ_ONLY_ROOT, new Holding(true, "bind mounts of what the profile names"));
    all.put(Guarantee.NO_CAPABILITIES, new Holding(true, "all dropped; no_new_privs"));
    all.put(Guarantee.NO_NEW_USERNS, new Holding(true, "max_user_namespaces, and seccomp"));
    all.put(Guarantee.SECCOMP, new Holding(true, "allow-list for " + host.architecture()));
    all.put(
        Guarantee.DISTINCT_UID,
        host.root()
            ? new Holding(true, "a user id for each, out of our range")
            : new Holding(false, "not root: all run as the user id " + host.uid()));
    boolean counted = host.uncountedMemory().isEmpty();
    all.put(
        Guarantee.MEMORY_LIMIT,
        held(
            host.cgroups().limitsMemory() && counted,
            counted ? groups : "the kernel was started with " + host.uncountedMemory(),
            host));
    all.put(Guarantee.PIDS_LIMIT, held(host.cgroups().limitsPids(), groups, host));
    all.put(Guarantee.CPU_LIMIT, held(host.cgroups().limitsCpu(), groups, host));
    all.put(Guarantee.MEASURED, held(host.cgroups().measures(), groups, host));
    all.put(
        Guarantee.DISK_LIMIT, held(host.root(), "size of tmpfs, or of an ext4 in a file", host));
    all.put(Guarantee.TMP_NOEXEC, held(host.root(), "tmpfs mounted noexec", host));
    boolean landlock = host.landlock() > 0;
    all.put(
        Guarantee.LANDLOCK,
        new Holding(
            landlock,
            landlock
                ? "version " + host.landlock() + " in the kernel; no rule of ours uses it"
                : "the kernel has none, or it is switched off"));
    all.put(
        Guarantee.APPARMOR,
        new Holding(
            host.apparmor(),
            host.apparmor() ? "in the kernel; no profile of ours" : "the kernel has none"));
    return all;
  }

  private static Holding held(boolean held, String how, Host host) {
    return new Holding(held, held || host.root() ? how : "not root; " + how);
  }

  static Forwarder forwarder() {
    Optional<Path> bwrap = HostCommands.find("bwrap");
    Optional<Path> setpriv = HostCommands.find("setpriv");
    return new Forwarder(
        bwrap.orElse(null),
        setpriv.orElse(null),
        bwrap.isPresent() && setpriv.isPresent() ? HostCommands.find("socat").orElse(null) : null);
  }

  /** Null if the engine is missing; it is never used then. */
  static Launcher launcher(EngineReport report, Forwarder forwarder) {
    if (!report.available()) {
      return null;
    }
    Path setpriv = HostCommands.find("setpriv").orElse(null);
    return report.name().equals(BUBBLEWRAP)
        ? new Bubblewrap(HostCommands.find("bwrap").orElseThrow(), setpriv, forwarder)
        : new Runc(
            HostCommands.find("runc").orElseThrow(),
            HostCommands.find("catatonit").orElseThrow(),
            setpriv,
            forwarder);
  }
}
