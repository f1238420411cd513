package dev.writ.verify.bundle;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The log indexes of one journal's events as ranges, while a bundle is written. */
final class RangeList {
  /** For each range the first index and the one after the last. */
  private long[] bounds = new long[64];

  private int length;

  /** Adds an index that is greater than those before. */
  void add(long index) {
    if (length > 0 && bounds[length - 1] == index) {
      bounds[length - 1]++;
      return;
    }
    if (length == bounds.length) {
      bounds = Arrays.copyOf(bounds, 2 * length);
    }
    bounds[length++] = index;
    bounds[length++] = index + 1;
  }

  void writeTo(OutputStream out) throws IOException {
    out.write('[');
    for (int i = 0; i < length; i += 2) {
      String range = (i > 0 ? ",[" : "[") + bounds[i] + "," + (bounds[i + 1] - bounds[i]) + "]";
      out.write(range.getBytes(StandardCharsets.US_ASCII));
    }
    out.write(']');
  }

  Cursor cursor() {
    return new Cursor();
  }

  /** Reads on through the indexes. */
  final class Cursor {
    private int range;
    private long next = length > 0 ? bounds[0] : JournalMerge.END;

    /** The next index; {@link JournalMerge#END} after the last. */
    long index() {
      return next;
    }

    void move() {
      next++;
      if (next == bounds[range + 1]) {
        range += 2;
        next = range < length ? bounds[range] : JournalMerge.END;
      }
    }
  }
}
