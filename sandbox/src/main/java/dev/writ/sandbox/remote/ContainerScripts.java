package dev.writ.sandbox.remote;

import dev.writ.sandbox.elsewhere.ElsewhereScripts;

/** Scripts of ours that run beside a command in a container. */
final class ContainerScripts {
  private ContainerScripts() {}

  /** Runs a program, and says behind its output that this is all, and how it ended. */
  static final String MARKED =
      "writ_mark=$1; shift; \"$@\"; writ_code=$?; printf '\\000%s%d\\n' \"$writ_mark\""
          + " \"$writ_code\"; exit \"$writ_code\"";

  /** Puts BusyBox where the command's container has it, and makes the files of its output. */
  static final String BEGIN =
      "/bin/busybox cp /bin/busybox /pod/bin/busybox && : > /pod/out/stdout && : > /pod/out/stderr";

  /** Lets the command go. */
  static final String GO = ": > /pod/in/now";

  /** Whether all that was sent is there. */
  static final String IS_BROUGHT = "[ -e /pod/in/go ]";

  /** The blocks of the workspace, each of 4096 bytes. */
  static final String BLOCKS = "/bin/busybox stat -f -c '%S %b' /pod/workspace";

  /** Writes what the kernel counted of a limit: kills for memory, and forks that were refused. */
  static final String COUNTS =
      """
      for f in memory.events memory/memory.oom_control; do
        [ -r /sys/fs/cgroup/$f ] && while read -r k v; do
          [ "$k" = oom_kill ] && echo "memory $v" >&9
        done < /sys/fs/cgroup/$f
      done
      for f in pids.events pids/pids.events; do
        [ -r /sys/fs/cgroup/$f ] && while read -r k v; do
          [ "$k" = max ] && echo "processes $v" >&9
        done < /sys/fs/cgroup/$f
      done
      """;

  /** Tells these counts, and how many blocks of the workspace are free. */
  static final String TOLD =
      "echo \"free $(/bin/busybox stat -f -c %a /pod/workspace)\"; [ -f /pod/out/counts ] && ! [ -L"
          + " /pod/out/counts ] && /bin/busybox head -c 500 /pod/out/counts; true";

  /** What is looked at beside user, capabilities, filter and root. */
  static String look(ContainerForms forms, boolean tmpExec) {
    return """
    writ_memory=; writ_pids=; writ_tmp=
    for writ_file in memory.max memory/memory.limit_in_bytes; do
      if [ -r /sys/fs/cgroup/$writ_file ] && read -r writ_value < /sys/fs/cgroup/$writ_file; then
        [ "$writ_value" = MEMORY ] || exit 125
        writ_memory=1
      fi
    done
    for writ_file in pids.max pids/pids.max; do
      if [ -r /sys/fs/cgroup/$writ_file ] && read -r writ_value < /sys/fs/cgroup/$writ_file; then
        [ "$writ_value" = PIDS ] || exit 125
        writ_pids=1
      fi
    done
    [ "$writ_memory$writ_pids" = 11 ] || exit 125
    while read -r writ_face rest; do
      [ "$writ_face" = Iface ] || exit 125
    done < /proc/net/route
    if [ -e /proc/net/if_inet6 ]; then
      while read -r a b c d e writ_face; do
        [ "$writ_face" = lo ] || exit 125
      done < /proc/net/if_inet6
    fi
    while read -r device place kind options rest; do
      if [ "$place" = /tmp ]; then writ_tmp=,$options,; fi
    done < /proc/self/mounts
    case $writ_tmp in *,nosuid,*) ;; *) exit 125 ;; esac
    case $writ_tmp in TMP) ;; *) exit 125 ;; esac
    """
        .replace("MEMORY", Long.toString(forms.memoryBytes()))
        .replace("PIDS", Long.toString(forms.pids()))
        .replace("TMP", tmpExec ? "*" : "*,noexec,*");
  }

  static byte[] lookFile(ContainerForms forms, boolean tmpExec) {
    return ElsewhereScripts.lookAtTheFirst(look(forms, tmpExec));
  }
}
