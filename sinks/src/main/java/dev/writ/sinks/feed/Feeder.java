package dev.writ.sinks.feed;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.pipeline.Changes;
import dev.writ.ledger.error.LedgerError;
import dev.writ.sinks.error.RefusedForNow;
import dev.writ.sinks.error.SinkError;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Follows the journal for one sink, in a thread of its own. It reads committed events, so no effect
 * waits for it; what it has not delivered is in the log, not in memory. Its state is saved in the
 * ledger a little later than the target confirms: after a crash some records are delivered again.
 */
public final class Feeder implements AutoCloseable {
  /** After records were delivered. */
  private static final Duration SAVED_WITHIN = Duration.ofSeconds(1);

  /** After events were read of which none was a record. */
  private static final Duration SAVED_AT_REST_WITHIN = Duration.ofSeconds(10);

  private final Parts parts;
  private final Backoff backoff;
  private final Thread thread;
  private volatile SinkState state;
  private volatile long failures;
  private volatile long rewinds;
  private volatile boolean closing;
  private SinkState saved;
  private long savedAt = System.nanoTime();
  private long retryAt;
  private boolean failing;
  private RecordSink sink;
  private Supplier<RecordSink> connection;

  /** In place of {@link #connection} from the next round on. */
  private final AtomicReference<Supplier<RecordSink>> renewed = new AtomicReference<>();

  /** Guards the next two: the thread is interrupted at the target alone, never at the ledger. */
  private final Object turn = new Object();

  /** Whether the thread waits for the target. */
  private boolean asking;

  /** Whether the target has no more time, since the server ends. */
  private boolean cut;

  /** The target was not waited for any longer, which says nothing of it or of the record. */
  private static final class Cut extends RuntimeException {
    private static final long serialVersionUID = 1;

    Cut(RuntimeException cause) {
      super(cause);
    }
  }

  /**
   * What a feeder works with.
   *
   * @param name of the sink
   * @param connection makes a sink that is not open
   * @param initial the state that the ledger has
   * @param save writes the state to the ledger
   * @param letters where records go that the sink gives up on; absent for one that never does, and
   *     gets several records at once
   * @param changes announces new events
   */
  public record Parts(
      String name,
      Supplier<RecordSink> connection,
      RecordSource source,
      SinkState initial,
      Consumer<SinkState> save,
      SinkOrders orders,
      Optional<DeadLetters> letters,
      Changes changes,
      FeedObserver observer,
      Pace pace,
      InstantSource clock,
      RandomGenerator random) {}

  /** Starts it. */
  public Feeder(Parts parts) {
    this.parts = parts;
    this.connection = parts.connection;
    this.state = parts.initial;
    this.saved = parts.initial;
    this.failing = state.trouble().isPresent();
    this.backoff = new Backoff(parts.pace.first(), parts.pace.longest(), parts.random);
    this.thread =
        Thread.ofPlatform().name("writ-sink-" + parts.name).daemon().start(this::followJournal);
  }

  private void followJournal() {
    saveIfPossible(); // `writ sink` lists what has a row
    while (!closing) {
      long seen = parts.changes.count();
      try {
        takeOrder();
        takeRenewed();
        if (state.paused()) {
          disconnect();
          rest(seen, parts.pace.look());
        } else if (System.nanoTime() - retryAt < 0) {
          rest(seen, Duration.ofNanos(retryAt - System.nanoTime()));
        } else if (!deliverSome()) {
          saveIfDue();
          rest(seen, parts.pace.look());
        }
      } catch (WritException e) {
        if (e.code() == LedgerError.FAILED || e.code() == LedgerError.CLOSED) {
          break;
        }
        failed(e);
      } catch (Cut e) {
        break; // what was not confirmed is delivered by the next server
      } catch (RuntimeException e) {
        failed(new WritException(SinkError.UNFORESEEN, e.getClass().getName(), e));
      }
    }
    disconnect();
    if (!state.equals(saved)) {
      saveIfPossible();
    }
  }

  /** Waits for news, but never longer than orders may wait. */
  private void rest(long seen, Duration atMost) {
    if (closing) {
      return;
    }
    try {
      Duration wait = atMost.compareTo(parts.pace.look()) < 0 ? atMost : parts.pace.look();
      parts.changes.await(seen, wait.plusMillis(1));
    } catch (InterruptedException e) {
      closing = true;
    }
  }

