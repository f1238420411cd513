package dev.writ.verify.bundle;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.event.Event;
import dev.writ.verify.bundle.RecordedRun.Journal;
import dev.writ.verify.error.BundleError;
import java.util.ArrayList;
import java.util.List;

/** Reads all three journals at once, in the order of the log. */
final class JournalMerge {
  /** Behind the last event. */
  static final long END = Long.MAX_VALUE;

  private final List<Cursor> cursors = new ArrayList<>();
  private Cursor next;
  private byte[] taken = {};
  private JournalLines.Place takenFrom = new JournalLines.Place("", 0);

  /** One journal with its indexes. */
  private static final class Cursor {
    private final Journal journal;
    private final JournalLines lines;
    private final Inclusion.Ranges ranges;
    private byte[] line;
    private long index;
    private long left;

    Cursor(Journal journal, JournalLines lines, Inclusion.Ranges ranges) {
      this.journal = journal;
      this.lines = lines;
      this.ranges = ranges;
      move();
    }

    private void move() {
      line = lines.next();
      boolean more = left > 1 || ranges.next();
      if (more != (line != null)) {
        throw new WritException(
            BundleError.EVENT_PROOF,
            BundleEntryNames.journal(journal)
                + (more ? " ends, and " : " goes on, and ")
                + BundleEntryNames.INCLUSION
                + (more ? " has a further index for it" : " has no further index for it")
                + " after "
                + lines.lines()
                + " lines");
      }
      if (!more) {
        index = END;
      } else if (left > 1) {
        left--;
        index++;
      } else {
        left = ranges.count();
        index = ranges.first();
      }
    }
  }

  JournalMerge(Bundle bundle) {
    for (Journal journal : Inclusion.JOURNALS) {
      cursors.add(new Cursor(journal, bundle.lines(journal), bundle.inclusion().ranges(journal)));
    }
    choose();
  }

  private void choose() {
    next = cursors.getFirst();
    for (Cursor cursor : cursors.subList(1, cursors.size())) {
      if (cursor.index == next.index && cursor.index != END) {
        throw new WritException(
            BundleError.EVENT_PROOF,
            "two events at log index "
                + cursor.index
                + ": "
                + next.lines.place()
                + " and "
                + cursor.lines.place());
      }
      next = cursor.index < next.index ? cursor : next;
    }
  }

  /** The index of the next event; {@link #END} if there is none. */
  long index() {
    return next.index;
  }

  Journal journal() {
    return next.journal;
  }

  /** The next event's journal and line. */
  JournalLines.Place place() {
    return next.lines.place();
  }

  /** The next event's bytes; moves on. */
  byte[] take() {
    taken = next.line;
    takenFrom = place();
    next.move();
    choose();
    return taken;
  }

  /** The event that was read last. */
  Event taken() {
    return JournalLines.event(taken, takenFrom);
  }
}
