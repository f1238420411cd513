package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.function.Consumer;

/** One message of a client that is at work: what to call its progress, and how it is cancelled. */
public final class MessageInProgress {
  /** What a call is doing, in the words of its progress. */
  public enum Phase {
    ASKED("waits for its turn"),
    RUNS("is allowed or being judged, and runs"),
    WAITS("waits for an approval");

    private final String words;

    Phase(String words) {
      this.words = words;
    }

    String words() {
      return words;
    }
  }

  /** How many messages may wait until the client is told them; more are lost. */
  private static final int TOLD_MAX = 256;

  private Optional<JsonValue> progressToken;
  private Optional<String> logLevel;
  private final ArrayDeque<Told> told = new ArrayDeque<>();
  private Runnable wakes = () -> {};
  private Optional<Asking> asking = Optional.empty();
  private Phase phase = Phase.ASKED;
  private Optional<Digest> request = Optional.empty();
  private Consumer<Digest> stop = _ -> {};
  private boolean cancelled;

  MessageInProgress(Optional<JsonValue> progressToken, Optional<String> logLevel) {
    this.progressToken = progressToken;
    this.logLevel = logLevel;
  }

  /** What the server of a tool tells the client. */
  record Told(String method, JsonValue.Obj params) {}

  /** Puts a question to the client of this message. */
  interface Asking {
    Optional<JsonValue.Obj> ask(String method, JsonValue.Obj params, long atMostMs);
  }

  /** Of this message. */
  public static MessageInProgress of(McpMessage.Request message) {
    return new MessageInProgress(
        message
            .meta("progressToken")
            .filter(token ->
                token instanceof JsonValue.Str
                    || token instanceof JsonValue.Num n && n.isInteger()),
        message
            .meta(LOG_LEVEL)
            .filter(JsonValue.Str.class::isInstance)
            .map(level -> ((JsonValue.Str) level).value())
            .filter(McpCallPeer.LEVELS::contains));
  }

  /** In {@code _meta} of a version without sessions: the level of log messages that is wanted. */
  private static final String LOG_LEVEL = StatelessProtocol.PREFIX + "logLevel";

  /** The level of log messages that this message itself asks for. */
  synchronized Optional<String> logLevel() {
    return logLevel;
  }

  /** Has somebody tell what is told. */
  synchronized void isHeard(Runnable wake) {
    wakes = wake;
  }

  /** Has somebody ask what is asked. */
  synchronized void isAsked(Asking by) {
    asking = Optional.of(by);
  }

  /** Another message of the client goes on with it, and wants to hear its own. */
  void goesOnWith(McpMessage.Request message) {
    MessageInProgress next = of(message);
    synchronized (this) {
      progressToken = next.progressToken;
      logLevel = next.logLevel;
    }
  }

  /** The request that it became, once it began. */
  synchronized Optional<Digest> request() {
    return request;
  }

  /** Whether there is a way to ask. */
  synchronized boolean canAsk() {
    return asking.isPresent();
  }

  /** Asks the client, and waits; empty where there is no answer. */
  Optional<JsonValue.Obj> ask(String method, JsonValue.Obj params, long atMostMs) {
    Optional<Asking> by;
    synchronized (this) {
      by = asking;
    }
    return by.flatMap(way -> way.ask(method, params, atMostMs));
  }

  /** Tells the client as soon as somebody does it. */
  void tells(String method, JsonValue.Obj params) {
    Runnable wake;
    synchronized (this) {
      if (told.size() >= TOLD_MAX) {
        return;
      }
      told.addLast(new Told(method, params));
      wake = wakes;
    }
    wake.run();
  }

  /** Whether something is to be told. */
  synchronized boolean isToTell() {
    return !told.isEmpty();
  }

  /** What is to be told next. */
  synchronized Optional<Told> next() {
    return Optional.ofNullable(told.pollFirst());
  }

  /** Under which the client wants progress told. */
  public synchronized Optional<JsonValue> progressToken() {
    return progressToken;
  }

  /**
   * Its effect begins.
   *
   * @param ends ends the effect of a request that is running
   * @throws WritException {@code GWY-161} where it was cancelled before: nothing is begun
   */
  public void begins(Digest id, Consumer<Digest> ends) {
    synchronized (this) {
      if (!cancelled) {
        request = Optional.of(id);
        stop = ends;
        phase = Phase.RUNS;
        return;
      }
    }
    throw new WritException(McpRefusal.CANCELLED, id.toString());
  }

  synchronized void in(Phase now) {
    phase = now;
  }

  public synchronized Phase phase() {
    return phase;
  }

  public synchronized boolean isCancelled() {
    return cancelled;
  }

  /** Ends a running effect, which still gets its receipt; one that did not begin never does. */
  public void cancel() {
    Optional<Digest> running;
    Consumer<Digest> ends;
    synchronized (this) {
      cancelled = true;
      running = request;
      ends = stop;
      notifyAll();
    }
    try {
      running.ifPresent(ends);
    } catch (WritException e) {
      // it has ended by itself
    }
  }
}
