package dev.writ.gateway.view;

import dev.writ.canonicalize.Digest;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongConsumer;
import java.util.function.Predicate;

/** Finds events of one run without reading all of it, where that can be done. */
final class RunEvents {
  /**
   * How far around a time an event is looked for before the whole run is: steps reach the log a
   * little later than they read the clock.
   */
  private static final int NEAR = 256;

  private final LedgerView ledger;
  private final RunId run;
  private final long end;
  private final LongConsumer reads;

  /**
   * @param reads is told how many events were read
   */
  RunEvents(LedgerView ledger, RunId run, LongConsumer reads) {
    this.ledger = ledger;
    this.run = run;
    this.end = ledger.head(run).map(head -> head.seq() + 1).orElse(0L);
    this.reads = reads;
  }

  /** One more than the last position in the run. */
  long end() {
    return end;
  }

  Event at(long seq) {
    reads.accept(1);
    return ledger.event(run, seq).orElseThrow();
  }

  long index(long seq) {
    return ledger.indexOf(run, seq).orElseThrow();
  }

  /** The event of that kind and body, which lies near that time. */
  Optional<Event> find(String kind, Digest body, Instant time) {
    Predicate<Event> wanted = event -> event.kind().equals(kind) && event.body().equals(body);
    long first = firstAt(time);
    return find(first, Math.min(end, first + NEAR), wanted) // mostly the first of these
        .or(() -> find(Math.max(0, first - NEAR), first, wanted))
        .or(() -> find(0, end, wanted));
  }

  /** The first such event from a position on. */
  Optional<Event> find(long from, long to, Predicate<Event> wanted) {
    for (long seq = from; seq < to; seq++) {
      Event event = at(seq);
      if (wanted.test(event)) {
        return Optional.of(event);
      }
    }
    return Optional.empty();
  }

  /** About the first position at that time or later; exact where times only grow. */
  private long firstAt(Instant time) {
    long low = 0;
    long high = end;
    while (low < high) {
      long middle = (low + high) >>> 1;
      if (at(middle).at().isBefore(time)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** The first position whose place in the log is that one or a later one. */
  long firstBehind(long index) {
    long low = 0;
    long high = end;
    while (low < high) {
      long middle = (low + high) >>> 1;
      reads.accept(1);
      OptionalLong place = ledger.indexOf(run, middle);
      if (place.orElseThrow() < index) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