  private void takeOrder() {
    Optional<SinkOrder> order;
    try {
      order = parts.orders.take(parts.name);
      if (order.isEmpty()) {
        return;
      }
      state = order.get().applied(state, parts.source.size());
      if (order.get().action() == SinkOrder.Action.RESEND) {
        sendAgain(order.get().from());
      }
    } catch (WritException e) {
      parts.orders.done(parts.name);
      parts.observer.failed(parts.name, e);
      return;
    }
    save();
    retryAt = System.nanoTime();
    parts.orders.done(parts.name);
    parts.observer.ordered(parts.name, order.get());
  }

  /** At once, however long it was to wait: what it waited for may be what was renewed. */
  private void takeRenewed() {
    Supplier<RecordSink> next = renewed.getAndSet(null);
    if (next != null) {
      disconnect();
      connection = next;
      retryAt = System.nanoTime();
    }
  }

  private void sendAgain(long position) {
    Optional<SinkRecord> record = parts.source.record(position);
    if (parts.letters.isEmpty() || record.isEmpty()) {
      throw new WritException(SinkError.NO_INCIDENT, "at " + position);
    }
    parts.letters.get().again(record.get().id());
  }

  /** Delivers what is to be sent again, once; false if there is nothing. */
  private boolean deliverAgain() {
    Optional<RecordId> due = parts.letters.flatMap(DeadLetters::due);
    if (due.isEmpty()) {
      return false;
    }
    DeadLetters letters = parts.letters.get();
    Optional<SinkRecord> record = parts.source.record(due.get().index());
    try {
      record.ifPresent(again -> deliver(List.of(again)));
    } catch (WritException e) {
      if (e.code() == SinkError.GONE) {
        throw e;
      }
      letters.giveUp(due.get(), e);
      failures++;
      parts.observer.gaveUp(parts.name, record.get(), e);
      return true;
    }
    letters.sent(due.get());
    state = state.read(state.position(), record.isPresent() ? 1 : 0, Optional.empty());
    parts.observer.delivered(parts.name, record.isPresent() ? 1 : 0);
    return true;
  }

  private void deliver(List<SinkRecord> records) {
    ask(() -> {
      sink.deliver(records);
      return true;
    });
  }

  /** Asks the target, for as long as it may take, or until {@link #close} ends that. */
  private <T> T ask(Supplier<T> question) {
    synchronized (turn) {
      if (cut) {
        throw new Cut(null);
      }
      asking = true;
    }
    try {
      return question.get();
    } catch (RuntimeException e) {
      synchronized (turn) {
        throw cut ? new Cut(e) : e;
      }
    } finally {
      synchronized (turn) {
        asking = false;
        if (cut) {
          Thread.interrupted(); // the state is saved behind this
        }
      }
    }
  }

  /** False if they were given up. */
  private boolean delivered(List<SinkRecord> records) {
    try {
      deliver(records);
    } catch (WritException e) {
      SinkRecord first = records.getFirst();
      Instant since = state.trouble().map(SinkState.Trouble::since).orElseGet(parts.clock::instant);
      boolean givenUp =
          e.code() != SinkError.GONE
              && parts.letters.filter(letters -> letters.takes(first, e, since)).isPresent();
      if (!givenUp) {
        throw e;
      }
      failures++;
      parts.observer.gaveUp(parts.name, first, e);
      return false;
    }
    recovered();
    parts.observer.delivered(parts.name, records.size());
    return true;
  }

  /** False at the end of the log. */
  private boolean deliverSome() {
    connect();
    if (deliverAgain()) {
      return true;
    }
    RecordSource.Batch batch =
        parts.source.read(
            state.position(), parts.letters.isPresent() ? 1 : RecordSource.RECORDS_MAX);
    boolean delivered = !batch.records().isEmpty() && delivered(batch.records());
    if (sink.knowsLast()) { // it has answered
      recovered();
    }
    if (batch.next() == state.position()) {
      return false;
    }
    int records = delivered ? batch.records().size() : 0;
    state =
        state.read(
            batch.next(),
            records,
            records == 0 ? Optional.empty() : Optional.of(batch.records().getLast().id()));
    saveIfDue();
    return true;
  }

  private void connect() {
    if (sink != null) {
      return;
    }
    RecordSink made = connection.get();
    try {
      Optional<RecordId> reached = ask(made::open);
      requireNotAhead(reached);
      sink = made;
      if (made.knowsLast()) {
        rewindTo(reached);
      }
    } finally {
      if (sink == null) {
        made.close();
      }
    }
  }

