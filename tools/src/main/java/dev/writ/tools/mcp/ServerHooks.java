package dev.writ.tools.mcp;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.CallPeer;
import dev.writ.tools.mcp.protocol.InputAnswers;
import dev.writ.tools.mcp.protocol.PeerHooks;
import dev.writ.tools.mcp.protocol.PeerReply;
import dev.writ.tools.process.Masking;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * What a server says beside its answers, brought to the call that it is about: progress by its
 * token, questions and logs to the one call at work, of a package whose calls run one by one.
 */
final class ServerHooks implements PeerHooks, InputAnswers {
  private static final List<String> LISTS =
      List.of(
          "notifications/tools/list_changed",
          "notifications/prompts/list_changed",
          "notifications/resources/list_changed");

  private final String server;
  private final Passes passes;
  private final Masking masking;
  private final AtomicBoolean changed = new AtomicBoolean();
  private final TreeMap<String, CallLine> byToken = new TreeMap<>();
  private long tokens;
  private int cancelled;

  ServerHooks(String server, Passes passes, Masking masking) {
    this.server = server;
    this.passes = passes;
    this.masking = masking;
  }

  /** Whether a list has changed since it was last looked at. */
  AtomicBoolean changed() {
    return changed;
  }

  /**
   * A call begins.
   *
   * @return its token, by which the server may tell its progress
   */
  synchronized String begins(CallLine line) {
    String token = "p-" + ++tokens;
    byToken.put(token, line);
    return token;
  }

  CallLine line(CallPeer peer) {
    return new CallLine(server, peer, masking);
  }

  void ends(String token) {
    Optional<CallLine> line;
    synchronized (this) {
      line = Optional.ofNullable(byToken.remove(token));
    }
    line.ifPresent(CallLine::close);
  }

  private synchronized Optional<CallLine> line(JsonValue.Obj params) {
    return params.get("progressToken") instanceof JsonValue.Str token
        ? Optional.ofNullable(byToken.get(token.value()))
        : Optional.empty();
  }

  /** The call that is at work; of several none, since nothing says which is meant. */
  private synchronized Optional<CallLine> only() {
    return passes.talks() && byToken.size() == 1
        ? Optional.of(byToken.firstEntry().getValue())
        : Optional.empty();
  }

  @Override
  public synchronized void cancelled(boolean isOpen) {
    cancelled += isOpen ? 1 : -1;
  }

  /** Whether it may still be at something that was cancelled. */
  synchronized boolean isBusyInVain() {
    return cancelled > 0;
  }

  @Override
  public long waitedMs() {
    return only().map(CallLine::waitedMs).orElse(0L);
  }

  @Override
  public void told(String method, JsonValue.Obj params) {
    if (LISTS.contains(method)) {
      changed.set(true);
      return;
    }
    switch (method) {
      case "notifications/progress" -> line(params).ifPresent(line -> line.progress(params));
      case "notifications/message" -> {
        if (passes.has(Passes.LOGGING)) {
          only().ifPresent(line -> line.log(params));
        }
      }
      case "notifications/elicitation/complete" -> {
        if (passes.has(Passes.ELICITATION)) {
          only().ifPresent(line -> line.completed(params));
        }
      }
      default -> {
        // unknown ones mean nothing to us, and pass to nobody
      }
    }
  }

  /** In the version without sessions a server asks by a result, in the thread of the call. */
  @Override
  public Optional<JsonValue.Obj> answer(String method, JsonValue.Obj params) {
    Optional<CallLine> line = only();
    return question(method)
        .flatMap(question -> line.map(of -> of.ask(question, params)))
        .filter(reply -> reply.member().equals("result"))
        .map(PeerReply::value);
  }

  private Optional<Question> question(String method) {
    return List.of(Question.values()).stream()
        .filter(each -> each.method().equals(method) && each.isIn(passes))
        .findFirst();
  }

  @Override
  public boolean takes(String method, JsonValue.Obj params, Consumer<PeerReply> reply) {
    Optional<Question> question = question(method);
    Optional<CallLine> line = only();
    if (question.isEmpty() || line.isEmpty()) {
      return false;
    }
    Thread.ofVirtual()
        .name("writ-mcp-question")
        .start(() -> reply.accept(line.get().ask(question.get(), params)));
    return true;
  }
}
