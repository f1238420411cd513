package dev.writ.ledger;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.disk.FailStop;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Writes batches, one group at a time, in a thread of its own. All batches that wait when it is
 * ready become one synced write, so that they share the cost of the sync; callers on virtual
 * threads do not block in native code while others wait. The order of enqueueing is the order of
 * committing. A failed write stops the ledger: nothing after it may be acknowledged (protocol rule
 * 15).
 *
 * <p>A caller that is alone, and awaits its batch at once, writes it in its own thread: waking
 * another one and being woken by it would take a large part of the time of a sync. Where an
 * interrupt of that thread would fail the write, the appender's thread does it.
 */
final class Appender {
  /** Bytes of one write: enough to share a sync, few enough to answer soon. */
  private static final long GROUP_BYTES_MAX = 8L << 20;

  /** Bytes that may wait; beyond that callers are refused, which bounds memory. */
  private static final long QUEUE_BYTES_MAX = 256L << 20;

  /** For a batch that the appender's thread writes. */
  private static final Consumer<Pending> NOBODY = _ -> {};

  /** Writes a group durably, in order, or throws. */
  @FunctionalInterface
  interface GroupWriter {
    void write(List<Pending> group);
  }

  private final GroupWriter writer;
  private final Heads heads;
  private final FailStop failStop;
  private final boolean callersWrite;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition work = lock.newCondition();
  private final ArrayDeque<Pending> queue = new ArrayDeque<>();
  private final Thread thread;

  /** Whether a thread has taken a group and is not done with it; there is one at most. */
  private boolean writing;

  /** How many batches the last group had: where there was more than one, callers are not alone. */
  private int lastGroup;

  private long queuedBytes;
  private long enqueued;
  private long durable;
  private boolean closing;
  private volatile CommitObserver observer = CommitObserver.NONE;

  /**
   * @param threads makes the writing thread
   * @param callersWrite whether a caller that is alone may write its batch
   */
  Appender(
      GroupWriter writer,
      Heads heads,
      FailStop failStop,
      ThreadFactory threads,
      boolean callersWrite) {
    this.writer = writer;
    this.heads = heads;
    this.failStop = failStop;
    this.callersWrite = callersWrite;
    this.thread = threads.newThread(this::run);
    failStop.listen(this::stopped);
  }

  void start() {
    thread.start();
  }

  /** Enqueues a batch, or a request for a checkpoint where there is none. */
  Pending submit(Optional<Batch> batch) {
    return submit(batch, Optional.empty(), false);
  }

  /** Enqueues a batch that the calling thread awaits at once. */
  Pending submitAwaited(Batch batch) {
    return submit(Optional.of(batch), Optional.empty(), true);
  }

  /** Enqueues a step, which is taken alone, after everything before it. */
  Pending submit(StorageStep step) {
    return submit(Optional.empty(), Optional.of(step), false);
  }

  /**
   * Takes the events of a step's batch, whose step was enqueued without them because only its turn
   * shows whether it is written.
   */
  void place(Batch batch) {
    lock.lock();
    try {
      heads.advance(batch, enqueued, durable);
      batch.use();
    } finally {
      lock.unlock();
    }
  }

  private Pending submit(Optional<Batch> batch, Optional<StorageStep> step, boolean isAwaited) {
    lock.lock();
    try {
      requireOpen();
      boolean isAlone = isAwaited && callersWrite && queue.isEmpty() && !writing && lastGroup <= 1;
      Pending pending = new Pending(batch, step, enqueued + 1, isAlone ? this::writeAlone : NOBODY);
      if (queuedBytes > 0 && queuedBytes + pending.bytes > QUEUE_BYTES_MAX) {
        throw new WritException(LedgerError.OVERLOADED, queuedBytes + " bytes wait");
      }
      if (batch.isPresent()) {
        heads.advance(batch.get(), pending.number, durable);
        batch.get().use();
      }
      enqueued++;
      queuedBytes += pending.bytes;
      queue.add(pending);
      if (!isAlone) {
        work.signal();
      }
      return pending;
    } finally {
      lock.unlock();
    }
  }

