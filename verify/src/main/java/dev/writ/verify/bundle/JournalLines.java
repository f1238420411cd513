package dev.writ.verify.bundle;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.event.Event;
import dev.writ.verify.error.BundleError;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/** Reads a journal forward, line by line. */
final class JournalLines {
  /** The longest event; the lengths of its names are limited. */
  static final int LINE_MAX = 64 << 10;

  private final String journal;
  private final InputStream in;
  private byte[] buffer = new byte[LINE_MAX];
  private int from;
  private int to;
  private long lines;

  JournalLines(String journal, InputStream in) {
    this.journal = journal;
    this.in = in;
  }

  /**
   * The next line without its end; null behind the last.
   *
   * @throws WritException {@code RPL-031} for one that has no end, or is too long
   */
  byte[] next() {
    int scanned = from;
    while (true) {
      for (; scanned < to; scanned++) {
        if (buffer[scanned] == '\n') {
          byte[] line = Arrays.copyOfRange(buffer, from, scanned);
          from = scanned + 1;
          lines++;
          return line;
        }
      }
      scanned -= from;
      if (!more()) {
        return null;
      }
    }
  }

  /** Moves the unread rest to the front, and reads more. */
  private boolean more() {
    System.arraycopy(buffer, from, buffer, 0, to - from);
    to -= from;
    from = 0;
    int read;
    try {
      read = to == buffer.length ? -1 : in.read(buffer, to, buffer.length - to);
    } catch (IOException e) {
      throw PositionedSource.failed(e);
    }
    if (read < 0 && to > 0) {
      throw new WritException(
          BundleError.EVENT_FORM,
          place(lines + 1) + " has no end, or more than " + LINE_MAX + " bytes");
    }
    to += Math.max(read, 0);
    return read >= 0;
  }

  /** How many were read. */
  long lines() {
    return lines;
  }

  /** A line of a journal, for messages; put into words only where there is one. */
  record Place(String journal, long line) {
    @Override
    public String toString() {
      return journal + " line " + line;
    }
  }

  private Place place(long line) {
    return new Place(journal, line);
  }

  /** The number of the line that was read last. */
  Place place() {
    return place(lines);
  }

  /**
   * Reads a line as an event, whose canonical bytes it must be.
   *
   * @throws WritException {@code RPL-031}
   */
  static Event event(byte[] line, Place place) {
    try {
      return Event.parse(line);
    } catch (WritException e) {
      throw new WritException(
          BundleError.EVENT_FORM, place + ": " + e.code().code() + " " + e.found(), e);
    }
  }
}
