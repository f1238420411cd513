package dev.writ.gateway.ops;

import io.opentelemetry.sdk.common.CompletableResultCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

/**
 * A bounded queue in front of a collector. Whoever puts something in never waits: what finds no
 * place, or is not accepted in time, is dropped and counted.
 */
final class ExportQueue<T> implements AutoCloseable {
  private static final int WAITING_MAX = 4_096;
  private static final int AT_ONCE_MAX = 512;
  private static final Duration LINGER = Duration.ofMillis(500);

  private final ArrayBlockingQueue<T> waiting = new ArrayBlockingQueue<>(WAITING_MAX);
  private final Function<Collection<T>, CompletableResultCode> send;
  private final Duration within;
  private final LongAdder sent = new LongAdder();
  private final LongAdder dropped = new LongAdder();
  private final Thread thread;
  private volatile boolean closing;

  /**
   * @param within the longest time that one batch may take
   */
  ExportQueue(String signal, Function<Collection<T>, CompletableResultCode> send, Duration within) {
    this.send = send;
    this.within = within;
    this.thread = Thread.ofPlatform().daemon().name("writ-otlp-" + signal).start(this::work);
  }

  void add(T item) {
    if (closing || !waiting.offer(item)) {
      dropped.increment();
    }
  }

  long sent() {
    return sent.sum();
  }

  long dropped() {
    return dropped.sum();
  }

  private void work() {
    List<T> batch = new ArrayList<>(AT_ONCE_MAX);
    while (!closing || !waiting.isEmpty()) {
      try {
        T first = waiting.poll(LINGER.toMillis(), TimeUnit.MILLISECONDS);
        if (first != null) {
          batch.add(first);
          waiting.drainTo(batch, AT_ONCE_MAX - 1);
          deliver(batch);
          batch.clear();
        }
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private void deliver(List<T> batch) {
    (isAccepted(batch) ? sent : dropped).add(batch.size());
  }

  private boolean isAccepted(List<T> batch) {
    try {
      return send.apply(List.copyOf(batch))
          .join(within.toMillis(), TimeUnit.MILLISECONDS)
          .isSuccess();
    } catch (RuntimeException e) { // what cannot be sent must not end the sending of the rest
      return false;
    }
  }

  /** Sends what waits, for a short time; the rest is dropped. */
  @Override
  public void close() {
    closing = true;
    try {
      thread.join(within);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    thread.interrupt();
    dropped.add(waiting.size());
  }
}
