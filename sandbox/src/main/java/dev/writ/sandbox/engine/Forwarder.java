package dev.writ.sandbox.engine;

import dev.writ.sandbox.host.ShellScript;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Gives a sandbox a network namespace with only a loopback interface and, on port 3128, a forwarder
 * to the proxy's socket. The forwarder shares only that namespace with the sandbox: no program
 * inside can see, signal or replace it, and none of its files are inside.
 */
final class Forwarder {
  /** A line in /proc/net/tcp: 127.0.0.1, the port in hexadecimal, and the state LISTEN. */
  static final String LISTENING =
      " 0100007F:"
          + String.format(Locale.ROOT, "%04X", Variables.PROXY_PORT)
          + " 00000000:0000 0A ";

  /** How often bubblewrap is started until the shell in its namespace has begun. */
  private static final int STARTS = 20;

  private final Path bwrap;
  private final Path setpriv;
  private final Path socat;

  /**
   * @param socat null if the host has none; commands with egress are refused earlier then
   */
  Forwarder(Path bwrap, Path setpriv, Path socat) {
    this.bwrap = bwrap;
    this.setpriv = setpriv;
    this.socat = socat;
  }

  boolean available() {
    return socat != null;
  }

  /**
   * The forwarder's command line, without root's privileges. It ends with whatever started it, also
   * where no cgroup holds them together.
   */
  List<String> argv(Confinement c) {
    List<String> forward =
        new ArrayList<>(
            c.host().root()
                ? Privileges.drop(setpriv, c.uid())
                : List.of(setpriv.toString(), "--pdeathsig", "KILL"));
    forward.addAll(
        List.of(
            socat.toString(),
            "TCP-LISTEN:" + Variables.PROXY_PORT + ",bind=127.0.0.1,reuseaddr,fork,max-children=64",
            "UNIX-CONNECT:" + c.proxySocket().orElseThrow()));
    return forward;
  }

  /**
   * Lets a script start the forwarder, wait for it, and run {@code argv}, all in one network
   * namespace. bubblewrap gives it that namespace, and binds the mounts of the host one by one: a
   * mount that somebody removes meanwhile fails it, so it is then started again.
   */
  ShellScript wrap(ShellScript script, Confinement c, List<String> argv) {
    List<String> forward = argv(c);
    String began = ShellScript.quoted(c.directory().resolve("began").toString());
    String fault = ShellScript.quoted(c.directory().resolve("fault").toString());
    String inner =
        "exec 2>&6 6>&-\n"
            + "set -e\n"
            + ": >"
            + began
            + "\n"
            + ShellScript.quoted(forward)
            + " </dev/null >/dev/null 2>&1 7<&- 8>&- 9<&- &\n"
            // With nothing but the shell: an image has no grep.
            + "listens() {\n"
            + "  while IFS= read -r line; do\n"
            + "    case $line in *'"
            + LISTENING
            + "'*) return 0 ;; esac\n"
            + "  done </proc/self/net/tcp\n"
            + "  return 1\n"
            + "}\n"
            + "n=0\n"
            + "until listens; do\n"
            + "  n=$((n + 1)); [ $n -lt 1000 ] || exit 97; sleep 0.005\n"
            + "done\n"
            // Not by exec: the bubblewrap around this shell has no capabilities, so that its end
            // signals root's processes alone: this shell, and with it the command.
            + "code=0; \"$@\" || code=$?\n"
            + "exit $code\n";
    String outer =
        "exec 6>&2\n"
            + "n=0\n"
            + "until [ -e "
            + began
            + " ] || [ $n -ge "
            + STARTS
            + " ]; do\n"
            + "  n=$((n + 1)); code=0; \"$@\" 2>"
            + fault
            + " || code=$?\n"
            + "done\n"
            + "[ -e "
            + began
            + " ] || cat "
            + fault
            + " >&6\n"
            + "exit $code\n";
    List<String> line = new ArrayList<>();
    line.addAll(List.of(setpriv.toString(), "--pdeathsig", "KILL"));
    line.addAll(List.of("/bin/sh", "-c", outer, "sh"));
    line.addAll(List.of(bwrap.toString(), "--unshare-net", "--dev-bind", "/", "/"));
    line.addAll(List.of("--die-with-parent", "--", "/bin/sh", "-c", inner, "sh"));
    line.addAll(argv);
    return script.exec(line);
  }
}
