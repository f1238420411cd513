package dev.writ.sandbox.engine;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.Modes;
import dev.writ.sandbox.host.Mounts;
import dev.writ.sandbox.host.ShellScript;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes the command line of bubblewrap. The shell joins the cgroup and sets the process limits,
 * {@code setpriv} changes to a user id of our range and drops root's privileges, and only then
 * bubblewrap starts, unprivileged: if it ran as root, its programs would keep root's user id.
 */
final class Bubblewrap implements Launcher {
  private final Path bwrap;
  private final Path setpriv;
  private final Forwarder forwarder;

  Bubblewrap(Path bwrap, Path setpriv, Forwarder forwarder) {
    this.bwrap = bwrap;
    this.setpriv = setpriv;
    this.forwarder = forwarder;
  }

  @Override
  public ShellScript script(Confinement c) {
    ShellScript script = new ShellScript();
    c.cgroup()
        .ifPresent(cgroup ->
            cgroup
                .joinFiles()
                .forEach(file -> script.line("echo 0 >" + ShellScript.quoted(file.toString()))));
    // Options go through a file, since every user of the host can read a command line.
    Path options = c.directory().resolve("options");
    try {
      Modes.writePrivate(options, bytes(options(c)));
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "a command cannot be prepared", e);
    }
    script.line("exec 7<" + ShellScript.quoted(options.toString()));
    script.line("exec 8>" + ShellScript.quoted(c.statusFile().toString()));
    script.line("exec 9<" + ShellScript.quoted(c.state().seccomp(c.rules()).toString()));
    limits(script, c);
    List<String> argv = new ArrayList<>();
    if (c.host().root() && c.host().pipesCores()) {
      // prlimit, because the shell counts in blocks and cannot set one byte.
      String core = Long.toString(Confinement.CORE_BYTES);
      argv.addAll(List.of("/usr/bin/prlimit", "--core=" + core + ":" + core));
    }
    if (c.command().reproducible().isPresent()) {
      argv.addAll(List.of("/usr/bin/setarch", "-R"));
    }
    if (c.host().root()) {
      argv.addAll(Privileges.drop(setpriv, c.uid()));
    }
    argv.addAll(List.of(bwrap.toString(), "--args", "7", "--"));
    argv.addAll(c.command().argv());
    if (c.proxySocket().isEmpty()) {
      return script.exec(argv);
    }
    return forwarder.wrap(script, c, argv);
  }

  /** The status file holds the exit code of the command, unless bubblewrap could not start it. */
  @Override
  public boolean ran(String status) {
    return status.contains("\"exit-code\"");
  }

  /** Limits of each process; the cgroup limits the whole tree. */
  private static void limits(ShellScript script, Confinement c) {
    CgroupLimits limits = c.command().limits();
    script.line("ulimit -c 0");
    script.line("ulimit -l 64");
    script.line("ulimit -n " + limits.openFiles());
    script.line("ulimit -f " + limits.fileBytes() / 512);
    // A fallback: normally we watch the processor time of the tree. The signal of the soft limit
    // tells the reason.
    script.line("ulimit -S -t " + c.backstopS());
    script.line("ulimit -H -t " + (c.backstopS() + 1));
    if (c.cgroup().isEmpty()) {
      // Of what a process can write to; browsers and runtimes reserve far more of its addresses.
      script.line("ulimit -d " + Math.max(limits.memoryBytes() / 1_024, 1 << 20));
    }
    script.line("umask 022");
  }

  /** Each ends with a NUL byte. */
  private static byte[] bytes(List<String> options) {
    return (String.join("\0", options) + "\0").getBytes(StandardCharsets.UTF_8);
  }

  private static List<String> options(Confinement c) throws IOException {
    List<String> line = new ArrayList<>();
    line.addAll(List.of("--unshare-all", "--unshare-user"));
    if (c.proxySocket().isPresent()) {
      line.add("--share-net"); // only the namespace with the forwarder
    }
    String inside = Integer.toString(Confinement.INSIDE);
    line.addAll(List.of("--uid", inside, "--gid", inside, "--disable-userns"));
    line.addAll(List.of("--die-with-parent", "--new-session", "--cap-drop", "ALL"));
    line.addAll(List.of("--hostname", "sandbox", "--clearenv"));
    c.environment().forEach((name, value) -> line.addAll(List.of("--setenv", name, value)));
    line.addAll(List.of("--proc", "/proc", "--dev", "/dev"));
    line.addAll(c.host().root() ? ownMounts(c) : withoutOwnMounts(c));
    line.addAll(List.of("--remount-ro", "/dev", "--perms", "0755", "--dir", "/etc"));
    c.view().forEach(mounted -> line.addAll(option(c, mounted)));
    // Process 1 closes its descriptors, the host's /proc among them, only when the command may run
    // already: for that moment "/proc/1/fd/3/.." was the root of the host.
    for (String open : List.of("/proc/1/fd", "/proc/1/task/1/fd")) {
      line.addAll(List.of("--ro-bind", c.state().empty().toString(), open));
    }
    // Otherwise the sandbox's user could change settings for message queues and the like.
    line.addAll(List.of("--ro-bind", "/proc/sys", "/proc/sys"));
    line.addAll(List.of("--chdir", c.command().directory(), "--remount-ro", "/"));
    line.addAll(List.of("--seccomp", "9", "--json-status-fd", "8"));
    return line;
  }

  /** Mounts for which bubblewrap has no options: noexec, and a limit on terminals. */
  private static List<String> ownMounts(Confinement c) throws IOException {
    Path shm = c.directory().resolve("shm");
    Modes.makeDirectory(shm, Modes.PRIVATE);
    Mounts.tmpfs(shm, c.profile().shmBytes(), "1777", c.uid(), c.runsFromTmp());
    Path pts = c.directory().resolve("pts");
    Modes.makeDirectory(pts, Modes.PRIVATE);
    Mounts.terminals(pts, Confinement.TERMINALS);
    return List.of("--bind", shm.toString(), "/dev/shm", "--dev-bind", pts.toString(), "/dev/pts");
  }

  private static List<String> withoutOwnMounts(Confinement c) {
    String bytes = Long.toString(c.profile().shmBytes());
    List<String> line = new ArrayList<>();
    line.addAll(List.of("--size", bytes, "--perms", "1777", "--tmpfs", "/dev/shm"));
    line.addAll(List.of("--size", "4096", "--perms", "0555", "--tmpfs", "/dev/pts"));
    line.addAll(List.of("--remount-ro", "/dev/pts"));
    return line;
  }

  private static List<String> option(Confinement c, Mounted mounted) {
    return switch (mounted) {
      case Mounted.ReadOnly m -> List.of("--ro-bind", m.source().toString(), m.target());
      case Mounted.Writable m -> List.of("--bind", m.source().toString(), m.target());
      case Mounted.Link m -> List.of("--symlink", m.to(), m.target());
      case Mounted.Hidden m -> {
        boolean directory = Files.isDirectory(Path.of(m.target()));
        String nothing = directory ? c.state().empty().toString() : "/dev/null";
        yield List.of("--ro-bind", nothing, m.target());
      }
      // Nothing is written there: a directory on the read-only root is enough.
      case Mounted.Memory m when m.target().equals("/run") ->
          List.of("--perms", m.mode(), "--dir", m.target());
      case Mounted.Memory m ->
          List.of("--size", Long.toString(m.bytes()), "--perms", m.mode(), "--tmpfs", m.target());
    };
  }
}
