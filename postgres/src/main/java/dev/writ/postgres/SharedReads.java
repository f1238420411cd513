package dev.writ.postgres;

import dev.writ.ledger.storage.Storage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;

/**
 * Reads of many callers in few round trips: what callers want while others read is read together
 * next.
 */
final class SharedReads {
  /** One more than one, so that the server is at work while answers are taken. */
  private static final int AT_ONCE = 2;

  private record Wanted(List<Storage.Name> names, CountDownLatch done) {}

  private final Consumer<List<Storage.Name>> read;
  private final Semaphore turns = new Semaphore(AT_ONCE);
  private List<Wanted> waiting = new ArrayList<>();

  SharedReads(Consumer<List<Storage.Name>> read) {
    this.read = read;
  }

  /**
   * Returns when these rows were read, or when another caller that read them for this one failed.
   */
  void await(List<Storage.Name> names) {
    Wanted own = new Wanted(names, new CountDownLatch(1));
    synchronized (this) {
      waiting.add(own);
    }
    turns.acquireUninterruptibly();
    try {
      readWaiting();
    } finally {
      turns.release();
    }
    awaitDone(own);
  }

  private void readWaiting() {
    List<Wanted> group;
    synchronized (this) {
      group = waiting;
      waiting = new ArrayList<>();
    }
    try {
      if (!group.isEmpty()) {
        read.accept(group.stream().flatMap(wanted -> wanted.names().stream()).toList());
      }
    } finally {
      group.forEach(wanted -> wanted.done().countDown());
    }
  }

  /** Where it is interrupted it goes on without: each look asks for itself. */
  private static void awaitDone(Wanted own) {
    try {
      own.done().await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
