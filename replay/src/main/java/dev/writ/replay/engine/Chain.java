package dev.writ.replay.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.ledger.event.Event;
import java.util.Optional;

/**
 * The chain of the replay's own events, each with the {@code prev} and {@code seq} that follow from
 * the events before. They equal the recorded events until something differs.
 *
 * @param events how many there are
 * @param parted whether an earlier event differs
 */
record Chain(long events, Optional<Event> last, boolean parted) {
  static final Chain EMPTY = new Chain(0, Optional.empty(), false);

  /**
   * @param body the document that the event names in the replay
   */
  Chain with(Event next, Digest body) {
    if (!parted && body.equals(next.body())) {
      return new Chain(events + 1, Optional.of(next), false);
    }
    Event own =
        new Event(
            next.tenant(),
            next.run(),
            events,
            next.kind(),
            hash(),
            body,
            next.at(),
            next.prngSeed());
    return new Chain(events + 1, Optional.of(own), true);
  }

  /** The same chain, marked as different from the recording. */
  Chain apart() {
    return new Chain(events, last, true);
  }

  /** The digest of the last event. */
  Optional<Digest> hash() {
    return last.map(Event::id);
  }
}
