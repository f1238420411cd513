package dev.writ.executor;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * A signed statement on what is in force in the whole installation, as its system cell has it. Each
 * other cell's system run has the same ones in the same order.
 *
 * @param seq of its event in the system cell's system run
 * @param at of that event
 */
public record SystemStatement(long seq, Instant at, Envelope document) {
  /** What is about one log alone, or nobody's statement. */
  private static final Set<String> OF_ONE_LOG =
      new TreeSet<>(
          List.of(EventKind.RUN_OPENED, EventKind.LEDGER_INCARNATED, EventKind.CLOCK_CORRECTED));

  /** Whether an event of a system run is a statement for all cells. */
  static boolean isShared(Event event) {
    return !OF_ONE_LOG.contains(event.kind());
  }

  /**
   * The statements of a system cell from an event on.
   *
   * @throws WritException {@code EXE-905} where the document of one is missing, and what the ledger
   *     refuses
   */
  public static List<SystemStatement> read(LedgerView system, long fromSeq) {
    List<Event> events = new ArrayList<>();
    system.events(SystemState.RUN, fromSeq, events::add);
    return events.stream()
        .filter(SystemStatement::isShared)
        .map(event -> new SystemStatement(event.seq(), event.at(), document(event, system)))
        .toList();
  }

  private static Envelope document(Event event, DocumentSource documents) {
    return documents
        .document(event.body())
        .orElseThrow(() -> new WritException(ExecutorError.UNKNOWN_ID, event.body().toString()));
  }

  /** How many of them a log's own system run has. */
  public static long count(LedgerView ledger) {
    long[] count = {0};
    ledger.events(SystemState.RUN, 0, event -> count[0] += isShared(event) ? 1 : 0);
    return count[0];
  }
}
