package dev.writ.sandbox.engine;

import dev.writ.sandbox.Limits;
import dev.writ.sandbox.host.ShellScript;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes the command line of bubblewrap. The shell joins the cgroup and sets the limits of a
 * process, {@code setpriv} takes a user id of our range and drops what root has, and only then
 * bubblewrap starts, as nobody in particular: run as root, what it starts would keep root's id.
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
    script.line("exec 8>" + ShellScript.quoted(c.statusFile().toString()));
    script.line("exec 9<" + ShellScript.quoted(c.state().seccomp().toString()));
    limits(script, c);
    List<String> argv = new ArrayList<>();
    if (c.command().reproducible().isPresent()) {
      argv.addAll(List.of("/usr/bin/setarch", "-R"));
    }
    if (c.host().root()) {
      argv.addAll(Privileges.drop(setpriv, c.uid()));
    }
    argv.addAll(line(c));
    if (c.proxySocket().isEmpty()) {
      return script.exec(argv);
    }
    return forwarder.wrap(script, c, argv);
  }

  /** It writes the exit code of what it started, and nothing where it failed to start it. */
  @Override
  public boolean ran(String status) {
    return status.contains("\"exit-code\"");
  }

  /** Of each process; those of the whole tree are the cgroup's. */
  private static void limits(ShellScript script, Confinement c) {
    Limits limits = c.command().limits();
    script.line("ulimit -c 0");
    script.line("ulimit -l 64");
    script.line("ulimit -n " + limits.openFiles());
    script.line("ulimit -f " + limits.fileBytes() / 512);
    // A backstop: processor time of the tree is what we watch.
    script.line("ulimit -t " + (limits.cpuMs() / 1_000 + 2));
    if (c.cgroup().isEmpty()) {
      script.line("ulimit -v " + Math.max(limits.memoryBytes() / 1_024, 1 << 20));
    }
    script.line("umask 022");
  }

  private List<String> line(Confinement c) {
    List<String> line = new ArrayList<>();
    line.add(bwrap.toString());
    line.addAll(List.of("--unshare-all", "--unshare-user"));
    if (c.proxySocket().isPresent()) {
      line.add("--share-net"); // the namespace that the forwarder is in, and no other
    }
    String inside = Integer.toString(Confinement.INSIDE);
    line.addAll(List.of("--uid", inside, "--gid", inside, "--disable-userns"));
    line.addAll(List.of("--die-with-parent", "--new-session", "--cap-drop", "ALL"));
    line.addAll(List.of("--hostname", "sandbox", "--clearenv"));
    c.environment().forEach((name, value) -> line.addAll(List.of("--setenv", name, value)));
    line.addAll(List.of("--proc", "/proc", "--dev", "/dev"));
    line.addAll(
        List.of(
            "--size",
            Long.toString(c.profile().shmBytes()),
            "--perms",
            "1777",
            "--tmpfs",
            "/dev/shm",
            "--remount-ro",
            "/dev",
            "--perms",
            "0755",
            "--dir",
            "/etc"));
    c.view().forEach(mounted -> line.addAll(option(mounted)));
    line.addAll(List.of("--chdir", c.command().directory(), "--remount-ro", "/"));
    line.addAll(List.of("--seccomp", "9", "--json-status-fd", "8", "--"));
    line.addAll(c.command().argv());
    return line;
  }

  private static List<String> option(Mounted mounted) {
    return switch (mounted) {
      case Mounted.ReadOnly m -> List.of("--ro-bind", m.source().toString(), m.target());
      case Mounted.Writable m -> List.of("--bind", m.source().toString(), m.target());
      case Mounted.Link m -> List.of("--symlink", m.to(), m.target());
      case Mounted.Hidden m -> List.of("--ro-bind", "/dev/null", m.target());
      case Mounted.Memory m ->
          List.of("--size", Long.toString(m.bytes()), "--perms", m.mode(), "--tmpfs", m.target());
    };
  }
}
