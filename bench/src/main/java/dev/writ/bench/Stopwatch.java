package dev.writ.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

/** Times operations, in slices of a plan. */
final class Stopwatch {
  /** Results go here, so that no operation can be left out. */
  private static volatile Object last;

  private final Plan plan;

  Stopwatch(Plan plan) {
    this.plan = plan;
  }

  long sliceNanos() {
    return plan.slice().toNanos();
  }

  /** A slice of one operation after another. */
  Step.Slice repeat(Supplier<?> operation) {
    return () -> {
      long begin = System.nanoTime();
      long operations = 0;
      long elapsed;
      do {
        last = operation.get();
        operations++;
        elapsed = System.nanoTime() - begin;
      } while (elapsed < sliceNanos());
      return (double) elapsed / operations;
    };
  }

  /** A slice of the same operation on several platform threads; the rates add up. */
  Step.Slice repeat(int threads, Supplier<?> operation) {
    return () -> {
      double[] rates = new double[threads];
      Step.Slice one = repeat(operation);
      try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
        together(pool, threads, n -> rates[n] = 1 / one.nanosPerOperation());
      }
      double sum = 0;
      for (double rate : rates) {
        sum += rate;
      }
      return 1 / sum;
    };
  }

  /** Runs callers on virtual threads, all from one moment on; nanoseconds until the last one ends. */
  static long concurrently(int callers, IntConsumer work) {
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      return together(pool, callers, work);
    }
  }

  private static long together(ExecutorService pool, int workers, IntConsumer work) {
    CountDownLatch ready = new CountDownLatch(workers);
    CountDownLatch go = new CountDownLatch(1);
    List<Future<?>> ends = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      int number = i;
      ends.add(
          pool.submit(
              () -> {
                ready.countDown();
                go.await();
                work.accept(number);
                return null;
              }));
    }
    try {
      ready.await();
      long begin = System.nanoTime();
      go.countDown();
      for (Future<?> end : ends) {
        end.get();
      }
      return System.nanoTime() - begin;
    } catch (ExecutionException e) {
      throw new IllegalStateException("a measured operation failed", e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
