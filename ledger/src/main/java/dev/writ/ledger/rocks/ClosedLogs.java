package dev.writ.ledger.rocks;

import dev.writ.canonicalize.Nondeterministic;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;

/**
 * What the last writer noted of its write-ahead logs when it closed the database: the names and
 * lengths of all, and where they may stay, their checksums.
 *
 * <p>After a failed sync the system may show what is on no disk, so RocksDB writes what it finds in
 * logs into new, synced tables before anything of it is believed. Where the last writer closed the
 * database and none of its writes had failed, everything in the logs was synced, and some twenty
 * syncs are saved, which is most of the time of a short command on an ordinary disk. Every writer
 * begins a log of its own, so the note of another one does not fit. It is not synced itself: a note
 * that is lost costs time alone.
 *
 * <p>RocksDB does not miss a log that lay between others. So a note whose newest log is here, as
 * long as it says, also tells which of the others are gone.
 */
final class ClosedLogs {
  static final Pattern NAME = Pattern.compile("([0-9]{6,18})\\.log");

  private static final Pattern LINE =
      Pattern.compile("([0-9]{6,18})\\.log ([0-9]{1,18})(?: ([0-9a-f]{8}))?");

  private static final String NOTE = "CLOSED";

  /** More are written into tables, so that an opening reads little. */
  private static final int LOGS_MAX = 8;

  private static final long BYTES_MAX = 1 << 20;

  private ClosedLogs() {}

  /**
   * What is known of a log.
   *
   * @param sum CRC-32C of its bytes, in hex; empty where nobody has added it up
   */
  private record Known(long length, String sum) {}

  /** The length of each, by number. */
  @Nondeterministic("sorted by number")
  private static SortedMap<Long, Long> in(Path dir) throws IOException {
    TreeMap<Long, Long> lengths = new TreeMap<>();
    try (DirectoryStream<Path> logs = Files.newDirectoryStream(dir, "*.log")) {
      for (Path log : logs) {
        Matcher name = NAME.matcher(log.getFileName().toString());
        if (name.matches() && Files.isRegularFile(log)) {
          lengths.put(Long.parseLong(name.group(1)), Files.size(log));
        }
      }
    }
    return lengths;
  }

  /** What the note says, if it is of the writer that was the last; else nothing. */
  private static SortedMap<Long, Known> noted(Path dir, SortedMap<Long, Long> here)
      throws IOException {
    TreeMap<Long, Known> noted = new TreeMap<>();
    Path note = dir.resolve(NOTE);
    if (here.isEmpty() || !Files.isRegularFile(note)) {
      return noted;
    }
    for (String line : Files.readAllLines(note, StandardCharsets.ISO_8859_1)) {
      Matcher log = LINE.matcher(line);
      if (!log.matches()) {
        return new TreeMap<>();
      }
      noted.put(
          Long.parseLong(log.group(1)),
          new Known(Long.parseLong(log.group(2)), Optional.ofNullable(log.group(3)).orElse("")));
    }
    long newest = here.lastKey();
    return !noted.isEmpty()
            && noted.lastKey() == newest
            && noted.get(newest).length() == here.get(newest)
        ? noted
        : new TreeMap<>();
  }

  private static boolean areFew(SortedMap<Long, Long> here) {
    return here.size() <= LOGS_MAX
        && here.values().stream().mapToLong(length -> length).sum() <= BYTES_MAX;
  }

  private static String sum(Path log) throws IOException {
    CRC32C sum = new CRC32C();
    sum.update(Files.readAllBytes(log));
    return HexFormat.of().toHexDigits((int) sum.getValue());
  }

  /** Whether they are few, and have what was in them when the last writer closed the database. */
  static boolean mayStay(Path dir) {
    try {
      SortedMap<Long, Long> here = in(dir);
      SortedMap<Long, Known> noted = areFew(here) ? noted(dir, here) : new TreeMap<>();
      for (Map.Entry<Long, Known> log : noted.entrySet()) {
        if (!log.getValue().sum().equals(sum(dir.resolve(name(log.getKey()))))) {
          return false;
        }
      }
      return !noted.isEmpty();
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Requires that the last writer's logs are here, as long as they were.
   *
   * @throws WritException {@code LED-006} that names the first which is not
   */
  static void requireWhole(Path dir) {
    SortedMap<Long, Long> here;
    SortedMap<Long, Known> noted;
    try {
      here = in(dir);
      noted = noted(dir, here);
    } catch (IOException e) {
      return; // RocksDB says what cannot be read
    }
    noted.forEach((log, known) -> {
      long found = here.getOrDefault(log, 0L);
      long length = known.length();
      if (found < length) {
        throw new WritException(
            LedgerError.CORRUPT,
            name(log) + " has " + found + " bytes of the " + length + " that it was closed with");
      }
    });
  }

  /** Notes that a writer none of whose writes failed has closed the database. */
  static void note(Path dir) {
    try {
      StringBuilder lines = new StringBuilder();
      SortedMap<Long, Long> here = in(dir);
      boolean areFew = areFew(here);
      for (Map.Entry<Long, Long> log : here.entrySet()) {
        String name = name(log.getKey());
        lines.append(name).append(' ').append(log.getValue());
        if (areFew) {
          lines.append(' ').append(sum(dir.resolve(name)));
        }
        lines.append('\n');
      }
      Files.writeString(dir.resolve(NOTE), lines, StandardCharsets.US_ASCII);
    } catch (IOException e) {
      // It saves time, and helps to find a loss; no more.
    }
  }

  /** As RocksDB names it: six digits at least. */
  private static String name(long log) {
    String digits = Long.toString(log);
    return "0".repeat(Math.max(0, 6 - digits.length())) + digits + ".log";
  }
}
