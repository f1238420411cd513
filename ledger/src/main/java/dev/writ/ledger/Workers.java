package dev.writ.ledger;

import java.util.concurrent.ThreadFactory;

/**
 * The threads of a ledger that is open for writing.
 *
 * @param appender makes the thread that writes batches
 * @param anchor makes the thread that writes the anchor
 * @param anchorDelayMs how long commits gather before the anchor follows them, in milliseconds
 */
record Workers(ThreadFactory appender, ThreadFactory anchor, long anchorDelayMs) {
  static final Workers REAL =
      new Workers(
          Thread.ofPlatform().name("writ-appender").daemon().factory(),
          Thread.ofPlatform().name("writ-anchor").daemon().factory(),
          250);
}
