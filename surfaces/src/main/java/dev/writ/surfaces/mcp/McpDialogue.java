package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.json.JsonValue;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * One call and what is said to the client while it is at work: its progress and, in a session, the
 * question of a call that waits for an approver.
 */
public final class McpDialogue {
  /** How often a call that is at work says so: clients give up one that is silent for long. */
  private static final Duration PROGRESS_EVERY = Duration.ofSeconds(5);

  /** How often the client's end and the call's are looked for. */
  private static final Duration LOOK_EVERY = Duration.ofMillis(250);

  /** How long the person beside a client may take. */
  private static final Duration PATIENCE = Duration.ofMinutes(30);

  private static final AtomicLong QUESTIONS = new AtomicLong();

  private final McpSession connection;
  private final McpSession session;
  private final McpWork work;
  private final McpChannel channel;
  private final Object end = new Object();
  private boolean ended;
  private long progress;

  /**
   * @param connection by which the client cancels, and answers what it is asked
   * @param session that the call is in
   */
  public McpDialogue(McpSession connection, McpSession session, McpWork work, McpChannel channel) {
    this.connection = connection;
    this.session = session;
    this.work = work;
    this.channel = channel;
  }

  /**
   * Answers a message, once more where the client's person said that the call is to go on.
   *
   * @param once answers it now
   * @param await waits for the approver of a request
   */
  public McpEndpoint.Reply answer(
      McpMessage.Request message,
      Supplier<McpEndpoint.Reply> once,
      Consumer<ApprovalQuestion> await) {
    connection.begins(message.id(), work);
    Thread pulse = Thread.ofVirtual().name("writ-mcp-progress").start(this::pulse);
    try {
      McpEndpoint.Reply reply = once.get();
      if (reply.question().isPresent()
          && channel.canAnswer()
          && isAnsweredYes(reply.question().get())) {
        await.accept(reply.question().get());
        return once.get();
      }
      return reply;
    } finally {
      connection.ends(message.id(), work);
      synchronized (end) {
        ended = true;
        end.notifyAll();
      }
      join(pulse);
    }
  }

  private static void join(Thread pulse) {
    try {
      pulse.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Tells the progress, and cancels the call of a client that has gone, where that means it. */
  private void pulse() {
    Optional<McpWork.Phase> told = Optional.empty();
    long at = System.nanoTime();
    while (true) {
      if (channel != McpChannel.NONE
          && !channel.isOpen()
          && session.peer().version().isStateless()) {
        work.cancel();
        return;
      }
      McpWork.Phase phase = work.phase();
      boolean due = System.nanoTime() - at >= PROGRESS_EVERY.toNanos();
      if (work.progressToken().isPresent() && (due || !told.equals(Optional.of(phase)))) {
        tell(phase);
        told = Optional.of(phase);
        at = System.nanoTime();
      }
      synchronized (end) {
        if (ended) {
          return;
        }
        try {
          end.wait(LOOK_EVERY.toMillis());
        } catch (InterruptedException e) {
          return; // nobody interrupts it
        }
        if (ended) {
          return;
        }
      }
    }
  }

  private void tell(McpWork.Phase phase) {
    progress++;
    channel.send(
        JsonValue.object()
            .put("jsonrpc", "2.0")
            .put("method", "notifications/progress")
            .put(
                "params",
                JsonValue.object()
                    .put("progressToken", work.progressToken().orElseThrow())
                    .put("progress", progress)
                    .put("message", "The call " + phase.words() + ".")
                    .build())
            .build());
  }

  /** Asks the client's person, until there is an answer or nobody waits for one any more. */
  private boolean isAnsweredYes(ApprovalQuestion question) {
    work.in(McpWork.Phase.WAITS);
    JsonValue id = JsonValue.of("writ-" + QUESTIONS.incrementAndGet());
    CompletableFuture<Optional<JsonValue>> answer = connection.asks(id);
    try {
      channel.send(
          JsonValue.object()
              .put("jsonrpc", "2.0")
              .put("id", id)
              .put("method", ApprovalQuestion.METHOD)
              .put("params", PlainJson.from(question.params()))
              .build());
      long until = System.nanoTime() + PATIENCE.toNanos();
      while (System.nanoTime() < until && channel.canAnswer() && !work.isCancelled()) {
        try {
          return answer
              .get(LOOK_EVERY.toMillis(), TimeUnit.MILLISECONDS)
              .filter(JsonValue.Obj.class::isInstance)
              .map(result -> ((JsonValue.Obj) result).get("action"))
              .filter(JsonValue.of("accept")::equals)
              .isPresent();
        } catch (TimeoutException e) {
          // not yet
        }
      }
      return false;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e); // nobody completes it with a failure
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      connection.asksNoMore(id);
    }
  }
}