  Optional<Event> pendingHead(RunId run) {
    lock.lock();
    try {
      requireOpen();
      return heads.head(run).map(Heads.Head::event);
    } finally {
      lock.unlock();
    }
  }

  private void requireOpen() {
    failStop.require();
    if (closing) {
      throw new WritException(LedgerError.CLOSED, "");
    }
  }

  private void run() {
    List<Pending> group = take();
    while (!group.isEmpty()) {
      process(group);
      group = take();
    }
  }

  /** Writes a batch in the thread that awaits it, unless another thread has it or more wait. */
  private void writeAlone(Pending own) {
    List<Pending> group;
    lock.lock();
    try {
      if (writing || queue.size() != 1 || queue.peek() != own) {
        return; // whoever enqueued the next one has woken the appender's thread
      }
      group = poll();
    } finally {
      lock.unlock();
    }
    if (!group.isEmpty()) {
      process(group);
    }
  }

  /** Writes a group that this thread has taken. A failure ends all further work. */
  private void process(List<Pending> group) {
    try {
      write(group);
      lock.lock();
      try {
        durable = group.getLast().number;
      } finally {
        lock.unlock();
      }
      group.forEach(Pending::complete);
    } catch (WritException e) {
      fail(e, group);
    } catch (RuntimeException | Error e) {
      fail(new WritException(LedgerError.FAILED, "the appender failed: " + e, e), group);
    } finally {
      lock.lock();
      try {
        writing = false;
        lastGroup = group.size();
        if (!queue.isEmpty() || closing || failStop.failure().isPresent()) {
          work.signal();
        }
      } finally {
        lock.unlock();
      }
    }
  }

  private void write(List<Pending> group) {
    CommitObserver told = observer;
    told.begins(group.size());
    try {
      writer.write(group);
    } finally {
      told.ends();
    }
  }

  void observe(CommitObserver watching) {
    observer = watching;
  }

  /** How many batches wait to be written. */
  int waiting() {
    lock.lock();
    try {
      return queue.size();
    } finally {
      lock.unlock();
    }
  }

  private static boolean fits(Pending next, long bytes) {
    return next.step.isEmpty() && bytes + next.bytes <= GROUP_BYTES_MAX;
  }

  /** Waits for work; an empty list ends the thread. */
  private List<Pending> take() {
    lock.lock();
    try {
      while (writing || queue.isEmpty() && !closing && failStop.failure().isEmpty()) {
        work.awaitUninterruptibly();
      }
      return poll();
    } finally {
      lock.unlock();
    }
  }

  /** Takes the next group, which is empty once the ledger has stopped; the lock is held. */
  private List<Pending> poll() {
    List<Pending> group = new ArrayList<>();
    long bytes = 0;
    while (!queue.isEmpty()
        && failStop.failure().isEmpty()
        && (group.isEmpty() || fits(queue.peek(), bytes))) {
      Pending pending = queue.poll();
      bytes += pending.bytes;
      group.add(pending);
      if (pending.step.isPresent()) {
        break;
      }
    }
    queuedBytes -= bytes;
    writing = !group.isEmpty();
    return group;
  }

  /** Fails every batch that is not durable yet with this failure. */
  private void fail(WritException e, List<Pending> group) {
    failStop.stop(e);
    group.forEach(pending -> pending.fail(e));
  }

  /** From now on no waiting batch is written. */
  private void stopped(WritException e) {
    List<Pending> lost;
    lock.lock();
    try {
      lost = List.copyOf(queue);
      queue.clear();
      queuedBytes = 0;
      work.signal();
    } finally {
      lock.unlock();
    }
    lost.forEach(pending -> pending.fail(e));
  }

  /** Takes no more work, writes what waits, and returns when the thread has ended. */
  void close() {
    lock.lock();
    try {
      closing = true;
      work.signal();
    } finally {
      lock.unlock();
    }
    Threads.join(thread);
  }
}
