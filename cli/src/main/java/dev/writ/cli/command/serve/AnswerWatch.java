package dev.writ.cli.command.serve;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.ops.Probe;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Asks in a thread of its own whether another process answers without which nothing can be served:
 * the executor elsewhere, or the database. A request for readiness gets the last answer and causes
 * no call.
 */
final class AnswerWatch implements AutoCloseable {
  private static final Duration EVERY = Duration.ofSeconds(10);
  private static final Probe.Result NOT_LOOKED_YET =
      new Probe.Result(false, Optional.of("not-looked-yet"));

  private final String name;
  private final int silences;
  private final Runnable question;
  private final Consumer<WritException> refused;
  private final Runnable atLast;
  private final CountDownLatch closing = new CountDownLatch(1);
  private final Thread thread;
  private int silent;
  private volatile Probe.Result seen;

  private AnswerWatch(
      String name,
      Probe.Result first,
      int silences,
      Runnable question,
      Consumer<WritException> refused,
      Runnable atLast) {
    this.name = name;
    this.seen = first;
    this.silences = silences;
    this.question = question;
    this.refused = refused;
    this.atLast = atLast;
    this.thread = Thread.ofPlatform().daemon().name("writ-watch-" + name).start(this::work);
  }

  /**
   * Begins to ask an executor, which is not ok before it has answered once.
   *
   * @param question asks it something, and throws where it does not answer
   * @param refused is told why it cannot be used, once for each reason
   */
  static AnswerWatch ofExecutor(Runnable question, Consumer<WritException> refused) {
    return new AnswerWatch("executor", NOT_LOOKED_YET, 1, question, refused, () -> {});
  }

  /**
   * Begins to ask the database of a ledger that is open, so it has answered. One silence or two are
   * a failover or a restart, for which calls wait.
   *
   * @param atLast is done when nobody asks any more, such as closing what is asked
   */
  static AnswerWatch ofDatabase(
      Runnable question, Consumer<WritException> refused, Runnable atLast) {
    return new AnswerWatch("database", Probe.Result.OK, 3, question, refused, atLast);
  }

  /** Whether it answered when it was last asked. */
  Probe probe() {
    return new Probe(name, () -> seen);
  }

  private void work() {
    try {
      do {
        look();
      } while (!closing.await(EVERY.toMillis(), TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      atLast.run();
    }
  }

  synchronized void look() {
    try {
      question.run();
      silent = 0;
      seen = Probe.Result.OK;
    } catch (WritException e) {
      silent++;
      Probe.Result result = new Probe.Result(false, Optional.of(e.code().code()));
      if (silent < silences || closing.getCount() == 0) {
        return;
      }
      if (!seen.equals(result)) {
        refused.accept(e);
      }
      seen = result;
    }
  }

  /** An answer that is awaited is not waited for. */
  @Override
  public void close() {
    closing.countDown();
    thread.interrupt();
  }
}
