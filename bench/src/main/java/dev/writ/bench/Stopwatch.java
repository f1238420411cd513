package dev.writ.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

/** Times operations, in slices of a plan. */
final class Stopwatch {
  /** Results go here, so that the compiler cannot drop an operation. */
  private static volatile Object last;

  private final Plan plan;

  Stopwatch(Plan plan) {
    this.plan = plan;
  }

  Plan plan() {
    return plan;
  }

  /** How many operations of that length make a slice for each caller, within bounds. */
  int each(Cost operation, int callers, int max) {
    return (int) Math.clamp(plan.slice().toNanos() / operation.wallNs() / callers, 4, max);
  }

  /** A slice of one operation after another. */
  Step.Slice repeat(Supplier<?> operation) {
    return () -> {
      Cost.Start start = Cost.Start.now();
      return start.each(untilSliceEnds(start, operation));
    };
  }

  /** A slice of the same operation on several platform threads at once. */
  Step.Slice repeat(int threads, Supplier<?> operation) {
    return () -> {
      AtomicLong operations = new AtomicLong();
      try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
        Cost.Start start =
            together(
                pool,
                threads,
                _ -> operations.addAndGet(untilSliceEnds(Cost.Start.now(), operation)));
        return start.each(operations.get());
      }
    };
  }

  private long untilSliceEnds(Cost.Start start, Supplier<?> operation) {
    long operations = 0;
    do {
      last = operation.get();
      operations++;
    } while (start.wallNanos() < plan.slice().toNanos());
    return operations;
  }

  /**
   * The average cost of an operation, run by callers on virtual threads that all start at the same
   * moment.
   */
  static Cost concurrently(int callers, int each, IntConsumer caller) {
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      return together(pool, callers, caller).each((long) callers * each);
    }
  }

  /** Returns when all have ended, with the moment at which they began. */
  private static Cost.Start together(ExecutorService pool, int workers, IntConsumer work) {
    CountDownLatch ready = new CountDownLatch(workers);
    CountDownLatch go = new CountDownLatch(1);
    List<Future<?>> ends = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      int number = i;
      ends.add(
          pool.submit(() -> {
            ready.countDown();
            go.await();
            work.accept(number);
            return null;
          }));
    }
    try {
      ready.await();
      Cost.Start start = Cost.Start.now();
      go.countDown();
      for (Future<?> end : ends) {
        end.get();
      }
      return start;
    } catch (ExecutionException e) {
      throw new IllegalStateException("a measured operation failed", e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
