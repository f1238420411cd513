package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import java.util.Optional;
import java.util.function.Consumer;

/** One message of a client that is at work: what to call its progress, and how it is cancelled. */
public final class McpWork {
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

  private final Optional<JsonValue> progressToken;
  private Phase phase = Phase.ASKED;
  private Optional<Digest> request = Optional.empty();
  private Consumer<Digest> stop = _ -> {};
  private boolean cancelled;

  McpWork(Optional<JsonValue> progressToken) {
    this.progressToken = progressToken;
  }

  /** Of this message. */
  public static McpWork of(McpMessage.Request message) {
    return new McpWork(
        message
            .meta("progressToken")
            .filter(token ->
                token instanceof JsonValue.Str
                    || token instanceof JsonValue.Num n && n.isInteger()));
  }

  /** Under which the client wants progress told. */
  public Optional<JsonValue> progressToken() {
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
