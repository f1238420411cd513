package dev.writ.verify.work;

import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Processes pieces on all cores, ahead of the consumer of the results, which come in the order of
 * the pieces; the number of pieces under way is limited. An exception is thrown in place of the
 * failed piece's result.
 *
 * @param <T> a piece
 * @param <R> the result for a piece
 */
public final class Ahead<T, R> implements AutoCloseable {
  /** More workers would use memory without a gain in speed. */
  private static final int WORKERS_MAX = 8;

  private final int workers =
      Math.clamp(Runtime.getRuntime().availableProcessors(), 1, WORKERS_MAX);
  private final ExecutorService pool;
  private final Executor by;
  private final ArrayDeque<Future<R>> underWay = new ArrayDeque<>();
  private final Supplier<Optional<T>> pieces;
  private final Function<T, R> work;
  private boolean ended;

  /**
   * @param pieces called on the consumer's thread; empty at the end
   */
  public Ahead(Supplier<Optional<T>> pieces, Function<T, R> work) {
    this(pieces, work, Optional.empty());
  }

  /**
   * @param pieces called on the consumer's thread; empty at the end
   * @param by does the work, instead of threads of this object's own
   */
  public Ahead(Supplier<Optional<T>> pieces, Function<T, R> work, Optional<Executor> by) {
    this.pieces = pieces;
    this.work = work;
    this.pool =
        Executors.newFixedThreadPool(
            workers,
            // One name for all: the JDK makes code anew in each process to count with.
            task -> Thread.ofPlatform().daemon().name("writ-verify").unstarted(task));
    this.by = by.orElse(pool); // which starts a thread with its first task
  }

  /** Begins with as many pieces as may be under way, which {@link #next} does as well. */
  public void begin() {
    while (!ended && underWay.size() <= workers) {
      beginOne();
    }
  }

  /** The next result; empty at the end. */
  public Optional<R> next() {
    begin();
    Future<R> first = underWay.poll();
    if (first == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(first.get());
    } catch (ExecutionException e) {
      switch (e.getCause()) {
        case RuntimeException cause -> throw cause;
        case Error cause -> throw cause;
        default -> throw new IllegalStateException(e.getCause());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while it verifies", e);
    }
  }

  private void beginOne() {
    try {
      Optional<T> piece = pieces.get();
      ended = piece.isEmpty();
      if (!ended) {
        FutureTask<R> task = new FutureTask<>(() -> work.apply(piece.get()));
        underWay.add(task);
        by.execute(task);
      }
    } catch (RuntimeException e) {
      // Results of earlier pieces must come before this failure.
      ended = true;
      underWay.add(CompletableFuture.failedFuture(e));
    }
  }

  @Override
  public void close() {
    pool.shutdownNow();
  }
}
