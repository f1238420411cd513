package dev.writ.sandbox.engine;

import dev.writ.sandbox.host.ShellScript;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Gives a sandbox a network namespace with nothing in it but its loopback and, on port 3128, a
 * forwarder to our proxy's socket. The forwarder runs in that namespace and outside of the
 * sandbox's others: no program in it can see, signal or replace it, and no file of it is inside.
 */
final class Forwarder {
  /** In /proc/net/tcp: 127.0.0.1, the port in hexadecimal, and the state LISTEN. */
  static final String LISTENING =
      " 0100007F:"
          + String.format(Locale.ROOT, "%04X", Variables.PROXY_PORT)
          + " 00000000:0000 0A ";

  private final Path bwrap;
  private final Path setpriv;
  private final Path socat;

  /**
   * @param socat null where the host has none: then commands with egress are refused before this
   */
  Forwarder(Path bwrap, Path setpriv, Path socat) {
    this.bwrap = bwrap;
    this.setpriv = setpriv;
    this.socat = socat;
  }

  boolean available() {
    return socat != null;
  }

  /** The forwarder itself, with nothing of root. */
  List<String> argv(Confinement c) {
    List<String> forward = new ArrayList<>();
    if (c.host().root()) {
      forward.addAll(Privileges.drop(setpriv, c.uid()));
    }
    forward.addAll(
        List.of(
            socat.toString(),
            "TCP-LISTEN:" + Variables.PROXY_PORT + ",bind=127.0.0.1,reuseaddr,fork,max-children=64",
            "UNIX-CONNECT:" + c.proxySocket().orElseThrow()));
    return forward;
  }

  /** Lets a script start the forwarder, wait for it, and become {@code argv}, all in one netns. */
  ShellScript wrap(ShellScript script, Confinement c, List<String> argv) {
    List<String> forward = argv(c);
    String inner =
        "set -e\n"
            + ShellScript.quoted(forward)
            + " </dev/null >/dev/null 2>&1 7<&- 8>&- 9<&- &\n"
            + "n=0\n"
            + "until grep -q '"
            + LISTENING
            + "' /proc/self/net/tcp; do\n"
            + "  n=$((n + 1)); [ $n -lt 1000 ] || exit 97; sleep 0.005\n"
            + "done\n"
            + "exec \"$@\"\n";
    List<String> outer = new ArrayList<>();
    outer.addAll(List.of(bwrap.toString(), "--unshare-net", "--dev-bind", "/", "/"));
    outer.addAll(List.of("--die-with-parent", "--", "/bin/sh", "-c", inner, "sh"));
    outer.addAll(argv);
    return script.exec(outer);
  }
}
