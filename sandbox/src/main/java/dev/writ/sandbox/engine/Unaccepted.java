package dev.writ.sandbox.engine;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Counts TCP connections within a sandbox that no program has accepted. The data they have received
 * is kernel memory that is charged to no cgroup, not even in version 2, until they are accepted.
 * Each can hold about 100 KB, and only the number of open files limits them.
 */
final class Unaccepted {
  /** More than a working server leaves waiting. */
  static final int MOST = 256;

  private static final Pattern IN_USE = Pattern.compile("TCP6?: inuse (\\d+)");
  private static final Path OWN = Path.of("/proc/self/ns/net");

  private final Supplier<Collection<Long>> pids;
  private long member;

  /**
   * @param pids of processes of the sandbox, and maybe of others that started it
   */
  Unaccepted(Supplier<Collection<Long>> pids) {
    this.pids = pids;
  }

  /** Counts; first only the number of all sockets, which is cheap. */
  boolean areTooMany() {
    try {
      if (!isInside(member)) {
        member = pids.get().stream().filter(Unaccepted::isInside).findFirst().orElse(0L);
      }
      if (member == 0) {
        return false;
      }
      Path net = Path.of("/proc", Long.toString(member), "net");
      return inUse(net.resolve("sockstat")) + inUse(net.resolve("sockstat6")) > MOST
          && count(net.resolve("tcp")) + count(net.resolve("tcp6")) > MOST;
    } catch (IOException e) {
      member = 0; // it has ended
      return false;
    }
  }

  /**
   * Whether a process is in another network namespace than this one: its number may have been
   * reused.
   */
  private static boolean isInside(long pid) {
    try {
      Path theirs = Path.of("/proc", Long.toString(pid), "ns/net");
      return pid != 0 && !Files.readSymbolicLink(theirs).equals(Files.readSymbolicLink(OWN));
    } catch (IOException e) {
      return false;
    }
  }

  private static long inUse(Path file) throws IOException {
    Matcher matcher = IN_USE.matcher(Files.readString(file, StandardCharsets.US_ASCII));
    return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
  }

  /**
   * In proc_net_tcp(5), the fourth column is the state and the tenth the inode, which is 0 for a
   * connection without a file.
   */
  private static long count(Path table) throws IOException {
    try (var lines = Files.lines(table, StandardCharsets.US_ASCII)) {
      return lines
          .map(line -> line.strip().split("\\s+"))
          .filter(columns -> columns.length > 9 && columns[9].equals("0"))
          .filter(columns -> List.of("01", "08").contains(columns[3])) // ESTABLISHED, CLOSE_WAIT
          .count();
    }
  }
}