  /** A log that was set back gives ids a second time, which the target would discard. */
  private void requireNotAhead(Optional<RecordId> reached) {
    RecordId end = parts.source.end();
    if (reached.filter(id -> id.compareTo(end) >= 0).isPresent()) {
      throw new WritException(
          SinkError.AHEAD, "it has " + reached.get() + ", the log ends before " + end);
    }
  }

  /** Goes back if the target has less than it once confirmed: it was emptied or put back. */
  private void rewindTo(Optional<RecordId> reached) {
    boolean lost =
        state
            .last()
            .filter(last -> reached.filter(id -> id.compareTo(last) >= 0).isEmpty())
            .isPresent();
    if (lost) {
      long position = reached.map(parts.source::behind).orElse(0L);
      state = state.at(Math.min(position, state.position()), reached);
      save();
      rewinds++;
      parts.observer.rewound(parts.name, state.position());
    }
  }

  private void failed(WritException why) {
    disconnect();
    failures++;
    Duration pause = backoff.next();
    if (why instanceof RefusedForNow later && later.pause().compareTo(pause) > 0) {
      pause = later.pause();
    }
    retryAt = System.nanoTime() + pause.toNanos();
    Instant since = state.trouble().map(SinkState.Trouble::since).orElseGet(parts.clock::instant);
    SinkState.Trouble trouble = new SinkState.Trouble(why.code().code(), since);
    if (why.code() == SinkError.GONE) {
      failing = true;
      state = state.stopped(trouble);
      saveIfPossible();
    } else if (!state.trouble().equals(Optional.of(trouble))) {
      failing = true;
      state = state.with(Optional.of(trouble));
      saveIfPossible();
    }
    parts.observer.failed(parts.name, why);
  }

  private void recovered() {
    backoff.succeeded();
    if (failing) {
      failing = false;
      state = state.with(Optional.empty());
      save();
      parts.observer.recovered(parts.name);
    }
  }

  private void disconnect() {
    if (sink != null) {
      sink.close();
      sink = null;
    }
  }

  private void saveIfDue() {
    Duration within = state.delivered() == saved.delivered() ? SAVED_AT_REST_WITHIN : SAVED_WITHIN;
    if (!state.equals(saved) && System.nanoTime() - savedAt >= within.toNanos()) {
      save();
    }
  }

  private void save() {
    SinkState now = state;
    parts.save.accept(now);
    saved = now;
    savedAt = System.nanoTime();
  }

  /** What cannot be saved is delivered again. */
  private void saveIfPossible() {
    try {
      save();
    } catch (WritException e) {
      parts.observer.failed(parts.name, e);
    }
  }

  public String name() {
    return parts.name;
  }

  /** Has it connect again, by another supplier of connections, after the delivery at work. */
  public void use(Supplier<RecordSink> next) {
    renewed.set(next);
    parts.changes.happened();
  }

  /** As it is now, which the ledger may learn a little later. */
  public SinkState state() {
    return state;
  }

  /** How many events of the log it has not read. */
  public long eventsBehind() {
    return Math.max(0, parts.source.size() - state.position());
  }

  /** Age of the oldest event that it has not read, in seconds. */
  public double secondsBehind() {
    Instant now = parts.clock.instant();
    return parts
        .source
        .at(state.position())
        .map(event -> Math.max(0, Duration.between(event.at(), now).toMillis()) / 1000.0)
        .orElse(0.0);
  }

  /** How many attempts failed since the server started. */
  public long failures() {
    return failures;
  }

  /** How many records it gave up on, and nobody sent again; absent for one that never does. */
  public Optional<Long> deadLetters() {
    return parts.letters.map(DeadLetters::count);
  }

  /** How often the target had lost records since the server started. */
  public long rewinds() {
    return rewinds;
  }

  /** Asks it to end after the delivery at work. */
  public void stop() {
    closing = true;
    parts.changes.happened();
  }

  /**
   * Returns when the delivery at work has ended and the state is saved. A target that has not
   * answered within {@link Pace#ending} is not waited for.
   */
  @Override
  public void close() {
    stop();
    closeBy(System.nanoTime() + parts.pace.ending().toNanos());
  }

  /** The same for several that were told to {@link #stop}: none has time of its own. */
  public void closeBy(long nanoTime) {
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        long left = nanoTime - System.nanoTime();
        if (left <= 0) {
          cutTarget();
          thread.join();
        } else {
          thread.join(Duration.ofNanos(left));
        }
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void cutTarget() {
    synchronized (turn) {
      cut = true;
      if (asking) {
        thread.interrupt();
      }
    }
  }
}
