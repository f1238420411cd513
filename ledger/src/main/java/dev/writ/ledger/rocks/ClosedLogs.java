package dev.writ.ledger.rocks;

import dev.writ.canonicalize.Nondeterministic;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Whether the write-ahead logs of a closed database may stay as they are when it is opened again.
 *
 * <p>After a failed sync the system may show what is on no disk, so RocksDB writes what it finds in
 * logs into new, synced tables before anything of it is believed. Where the last writer closed the
 * database and none of its writes had failed, everything in the logs was synced, and some twenty
 * syncs are saved, which is most of the time of a short command on an ordinary disk. A note beside
 * the logs says so: with which log that writer ended, and how long it was then. Every writer begins
 * a log of its own, so the note of another one does not fit. It is not synced itself: a note that
 * is lost costs time alone.
 */
final class ClosedLogs {
  static final Pattern NAME = Pattern.compile("([0-9]{6,18})\\.log");

  private static final String NOTE = "CLOSED";

  /** More are written into tables, so that an opening reads little. */
  private static final int LOGS_MAX = 8;

  private static final long BYTES_MAX = 1 << 20;

  private final int count;
  private final long bytes;
  private final String last;

  private ClosedLogs(int count, long bytes, String last) {
    this.count = count;
    this.bytes = bytes;
    this.last = last;
  }

  @Nondeterministic("the greatest number is looked for")
  private static ClosedLogs in(Path dir) throws IOException {
    int count = 0;
    long bytes = 0;
    long greatest = -1;
    String last = "";
    try (DirectoryStream<Path> logs = Files.newDirectoryStream(dir, "*.log")) {
      for (Path log : logs) {
        Matcher name = NAME.matcher(log.getFileName().toString());
        if (name.matches()) {
          long size = Files.size(log);
          count++;
          bytes += size;
          if (Long.parseLong(name.group(1)) > greatest) {
            greatest = Long.parseLong(name.group(1));
            last = name.group() + " " + size;
          }
        }
      }
    }
    return new ClosedLogs(count, bytes, last);
  }

  /** Whether they are few, and the last writer closed the database. */
  static boolean mayStay(Path dir) {
    try {
      Path note = dir.resolve(NOTE);
      if (!Files.exists(note)) {
        return false;
      }
      ClosedLogs logs = in(dir);
      return logs.count <= LOGS_MAX
          && logs.bytes <= BYTES_MAX
          && logs.last.equals(new String(Files.readAllBytes(note), StandardCharsets.US_ASCII));
    } catch (IOException e) {
      return false;
    }
  }

  /** Notes that a writer none of whose writes failed has closed the database. */
  static void note(Path dir) {
    try {
      Files.write(dir.resolve(NOTE), in(dir).last.getBytes(StandardCharsets.US_ASCII));
    } catch (IOException e) {
      // It saves time, no more.
    }
  }
}
