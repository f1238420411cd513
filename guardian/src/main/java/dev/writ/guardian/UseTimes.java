package dev.writ.guardian;

import java.util.Arrays;
import java.util.List;

/**
 * When one counter of a rate limit was used, in milliseconds, ascending: 8 bytes for each use, with
 * the room to grow at most 16. Uses come nearly in order and are forgotten from the beginning. Not
 * thread safe.
 */
final class UseTimes {
  private static final int PLACES_AT_FIRST = 4;

  private final long spanMs;
  private long[] times = new long[PLACES_AT_FIRST];
  private int from;
  private int to;

  /**
   * @param spanMs how long a use counts
   */
  UseTimes(long spanMs) {
    this.spanMs = spanMs;
  }

  /**
   * @param sign 1 to add a use; −1 to take one back, which is there
   */
  void add(long atMs, int sign) {
    int place = firstAfter(atMs);
    if (sign > 0) {
      insert(place, atMs);
    } else if (place > from && times[place - 1] == atMs) {
      remove(place - 1);
    }
  }

  private void insert(int place, long atMs) {
    int at = place;
    if (to == times.length) {
      long[] room = to - from > times.length / 2 ? new long[2 * times.length] : times;
      System.arraycopy(times, from, room, 0, to - from);
      at -= from;
      to -= from;
      from = 0;
      times = room;
    }
    System.arraycopy(times, at, times, at + 1, to - at);
    times[at] = atMs;
    to++;
  }

  private void remove(int place) {
    System.arraycopy(times, place + 1, times, place, to - place - 1);
    to--;
  }

  /**
   * Forgets uses that do not count at that time any more.
   *
   * @return whether none is left
   */
  boolean forget(long nowMs) {
    from = firstAfter(nowMs - spanMs);
    if (times.length > PLACES_AT_FIRST && to - from < times.length / 4) {
      times = Arrays.copyOfRange(times, from, from + times.length / 2);
      to -= from;
      from = 0;
    }
    return isEmpty();
  }

  /** How many uses are later than that time. */
  long after(long atMs) {
    return to - firstAfter(atMs);
  }

  List<Long> times() {
    return Arrays.stream(times, from, to).boxed().toList();
  }

  long bytes() {
    return (long) times.length * Long.BYTES;
  }

  boolean isEmpty() {
    return from == to;
  }

  /** The first place whose time is later; usually the end or the beginning. */
  private int firstAfter(long atMs) {
    if (from == to || times[to - 1] <= atMs) {
      return to;
    }
    int low = from;
    int high = to - 1; // its time is later
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (times[middle] <= atMs) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
