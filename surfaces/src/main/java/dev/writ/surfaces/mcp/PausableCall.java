package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * A call that runs in a thread of its own, so that it can outlive the request that began it and go
 * on with the one that brings the answers to its questions. Thread safe.
 */
final class PausableCall {
  /** How often a question that waits looks whether somebody still waits for its answer. */
  private static final Duration LOOK_EVERY = Duration.ofMillis(250);

  private final McpSession session;
  private final MessageInProgress work;
  private final Digest binding;
  private final BooleanSupplier isEnding;
  private final TreeMap<String, Question> open = new TreeMap<>();
  private CompletableFuture<McpEndpoint.Reply> reply = new CompletableFuture<>();
  private int asked;

  /** A question that has no answer yet. */
  record Question(
      String method, JsonValue.Obj params, CompletableFuture<Optional<JsonValue.Obj>> answer) {}

  /**
   * @param binding digest of what a request must say to be the same call
   * @param isEnding whether nobody can answer any more
   */
  PausableCall(
      McpSession session, MessageInProgress work, Digest binding, BooleanSupplier isEnding) {
    this.session = session;
    this.work = work;
    this.binding = binding;
    this.isEnding = isEnding;
    work.isAsked(this::ask);
  }

  MessageInProgress work() {
    return work;
  }

  McpSession session() {
    return session;
  }

  /** Whether a request of that session may go on with it. */
  boolean is(McpSession other, Digest saying) {
    return session.isOf(other.caller())
        && session.view().equals(other.view())
        && session.run().equals(other.run())
        && binding.equals(saying);
  }

  /**
   * @param seen makes of the work of another thread what is seen as this thread's
   */
  void begin(Supplier<McpEndpoint.Reply> once, UnaryOperator<Runnable> seen) {
    CompletableFuture<McpEndpoint.Reply> begun =
        CompletableFuture.supplyAsync(
            once, task -> Thread.ofVirtual().name("writ-mcp-call").start(seen.apply(task)));
    synchronized (this) {
      reply = begun;
    }
    begun.whenComplete((_, _) -> wake());
  }

  private synchronized void wake() {
    notifyAll();
  }

  private Optional<JsonValue.Obj> ask(String method, JsonValue.Obj params, long atMostMs) {
    Question question = new Question(method, params, new CompletableFuture<>());
    String key;
    synchronized (this) {
      key = "question-" + ++asked;
      open.put(key, question);
      notifyAll();
    }
    long until = System.nanoTime() + atMostMs * 1_000_000;
    try {
      while (System.nanoTime() < until && !work.isCancelled() && !isEnding.getAsBoolean()) {
        try {
          return question.answer().get(LOOK_EVERY.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
          // not yet
        }
      }
      return Optional.empty();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e); // nobody completes it with a failure
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    } finally {
      synchronized (this) {
        open.remove(key);
      }
    }
  }

  /** What waits for an answer, by key. */
  synchronized Map<String, Question> open() {
    return new TreeMap<>(open);
  }

  synchronized boolean isAsking() {
    return !open.isEmpty();
  }

  /** Gives the answers that there are; other questions go on waiting. */
  synchronized void answer(Map<String, JsonValue.Obj> answers) {
    answers.forEach((key, value) ->
        Optional.ofNullable(open.remove(key))
            .ifPresent(question -> question.answer().complete(Optional.of(value))));
  }

  /** Nobody will answer what is asked now. */
  synchronized void refuse() {
    open.values().forEach(question -> question.answer().complete(Optional.empty()));
    open.clear();
  }

  /** Waits until it asks something or has ended. */
  synchronized void await() {
    try {
      while (open.isEmpty() && !reply.isDone()) {
        wait();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  synchronized boolean hasEnded() {
    return reply.isDone();
  }

  /** Its reply, once it has ended; the exception that it ended with. */
  McpEndpoint.Reply reply() {
    CompletableFuture<McpEndpoint.Reply> of;
    synchronized (this) {
      of = reply;
    }
    try {
      return of.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException own) {
        throw own;
      }
      throw e;
    }
  }
}
