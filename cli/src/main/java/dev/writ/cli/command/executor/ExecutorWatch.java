package dev.writ.cli.command.executor;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.ops.Probe;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/**
 * Asks in a thread of its own whether the executor in another process answers: without it every
 * effect is refused. A request for readiness gets the last answer and causes no call.
 */
public final class ExecutorWatch implements AutoCloseable {
  private static final Duration EVERY = Duration.ofSeconds(10);
  private static final Probe.Result NOT_LOOKED_YET =
      new Probe.Result(false, Optional.of("not-looked-yet"));

  private final Runnable question;
  private final BiConsumer<String, WritException> refused;
  private final CountDownLatch closing = new CountDownLatch(1);
  private final Thread thread;
  private volatile Probe.Result seen = NOT_LOOKED_YET;

  private ExecutorWatch(Runnable question, BiConsumer<String, WritException> refused) {
    this.question = question;
    this.refused = refused;
    this.thread = Thread.ofPlatform().daemon().name("writ-executor-watch").start(this::work);
  }

  /**
   * Begins.
   *
   * @param question asks it something, and throws where it does not answer
   * @param refused is told, with a word for it, why the executor cannot be used, once for each
   *     reason
   */
  public static ExecutorWatch start(Runnable question, BiConsumer<String, WritException> refused) {
    return new ExecutorWatch(question, refused);
  }

  /** Whether the executor answered when it was last asked. */
  public Probe probe() {
    return new Probe("executor", () -> seen);
  }

  private void work() {
    try {
      do {
        look();
      } while (!closing.await(EVERY.toMillis(), TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void look() {
    try {
      question.run();
      seen = Probe.Result.OK;
    } catch (WritException e) {
      Probe.Result result = new Probe.Result(false, Optional.of(e.code().code()));
      if (!seen.equals(result)) {
        refused.accept("executor", e);
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
