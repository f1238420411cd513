package dev.writ.ledger;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.note.Checkpoint;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;

/** A batch in the appender's queue, or a request for a checkpoint at its place in it. */
final class Pending implements Commit {
  final Optional<Batch> batch;

  /** A step of its own, in place of a batch; written alone. */
  final Optional<StorageStep> step;

  final long bytes;

  /** Number in the order of enqueueing, from 1. */
  final long number;

  /** What the awaiting thread does first: it may write the batch itself. */
  private final Consumer<Pending> helping;

  private final CompletableFuture<Optional<Checkpoint>> done = new CompletableFuture<>();
  private Optional<Checkpoint> checkpoint = Optional.empty();

  Pending(
      Optional<Batch> batch, Optional<StorageStep> step, long number, Consumer<Pending> helping) {
    this.helping = helping;
    this.batch = batch;
    this.step = step;
    this.bytes = batch.map(Batch::bytes).orElse(0L);
    this.number = number;
  }

  /** Keeps the signed checkpoint until it is durable. */
  void sealed(Checkpoint signed) {
    checkpoint = Optional.of(signed);
  }

  void complete() {
    done.complete(checkpoint);
  }

  void fail(WritException failure) {
    done.completeExceptionally(failure);
  }

  @Override
  public void await() {
    awaitCheckpoint();
  }

  Optional<Checkpoint> awaitCheckpoint() {
    if (!done.isDone()) {
      helping.accept(this);
    }
    try {
      return done.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof WritException failure) {
        // A new exception, whose trace shows the waiting caller; its cause shows the failure.
        throw new WritException(failure.code(), failure.found(), failure);
      }
      throw e;
    }
  }

  @Override
  public boolean isDone() {
    return done.isDone();
  }
}
