package dev.writ.sinks.feed;

import java.util.List;
import java.util.Optional;

/**
 * One connection to a target that takes records. Another kind of target is another class. After any
 * refusal it is closed, and a new one is opened later. Used by one thread.
 */
public interface RecordSink extends AutoCloseable {
  /**
   * Connects.
   *
   * @return the id of the last record that the target has; absent if it has none. Where the target
   *     has lost records, delivery begins again behind that one
   * @throws dev.writ.canonicalize.WritException {@code SNK-001} to {@code SNK-003}
   */
  Optional<RecordId> open();

  /** Whether {@link #open} can know what the target has. */
  default boolean knowsLast() {
    return true;
  }

  /**
   * Delivers records in the order of their ids. The target may have any of the first ones already,
   * and then keeps one of each. Returns when the target has confirmed all; after an exception it
   * has a beginning of the list, or nothing of it.
   *
   * @throws dev.writ.canonicalize.WritException {@code SNK-001}, {@code SNK-002}
   */
  void deliver(List<SinkRecord> records);

  /** Disconnects; never throws. */
  @Override
  void close();
}
