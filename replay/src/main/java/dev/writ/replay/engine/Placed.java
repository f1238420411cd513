package dev.writ.replay.engine;

import dev.writ.ledger.event.Event;

/** An event with its place in the log. */
record Placed(long index, Event event) {
  String kind() {
    return event.kind();
  }
}
