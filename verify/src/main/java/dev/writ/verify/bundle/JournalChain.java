package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.journal.EventKind;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.error.BundleError;
import dev.writ.verify.work.Ahead;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Verifies that the events of a journal are canonical and chained without gaps. */
final class JournalChain {
  private final Bundle bundle;
  private final VerifiedLines told;

  JournalChain(Bundle bundle, VerifiedLines told) {
    this.bundle = bundle;
    this.told = told;
  }

  /**
   * A line with its event, or the reason why it is invalid, which is thrown when the line's turn
   * comes.
   */
  private record Read(
      Optional<Event> event, Optional<WritException> refused, Digest id, JournalLines.Place place) {
    Event orThrow() {
      refused.ifPresent(e -> {
        throw e;
      });
      return event.orElseThrow();
    }
  }

  /** Returns the journal's last event. */
  Event verify(RecordedRun.Journal journal, RunId run) {
    JournalLines lines = bundle.lines(journal);
    long total = bundle.inclusion().events(journal);
    Event last = null;
    Optional<Digest> prev = Optional.empty();
    try (Ahead<List<Line>, List<Read>> pieces =
        new Ahead<>(() -> lines(lines), JournalChain::read)) {
      for (var piece = pieces.next(); piece.isPresent(); piece = pieces.next()) {
        for (Read read : piece.get()) {
          Event event = read.orThrow();
          long seq = last == null ? 0 : last.seq() + 1;
          same(read.place(), "run", event.runId(), run);
          same(read.place(), "/seq", event.seq(), seq);
          same(read.place(), "/prev", event.prev(), prev);
          boolean opens = event.kind().equals(EventKind.RUN_OPENED);
          if (opens != (last == null)) {
            String wanted = opens ? "another kind" : EventKind.RUN_OPENED;
            throw new WritException(
                BundleError.EVENT_CHAIN,
                read.place() + " /kind: recorded " + event.kind() + ", recomputed " + wanted);
          }
          prev = Optional.of(read.id());
          last = event;
        }
        told.progress("events of " + run, last.seq() + 1, total);
      }
    }
    if (last == null) {
      throw new WritException(BundleError.RUN_EMPTY, BundleEntryNames.journal(journal));
    }
    told.verified((last.seq() + 1) + " events of " + run + ": canonical, chained without gaps");
    return last;
  }

  private record Line(byte[] bytes, JournalLines.Place place) {}

  private static Optional<List<Line>> lines(JournalLines lines) {
    List<Line> piece = new ArrayList<>();
    while (piece.size() < BundleVerifier.PIECE) {
      byte[] line = lines.next();
      if (line == null) {
        break;
      }
      piece.add(new Line(line, lines.place()));
    }
    return piece.isEmpty() ? Optional.empty() : Optional.of(piece);
  }

  private static List<Read> read(List<Line> lines) {
    return lines.stream().map(JournalChain::read).toList();
  }

  private static Read read(Line line) {
    Digest id = Digest.sha256(line.bytes());
    try {
      Event event = JournalLines.event(line.bytes(), line.place());
      return new Read(Optional.of(event), Optional.empty(), id, line.place());
    } catch (WritException e) {
      return new Read(Optional.empty(), Optional.of(e), id, line.place());
    }
  }

  /** The same for a line's chain, which is nearly always right: the place is not worded before. */
  private static void same(JournalLines.Place place, String what, Object found, Object wanted) {
    if (!found.equals(wanted)) {
      Recomputed.same(BundleError.EVENT_CHAIN, place + " " + what, found, wanted);
    }
  }
}
