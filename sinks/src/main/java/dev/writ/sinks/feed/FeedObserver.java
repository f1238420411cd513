package dev.writ.sinks.feed;

import dev.writ.canonicalize.WritException;

/** Hears how delivery goes, in the thread of the sink. */
public interface FeedObserver {
  /** The target has confirmed so many records more. */
  default void delivered(String sink, int records) {}

  /** An attempt failed; the next is made after some time. */
  default void failed(String sink, WritException why) {}

  /** The first delivery, or the first successful look, after failures. */
  default void recovered(String sink) {}

  /** A record was given up after such a failure, and those behind it are sent. */
  default void gaveUp(String sink, SinkRecord record, WritException why) {}

  /** The target had lost records, which are delivered again from that position. */
  default void rewound(String sink, long position) {}

  /** An operator's order was applied, and is in the ledger. */
  default void ordered(String sink, SinkOrder order) {}
}
