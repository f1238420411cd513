package dev.writ.sandbox.elsewhere;

import dev.writ.sandbox.Command;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.host.ShellScript;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What runs beside a command on another host, by the BusyBox of a helper image; the command's image
 * needs no shell.
 */
public final class ElsewhereScripts {
  /** The container that takes what is sent. */
  public static final String BRING = "bring";

  /** The container that holds what the command leaves. */
  public static final String KEEP = "keep";

  /** The exit codes of {@code look}. */
  public static final int NOT_FOUND = 127;

  public static final int NOT_ENTERED = 126;
  public static final int NOT_CONFINED = 125;

  /** BusyBox in the command's container. */
  public static final String BUSYBOX = "/writ/bin/busybox";

  /** Waits to be asked for what the command left. */
  public static final String WAIT = "trap 'exit 0' TERM; while :; do sleep 1 & wait $!; done";

  /** All that is in the workspace, by names that need no {@code ./}; nothing where it is empty. */
  static final String PACK =
      """
      cd /pod/workspace || exit 1
      set --
      for f in * .[!.]* ..?*; do if [ -e "$f" ] || [ -L "$f" ]; then set -- "$@" "$f"; fi; done
      [ $# = 0 ] || exec /bin/busybox tar -c -f - -- "$@"
      """;

  /** Finds the program as execvp(3) does; {@code $writ_program} is its path. */
  private static final String FIND =
      """
      writ_program=$1
      case $writ_program in
      */*) ;;
      *)
        writ_rest=$PATH:
        while [ -n "$writ_rest" ]; do
          writ_dir=${writ_rest%%:*}
          writ_rest=${writ_rest#*:}
          if [ -f "${writ_dir:-.}/$1" ] && [ -x "${writ_dir:-.}/$1" ]; then
            writ_program=${writ_dir:-.}/$1
            break
          fi
        done ;;
      esac
      if ! [ -f "$writ_program" ] || ! [ -x "$writ_program" ]; then exit 127; fi
      """;

  /** Reads of the kernel how it is confined, before anything of the image runs. */
  private static final String LOOK =
      """
      while read -r key value rest; do
        case $key in
        Uid:) [ "$value" != 0 ] || exit 125 ;;
        CapEff:|CapPrm:|CapBnd:|CapAmb:) [ "$value" = 0000000000000000 ] || exit 125 ;;
        NoNewPrivs:) [ "$value" = 1 ] || exit 125; privileges=1 ;;
        Seccomp:) [ "$value" = 2 ] || exit 125; filter=1 ;;
        esac
      done < /proc/self/status
      [ "$privileges$filter" = 11 ] || exit 125
      while read -r device place kind options rest; do
        if [ "$place" = / ]; then root=$options; fi
      done < /proc/self/mounts
      case $root in ro|ro,*) ;; *) exit 125 ;; esac
      """;

  /**
   * Runs the program in a session of its own. TERM is passed on to it; USR1 kills it. When this
   * ends, as process 1, the kernel ends what the program left behind. What includes this may have
   * descriptor 9 for itself.
   */
  private static final String RUN =
      """
      shift
      /writ/bin/busybox setsid "$writ_program" "$@" \\
        < /writ/in/stdin > /writ/out/stdout 2> /writ/out/stderr 9>&- &
      writ_child=$!
      trap 'kill -TERM "-$writ_child"' TERM
      trap 'kill -KILL "-$writ_child"' USR1
      while :; do
        wait "$writ_child"
        writ_code=$?
        kill -0 "$writ_child" 2>/dev/null || exit "$writ_code"
      done
      """;

  private ElsewhereScripts() {}

  /**
   * The file {@code in/look} for a process that runs already: of the first process of a container
   * instead of the one that looks.
   *
   * @param further what else is looked at; ends with {@link #NOT_CONFINED} where that is not so
   */
  public static byte[] lookAtTheFirst(String further) {
    String look = LOOK.replace("/proc/self/status", "/proc/1/status");
    return bytes(look + further + ". /writ/in/words\n" + FIND);
  }

  /**
   * The files that are sent, below {@code /pod} where they are taken and below {@code /writ} for
   * the command.
   *
   * @param argv the program and its arguments
   * @param proxy the variables by which programs find the proxy
   */
  public static Map<String, byte[]> files(
      Profile profile, Command command, List<String> argv, Map<String, String> proxy) {
    String words = words(profile, command, argv, proxy);
    TreeMap<String, byte[]> files = new TreeMap<>();
    files.put("in/words", bytes(words));
    files.put("in/look", bytes(LOOK + ". /writ/in/words\n" + FIND));
    files.put("in/run", bytes(". /writ/in/words\n" + FIND + limits(command.limits()) + RUN));
    files.put("in/stdin", command.stdin());
    command.secrets().forEach(secret -> files.put("secrets/" + secret.name(), secret.bytes()));
    return files;
  }

  private static String words(
      Profile profile, Command command, List<String> argv, Map<String, String> proxy) {
    TreeMap<String, String> environment = new TreeMap<>(proxy);
    environment.put("HOME", profile.home());
    environment.put("LANG", "C.UTF-8");
    environment.put("TZ", "UTC");
    environment.putAll(command.environment());
    StringBuilder text = new StringBuilder();
    environment.forEach(
        (name, value) -> text.append("export " + name + "=" + ShellScript.quoted(value) + "\n"));
    return text.append("cd ")
        .append(ShellScript.quoted(command.directory()))
        .append(" || exit 126\nset -- ")
        .append(ShellScript.quoted(argv))
        .append('\n')
        .toString();
  }

  /** Of each process; those of the tree are the container's. */
  private static String limits(CgroupLimits limits) {
    return "ulimit -c 0\nulimit -n "
        + limits.openFiles()
        + "\nulimit -f "
        + limits.fileBytes() / 512
        + "\nulimit -t "
        + (limits.cpuMs() / 1_000 + 2)
        + "\n";
  }

  /** Unpacks an archive of so many bytes, and lets {@code bring} end; its stream has no end. */
  static String take(long bytes) {
    return "set -o pipefail; /bin/busybox head -c "
        + bytes
        + " | /bin/busybox tar -x -o -f - -C /pod && : > /pod/in/go";
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
