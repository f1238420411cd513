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

  /** By how much progress grows where a server says nothing: less than any step of its own. */
  private static final double SILENT_STEP = 1e-6;

  private static final AtomicLong QUESTIONS = new AtomicLong();

  private final McpSession connection;
  private final McpSession session;
  private final MessageInProgress work;
  private final McpChannel channel;
  private final Object end = new Object();
  private boolean ended;
  private boolean hasTold;
  private double progress;

  /**
   * @param connection by which the client cancels, and answers what it is asked
   * @param session that the call is in
   */
  public McpDialogue(
      McpSession connection, McpSession session, MessageInProgress work, McpChannel channel) {
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
    work.isHeard(this::wake);
    if (channel.canAnswer() && !session.peer().version().isStateless()) {
      work.isAsked(this::ask);
    }
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

  private void wake() {
    synchronized (end) {
      end.notifyAll();
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
    Optional<MessageInProgress.Phase> told = Optional.empty();
    long at = System.nanoTime();
    while (true) {
      if (channel != McpChannel.NONE
          && !channel.isOpen()
          && session.peer().version().isStateless()) {
        work.cancel();
        return;
      }
      boolean isLast;
      synchronized (end) {
        isLast = ended; // what was told before the end is told before the response
      }
      if (passOn()) {
        at = System.nanoTime();
      }
      if (isLast) {
        return;
      }
      MessageInProgress.Phase phase = work.phase();
      boolean due = System.nanoTime() - at >= PROGRESS_EVERY.toNanos();
      boolean isNews = !told.equals(Optional.of(phase)) && !isOfServer();
      if (work.progressToken().isPresent() && (due || isNews)) {
        tell(phase);
        told = Optional.of(phase);
        at = System.nanoTime();
      }
      synchronized (end) {
        if (ended || work.isToTell()) {
          continue;
        }
        try {
          end.wait(LOOK_EVERY.toMillis());
        } catch (InterruptedException e) {
          return; // nobody interrupts it
        }
      }
    }
  }

  /** In the view of one server its own progress is told, and ours only where that is silent. */
  private boolean isOfServer() {
    return session.view().server().isPresent();
  }

  private void tell(MessageInProgress.Phase phase) {
    progress(
        progress + (isOfServer() ? SILENT_STEP : 1),
        Optional.empty(),
        Optional.of(JsonValue.of("The call " + phase.words() + ".")));
  }

  private void progress(double to, Optional<JsonValue> total, Optional<JsonValue> message) {
    progress = to;
    channel.send(
        notification(
            "notifications/progress",
            JsonValue.object()
                .put("progressToken", work.progressToken().orElseThrow())
                .put("progress", new JsonValue.Num(to))
                .putIfPresent("total", total, t -> t)
                .putIfPresent("message", message, m -> m)
                .build()));
  }

  private static JsonValue.Obj notification(String method, JsonValue.Obj params) {
    return JsonValue.object()
        .put("jsonrpc", "2.0")
        .put("method", method)
        .put("params", params)
        .build();
  }

  /** Tells what the server of the tool told; false where there was nothing. */
  private boolean passOn() {
    boolean any = false;
    for (Optional<MessageInProgress.Told> next = work.next();
        next.isPresent();
        next = work.next()) {
      any = true;
      JsonValue.Obj params = next.get().params();
      if (!next.get().method().equals("notifications/progress")) {
        channel.send(notification(next.get().method(), params));
      } else if (work.progressToken().isPresent()
          && params.get("progress") instanceof JsonValue.Num own) {
        Optional<JsonValue> total = Optional.ofNullable(params.get("total"));
        Optional<JsonValue> message = Optional.ofNullable(params.get("message"));
        if (!isOfServer()) {
          progress(progress + 1, Optional.empty(), message); // ours counts messages
        } else if (!hasTold || own.value() > progress) {
          progress(own.value(), total, message);
        }
        hasTold = true;
      }
    }
    return any;
  }

  /** Puts a server's question to the client. */
  private Optional<JsonValue.Obj> ask(String method, JsonValue.Obj params, long atMostMs) {
    return question(method, params, atMostMs * 1_000_000)
        .filter(JsonValue.Obj.class::isInstance)
        .map(JsonValue.Obj.class::cast);
  }

  /** Asks the client's person, until there is an answer or nobody waits for one any more. */
  private boolean isAnsweredYes(ApprovalQuestion question) {
    work.in(MessageInProgress.Phase.WAITS);
    return question(
            ApprovalQuestion.METHOD,
            (JsonValue.Obj) PlainJson.from(question.params()),
            PATIENCE.toNanos())
        .filter(JsonValue.Obj.class::isInstance)
        .map(result -> ((JsonValue.Obj) result).get("action"))
        .filter(JsonValue.of("accept")::equals)
        .isPresent();
  }

  /** The client's result; empty for an error, and where nobody waits for one any more. */
  private Optional<JsonValue> question(String method, JsonValue.Obj params, long atMostNs) {
    JsonValue id = JsonValue.of("writ-" + QUESTIONS.incrementAndGet());
    CompletableFuture<Optional<JsonValue>> answer = connection.asks(id);
    try {
      channel.send(
          JsonValue.object()
              .put("jsonrpc", "2.0")
              .put("id", id)
              .put("method", method)
              .put("params", params)
              .build());
      long until = System.nanoTime() + atMostNs;
      while (System.nanoTime() < until && channel.canAnswer() && !work.isCancelled() && !isOver()) {
        try {
          return answer.get(LOOK_EVERY.toMillis(), TimeUnit.MILLISECONDS);
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
      connection.asksNoMore(id);
    }
  }

  private boolean isOver() {
    synchronized (end) {
      return ended;
    }
  }
}
