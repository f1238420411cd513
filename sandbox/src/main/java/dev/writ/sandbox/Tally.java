package dev.writ.sandbox;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Counts since the engines were opened, for monitoring; no decision depends on them.
 *
 * @param running sandboxes that live now
 * @param started sandboxes that were created
 * @param ended commands that ended, by {@link EndReason#text()} or {@link #ENGINE_FAILED}; includes
 *     every reason
 */
public record Tally(long running, long started, SortedMap<String, Long> ended) {
  /** A command that the engine could not start, or not watch to its end. */
  public static final String ENGINE_FAILED = "engine-failed";

  public static final Tally NONE = new Tally(0, 0, noReasons());

  public Tally {
    ended = Collections.unmodifiableSortedMap(new TreeMap<>(ended));
  }

  /** Every reason with a count of 0. */
  public static TreeMap<String, Long> noReasons() {
    TreeMap<String, Long> none = new TreeMap<>();
    for (EndReason reason : EndReason.values()) {
      none.put(reason.text(), 0L);
    }
    none.put(ENGINE_FAILED, 0L);
    return none;
  }

  public Tally plus(Tally other) {
    TreeMap<String, Long> sum = new TreeMap<>(ended);
    other.ended.forEach((reason, count) -> sum.merge(reason, count, Long::sum));
    return new Tally(running + other.running, started + other.started, sum);
  }
}
