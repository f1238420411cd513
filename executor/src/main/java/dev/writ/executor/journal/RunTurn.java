package dev.writ.executor.journal;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.error.ExecutorError;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Commit;
import dev.writ.ledger.RunJournal;
import dev.writ.ledger.event.Event;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * One turn of appending to a run: holds the run's lock, builds one batch, and enqueues it. Sequence
 * numbers, prev and lamport are assigned here, in the order in which batches are enqueued (protocol
 * rule 15). A turn that is closed without {@link #enqueue()} has no effect.
 */
public final class RunTurn implements AutoCloseable {
  private final RunJournal ledger;
  private final Runs.Slot slot;
  private final Batch batch;
  private Optional<Event> head;
  private Optional<Digest> headId;
  private Optional<RunState> state;
  private final List<Runnable> whenEnqueued = new ArrayList<>();
  private ChangeOrder changes = ChangeOrder.ANY;

  RunTurn(RunJournal ledger, Runs.Slot slot) {
    this.ledger = ledger;
    this.batch = ledger.newBatch();
    this.slot = slot;
    this.head = slot.head;
    this.headId = slot.headId;
    this.state = slot.state;
  }

  /** The batch, for documents, blobs and rows. */
  public Batch batch() {
    return batch;
  }

  /** The run's state as this turn has changed it; empty while the run is not open. */
  public Optional<RunState> state() {
    return state;
  }

  /** The last event, as this turn has changed it. */
  public Optional<Event> head() {
    return head;
  }

  /** Opens the run if it is not; the body says what opened it. */
  public void open(String opener, String seed, Digest body, Instant at) {
    if (state.isPresent()) {
      return;
    }
    Event first =
        Event.first(
            slot.id.tenant(), slot.id.run(), EventKind.RUN_OPENED, body, at, Optional.of(seed));
    append(first);
    state = Optional.of(RunState.opened(opener, seed, headId.orElseThrow()));
  }

  /**
   * Appends an event and returns its sequence number.
   *
   * @throws WritException {@code EXE-901} when the run is closed
   */
  public long event(String kind, Digest body, Instant at, Optional<String> seed) {
    if (state.orElseThrow().closed()) {
      throw new WritException(ExecutorError.RUN_CLOSED, slot.id.toString());
    }
    Event last = head.orElseThrow();
    return append(last.next(headId.orElseGet(last::id), kind, body, at, seed)).seq();
  }

  public void event(String kind, Digest body, Instant at) {
    event(kind, body, at, Optional.empty());
  }

  private Event append(Event next) {
    Event event = ledger.place(next);
    headId = Optional.of(batch.add(event));
    head = Optional.of(event);
    return event;
  }

  /** Makes a receipt the run's last. */
  public void receipt(Digest id, long lamport) {
    state = Optional.of(state.orElseThrow().withReceipt(id, lamport));
    batch.put(
        Tables.RECEIPTS,
        Tables.key(slot.id.tenant(), slot.id.run(), Tables.number(lamport)),
        id.bytes());
  }

  /** Counts what keeps the run from being closed. */
  public void unfinished(long pending, long running, long inDoubt) {
    RunState now = state.orElseThrow();
    state = Optional.of(now.with(now.unfinished().plus(pending, running, inDoubt)));
  }

  /**
   * Closes the run for good; nothing can follow in it.
   *
   * @throws WritException {@code EXE-903} while something is unfinished
   */
  public void closeRun() {
    RunState now = state.orElseThrow();
    if (!now.unfinished().isNone()) {
      throw new WritException(ExecutorError.RUN_UNFINISHED, now.unfinished().inWords());
    }
    state = Optional.of(state.orElseThrow().asClosed());
  }

  /** Runs the action once the batch is enqueued; never if it is not. */
  public void whenEnqueued(Runnable action) {
    whenEnqueued.add(action);
  }

  /** Makes this turn's writes precede changes of the state that they were made under. */
  public RunTurn before(ChangeOrder order) {
    changes = order;
    return this;
  }

  /**
   * Enqueues the batch; only now has the run changed. Await the commit at once, behind the turn.
   *
   * @throws WritException {@code EXE-970} where the order cannot be kept; nothing is enqueued then
   */
  public Commit enqueue() {
    if (!state.equals(slot.state)) {
      batch.put(
          Tables.RUN, Tables.key(slot.id.tenant(), slot.id.run()), state.orElseThrow().toBytes());
    }
    Commit commit;
    try (ChangeOrder.Held _ = changes.hold()) {
      commit = ledger.appendAwaited(batch);
    }
    slot.head = head;
    slot.headId = headId;
    slot.state = state;
    slot.settled.signalAll();
    whenEnqueued.forEach(Runnable::run);
    return commit;
  }

  /** Ends the turn. */
  @Override
  public void close() {
    slot.lock.unlock();
  }
}
