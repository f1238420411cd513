package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.apart.CarriedEvents;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.RunTurn;
import dev.writ.executor.journal.Runs;
import dev.writ.executor.stage.KernelTime;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.event.Event;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Continues an executor's copy of the guardian's system run, event by event: the same bytes, so the
 * same chain. Each document is verified under the state before it, exactly as the guardian had to.
 */
final class SystemCopy {
  /** As {@link Administration} opens it. */
  private static final String OPENER = "system";

  private final Ledger ledger;
  private final StateGate inForce;
  private final Runs runs;
  private final KernelTime time;

  SystemCopy(Ledger ledger, StateGate inForce, Runs runs, KernelTime time) {
    this.ledger = ledger;
    this.inForce = inForce;
    this.runs = runs;
    this.time = time;
  }

  /**
   * @param added is told of each document
   * @throws WritException {@code EXE-933} where an event does not continue the copy, {@code
   *     EXE-112} for one of the future, and the code of a document that is not valid
   */
  synchronized void add(CarriedEvents carried, Consumer<Envelope> added) {
    TreeMap<Digest, Envelope> documents = carried.byId();
    for (Event event : carried.events()) {
      if (!event.runId().equals(SystemState.RUN)) {
        throw new WritException(ExecutorError.SYSTEM_DIFFERS, "an event of " + event.runId());
      }
      if (ledger.event(SystemState.RUN, event.seq()).filter(event::equals).isPresent()) {
        continue; // another call has carried it over
      }
      SystemState.requireNotAhead(event.at(), time.now(KernelTime.Reading.CHANGE));
      inForce.change(state -> add(event, documents, state));
      documents.values().stream()
          .filter(document -> document.id().equals(event.body()))
          .forEach(added);
    }
  }

  private StateGate.Change add(
      Event event, TreeMap<Digest, Envelope> documents, SystemState before) {
    try (Runs.Borrowed run = runs.borrow(SystemState.RUN);
        RunTurn turn = run.turn()) {
      SystemState after = before.after(event, id -> Optional.ofNullable(documents.get(id)));
      if (event.kind().equals(EventKind.RUN_OPENED)) {
        turn.open(OPENER, event.prngSeed().orElseThrow(), event.body(), event.at());
      } else {
        turn.event(event.kind(), event.body(), event.at(), event.prngSeed());
      }
      if (!turn.head().filter(event::equals).isPresent()) {
        throw new WritException(
            ExecutorError.SYSTEM_DIFFERS, "event " + event.seq() + " does not follow its copy");
      }
      Envelope document = documents.get(event.body());
      if (document != null) {
        turn.batch().document(document);
      }
      return new StateGate.Change(after, turn.enqueue());
    }
  }
}
