package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.verify.bundle.RecordedRun.Journal;
import dev.writ.verify.error.BundleError;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.List;
import java.util.function.LongFunction;

/**
 * {@code log/inclusion.json}: the position of each event in the log, as ranges of indexes for each
 * journal, and the hashes that lead from them to the root. It can be as long as the run, so it is
 * never parsed into memory: one pass checks its form, and cursors read its lists.
 */
final class Inclusion {
  private static final String DIGEST = "\"sha256:";

  private final LongFunction<InputStream> entry;
  private final EnumMap<Journal, Long> starts = new EnumMap<>(Journal.class);
  private final EnumMap<Journal, Long> events = new EnumMap<>(Journal.class);
  private long hashesStart;

  private Inclusion(LongFunction<InputStream> entry) {
    this.entry = entry;
  }

  /**
   * @param entry reads the entry from an offset
   * @throws WritException {@code RPL-033} for any other form
   */
  static Inclusion open(LongFunction<InputStream> entry) {
    Inclusion inclusion = new Inclusion(entry);
    try (Text text = inclusion.text(0)) {
      text.expect("{\"consumed\":");
      inclusion.ranges(text, Journal.CONSUMED);
      text.expect(",\"hashes\":");
      inclusion.hashesStart = text.at;
      Hashes hashes = new Hashes(text);
      while (hashes.next()) {
        // its form alone
      }
      text.expect(",\"run\":");
      inclusion.ranges(text, Journal.RUN);
      text.expect(",\"system\":");
      inclusion.ranges(text, Journal.SYSTEM);
      text.expect("}");
      if (text.peek() >= 0) {
        throw text.refused("more follows");
      }
    }
    return inclusion;
  }

  private void ranges(Text text, Journal journal) {
    starts.put(journal, text.at);
    long total = 0;
    Ranges ranges = new Ranges(text);
    while (ranges.next()) {
      total = Math.addExact(total, ranges.count());
    }
    events.put(journal, total);
  }

  /** The number of events of a journal. */
  long events(Journal journal) {
    return events.get(journal);
  }

  Ranges ranges(Journal journal) {
    return new Ranges(text(starts.get(journal)));
  }

  Hashes hashes() {
    return new Hashes(text(hashesStart));
  }

  private Text text(long from) {
    return new Text(new BufferedInputStream(entry.apply(from), 1 << 13), from);
  }

  /** The entry's characters. */
  private static final class Text implements AutoCloseable {
    private final InputStream in;
    private long at;
    private int peeked = -2;

    Text(InputStream in, long at) {
      this.in = in;
      this.at = at;
    }

    int peek() {
      if (peeked == -2) {
        try {
          peeked = in.read();
        } catch (IOException e) {
          throw PositionedSource.failed(e);
        }
      }
      return peeked;
    }

    int next() {
      int c = peek();
      if (c >= 0) {
        peeked = -2;
        at++;
      }
      return c;
    }

    void expect(String wanted) {
      for (byte c : wanted.getBytes(StandardCharsets.US_ASCII)) {
        if (peek() != c) {
          throw refused("here is to be " + wanted);
        }
        next();
      }
    }

    /** A decimal number without leading zeros, up to 2^53 − 1. */
    long number() {
      long value = 0;
      int digits = 0;
      for (int c = peek(); c >= '0' && c <= '9'; c = peek()) {
        value = 10 * value + (c - '0');
        if (++digits > 1 && value < 10 || value > JsonValue.Num.MAX_INTEGER) {
          throw refused("a number has a zero in front, or is above 2^53 - 1");
        }
        next();
      }
      if (digits == 0) {
        throw refused("here is to be a number");
      }
      return value;
    }

    WritException refused(String what) {
      return new WritException(
          BundleError.EVENT_PROOF, BundleEntryNames.INCLUSION + " byte " + at + ": " + what);
    }

    @Override
    public void close() {
      try {
        in.close();
      } catch (IOException e) {
        throw PositionedSource.failed(e);
      }
    }
  }

  /** A cursor through one journal's ranges: increasing, not adjacent, none empty. */
  static final class Ranges {
    private final Text text;
    private boolean begun;
    private boolean ended;
    private long first;
    private long count;
    private long end = -1;

    private Ranges(Text text) {
      this.text = text;
    }

    /** Moves to the next range; false if there is none. */
    boolean next() {
      if (ended || !separated(text, begun)) {
        ended = true;
        return false;
      }
      begun = true;
      text.expect("[");
      first = text.number();
      text.expect(",");
      count = text.number();
      text.expect("]");
      if (first <= end) {
        throw text.refused(
            "the range at "
                + first
                + " is not behind the one that ends before "
                + end
                + ", with a gap");
      }
      if (count == 0) {
        throw text.refused("the range at " + first + " is empty");
      }
      end = first + count;
      return true;
    }

    long first() {
      return first;
    }

    long count() {
      return count;
    }
  }

  /** Reads on through the hashes. */
  static final class Hashes {
    private final Text text;
    private boolean begun;
    private boolean ended;
    private Digest hash;

    private Hashes(Text text) {
      this.text = text;
    }

    /** Moves to the next hash; false if there is none. */
    boolean next() {
      if (ended || !separated(text, begun)) {
        ended = true;
        return false;
      }
      begun = true;
      text.expect(DIGEST);
      byte[] bytes = new byte[Digest.LENGTH];
      for (int i = 0; i < 2 * Digest.LENGTH; i++) {
        int c = text.peek();
        int digit = c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= '0' && c <= '9' ? c - '0' : -1;
        if (digit < 0) {
          throw text.refused("here is to be a digit of a digest");
        }
        text.next();
        bytes[i / 2] = (byte) (bytes[i / 2] << 4 | digit);
      }
      text.expect("\"");
      hash = Digest.ofBytes(bytes);
      return true;
    }

    Digest hash() {
      return hash;
    }
  }

  /** Reads the beginning of a list or a comma; false at its end. */
  private static boolean separated(Text text, boolean begun) {
    if (!begun) {
      text.expect("[");
    }
    if (text.peek() == ']') {
      text.next();
      return false;
    }
    if (begun) {
      text.expect(",");
    }
    return true;
  }

  /** The journals in the order of their members. */
  static final List<Journal> JOURNALS = List.of(Journal.CONSUMED, Journal.RUN, Journal.SYSTEM);
}
