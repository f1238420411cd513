package dev.writ.replay.engine;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.event.Event;
import dev.writ.replay.error.ReplayError;
import java.util.List;
import java.util.Optional;

/** An event with its place in the log. */
record Placed(long index, Event event) {
  String kind() {
    return event.kind();
  }

  /** The first event of that kind, if there is one. */
  static Optional<Event> first(List<Placed> events, String kind) {
    return events.stream().map(Placed::event).filter(e -> e.kind().equals(kind)).findFirst();
  }

  /**
   * The same where a step must have one.
   *
   * @throws WritException {@code RPL-071} where it has none
   */
  static Event require(List<Placed> events, String kind) {
    return first(events, kind)
        .orElseThrow(() ->
            new WritException(
                ReplayError.REPLAY_FAILED,
                "event " + events.getFirst().event().seq() + " without " + kind));
  }
}
