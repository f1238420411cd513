package dev.writ.executor;

import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.dsse.EnvelopeBatch;
import dev.writ.canonicalize.dsse.SignatureCheck;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/**
 * Verifies the signatures of requests that are submitted at the same time in batches, which takes
 * about half the processor time for each (spec/envelope.md, rule 12). A batch only finds out early
 * what {@link Envelope#verifySignatures} would: every caller asks that in the end, and it judges
 * alone whatever no batch accepted.
 *
 * <p>A caller adds its request to the batch that is being gathered and lets the other threads run
 * that are ready to. Whichever caller of the batch runs again first verifies it for all of them, so
 * none depends on a particular thread, and none waits for a time to pass.
 */
final class BatchedSignatureCheck implements SignatureCheck {
  /** A full batch is not added to: its callers would wait longer, and gain little. */
  static final int MOST = 128;

  /**
   * How many requests are verified singly after a batch with a bad signature. Whoever sends bad
   * ones on purpose therefore has one batch computed in vain in about so many requests, and those
   * that were being gathered or verified beside it.
   */
  static final int SINGLY_AFTER_A_BAD_ONE = 1024;

  private final Runnable letOthersRun;
  private final Predicate<EnvelopeBatch> equation;
  private final AtomicInteger callers = new AtomicInteger();
  private final AtomicInteger singly = new AtomicInteger();

  /** The batch that is being gathered; it and its fields are guarded by this object. */
  private Gathered gathering = new Gathered();

  private static final class Gathered {
    final List<EnvelopeBatch.Item> items = new ArrayList<>();
    final CountDownLatch done = new CountDownLatch(1);
    boolean taken;
  }

  BatchedSignatureCheck() {
    this(Thread::yield, EnvelopeBatch::verify);
  }

  /** For tests, which choose who is there and what fails. */
  BatchedSignatureCheck(Runnable letOthersRun, Predicate<EnvelopeBatch> equation) {
    this.letOthersRun = letOthersRun;
    this.equation = equation;
  }

  /** Counts a caller as present until it is closed: with a few of them, no batch is gathered. */
  Presence enter() {
    callers.incrementAndGet();
    return callers::decrementAndGet;
  }

  /** The presence of a caller. */
  interface Presence extends AutoCloseable {
    @Override
    void close();
  }

  @Override
  public void verify(Envelope envelope, List<VerifyingKey> keys) {
    EnvelopeBatch.Item item = new EnvelopeBatch.Item(envelope, keys);
    if (callers.get() >= EnvelopeBatch.least() && item.mayGain() && !isSingly()) {
      verifyTogether(item);
    }
    envelope.verifySignatures(keys);
  }

  private boolean isSingly() {
    return singly.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
  }

  private void verifyTogether(EnvelopeBatch.Item item) {
    Gathered batch;
    boolean full;
    synchronized (this) {
      batch = gathering;
      batch.items.add(item);
      full = batch.items.size() == MOST;
      if (full) {
        gathering = new Gathered();
      }
    }
    if (!full) {
      letOthersRun.run();
    }
    if (take(batch)) {
      verify(batch);
    } else {
      await(batch);
    }
  }

  /** Whether this caller is the first of the batch, which nobody joins from then on. */
  private synchronized boolean take(Gathered batch) {
    boolean first = !batch.taken;
    batch.taken = true;
    if (batch == gathering) {
      gathering = new Gathered();
    }
    return first;
  }

  private void verify(Gathered batch) {
    try {
      EnvelopeBatch envelopes = new EnvelopeBatch(batch.items);
      if (envelopes.pays() && !equation.test(envelopes)) {
        singly.set(SINGLY_AFTER_A_BAD_ONE);
      }
    } finally {
      batch.done.countDown();
    }
  }

  /** An interrupted caller does not wait; it verifies alone. */
  private static void await(Gathered batch) {
    try {
      batch.done.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
