package dev.writ.sinks.feed;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Identifies a record: the same event of the log always has the same id, and later events have
 * greater ones, also after a ledger was put back from a backup and events were lost.
 *
 * @param incarnation of the ledger when the event was committed, from 1
 * @param index position in the log, from 0
 */
public record RecordId(long incarnation, long index) implements Comparable<RecordId> {
  private static final Pattern TEXT = Pattern.compile("([0-9]{1,18})-([0-9]{1,18})");
  private static final Comparator<RecordId> ORDER =
      Comparator.comparingLong(RecordId::incarnation).thenComparingLong(RecordId::index);

  /**
   * Reads the form of {@link #toString}.
   *
   * @throws WritException {@code CAN-023}
   */
  public static RecordId parse(String text) {
    Matcher matcher = TEXT.matcher(text);
    if (!matcher.matches()) {
      throw new WritException(CanonicalizeError.FIELD_VALUE, "no id of a sink's record");
    }
    return new RecordId(Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2)));
  }

  @Override
  public int compareTo(RecordId other) {
    return ORDER.compare(this, other);
  }

  /** For example {@code 1-48}, which is an id of a Redis stream as well. */
  @Override
  public String toString() {
    return incarnation + "-" + index;
  }
}
