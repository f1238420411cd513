package dev.writ.gateway.ops;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.gateway.http.Observer;
import dev.writ.gateway.http.message.TraceContext;
import java.io.PrintStream;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** One line of JSON for each call: ids and numbers, no payload, no credential. */
public final class JsonLog implements Observer, BiConsumer<TraceContext, Throwable> {
  private static final int FRAMES_MAX = 12;

  /** Lines a second about calls without a valid credential. */
  public static final int UNKNOWN_PER_SECOND_MAX = 100;

  private final PrintStream out;
  private final InstantSource clock;
  private long unknownSecond;
  private int unknownLines;
  private long unwritten;
  private long leftOut;
  private volatile Consumer<JsonValue.Obj> also = _ -> {};

  /**
   * @param out whose {@link PrintStream#checkError} should tell of what was written since it was
   *     last asked; with another one every line after one that failed counts as left out
   */
  public JsonLog(PrintStream out, InstantSource clock) {
    this.out = out;
    this.clock = clock;
  }

  /**
   * Limits the lines a second about unknown callers; the next line then states how many were left
   * out. Thread safe.
   */
  private synchronized boolean mayWrite(Finished call) {
    if (call.caller().isPresent() || call.request().isPresent()) {
      return true;
    }
    long second = clock.instant().getEpochSecond();
    if (second != unknownSecond) {
      unknownSecond = second;
      unknownLines = 0;
      if (unwritten > 0) {
        write(line("info", "calls-not-logged").put("count", unwritten));
        unwritten = 0;
      }
    }
    if (unknownLines >= UNKNOWN_PER_SECOND_MAX) {
      unwritten++;
      leftOut++;
      return false;
    }
    unknownLines++;
    return true;
  }

  /** Lines that were left out, or could not be written, since the server started. */
  public synchronized long leftOut() {
    return leftOut;
  }

  @Override
  public void finished(Finished call) {
    if (!mayWrite(call)) {
      return;
    }
    ObjectBuilder line =
        line(call.status() >= 500 ? "error" : "info", "call")
            .put("surface", call.surface())
            .put("method", Metrics.method(call.method()))
            .put("route", call.route())
            .put("status", call.status())
            .putIfPresent("code", call.code(), JsonValue::of)
            .put("micros", call.took().toNanos() / 1000)
            .put("remote", call.remote())
            .put("trace_id", call.trace().traceId())
            .put("span_id", call.trace().spanId())
            .putIfPresent("request", call.request(), JsonValue::of)
            .putIfPresent("receipt", call.receipt(), JsonValue::of);
    call.caller()
        .ifPresent(caller ->
            line.put("tenant", caller.tenant())
                .put("subject", caller.subject())
                .put("credential", caller.principal()));
    if (!call.states().isEmpty()) {
      line.putList("states", call.states(), state -> JsonValue.of(state.name()));
    }
    write(line);
  }

  /** Logs an unexpected exception: its type and place, not its message, which may hold anything. */
  @Override
  public void accept(TraceContext trace, Throwable e) {
    write(unforeseen(e).put("trace_id", trace.traceId()));
  }

  /** The same outside of any call. */
  public void failed(Throwable e) {
    write(unforeseen(e));
  }

  /** Logs a failure under an event where it is a refusal, with its code; else as unexpected. */
  public void failed(String event, RuntimeException e) {
    if (e instanceof WritException refusal) {
      refused(event, refusal);
    } else {
      failed(e);
    }
  }

  /**
   * Logs that a library told of something: who, how badly, and where. Its words may hold anything.
   *
   * @param logger the library's name for the part of it
   * @param thrown what it told of, if that was an exception
   * @param leftOut how many such lines before this one were not written
   */
  void library(boolean severe, String logger, Optional<Throwable> thrown, long leftOut) {
    ObjectBuilder line = line(severe ? "error" : "info", "library").put("logger", logger);
    thrown.ifPresent(e -> thrown(line, e));
    if (leftOut > 0) {
      line.put("count", leftOut);
    }
    write(line);
  }

  private ObjectBuilder unforeseen(Throwable e) {
    return thrown(line("error", "unforeseen"), e);
  }

  private static ObjectBuilder thrown(ObjectBuilder line, Throwable e) {
    StackTraceElement[] frames = e.getStackTrace();
    StringBuilder at = new StringBuilder();
    for (int i = 0; i < Math.min(frames.length, FRAMES_MAX); i++) {
      at.append(i == 0 ? "" : " < ").append(frames[i]);
    }
    return line.put("type", e.getClass().getName()).put("at_code", at.toString());
  }

  /** Begins the line of an effect. */
  ObjectBuilder effect() {
    return line("info", "execution");
  }

  /** Logs how an effect ended. */
  void executed(ObjectBuilder line) {
    write(line);
  }

  /** Passes every further line on, beside writing it. */
  public void alsoTo(Consumer<JsonValue.Obj> receiver) {
    also = receiver;
  }

  /** Logs an event of the server itself. */
  public void event(String event, String detail) {
    write(line("info", event).put("detail", detail));
  }

  /** Logs a refusal in the server itself. */
  public void refused(String event, WritException why) {
    write(line("error", event).put("code", why.code().code()).put("detail", why.found()));
  }

  private ObjectBuilder line(String level, String event) {
    return JsonValue.object().put("at", clock.instant()).put("level", level).put("event", event);
  }

  private void write(ObjectBuilder line) {
    written(line.build());
  }

  /** Writes a line that a part of the server has made, as one of its own. */
  public void written(JsonValue.Obj whole) {
    write(out, whole);
    if (out.checkError()) { // a PrintStream throws nothing, as where the disk is full
      lost();
    }
    also.accept(whole);
  }

  private synchronized void lost() {
    leftOut++;
  }

  /**
   * One line in one write, so that lines of several writers do not mix. Its members are those of
   * {@link LogEvent}, which tests hold by this assertion; a server writes what there is.
   */
  public static void write(PrintStream out, JsonValue.Obj line) {
    assert LogEvent.knows(line)
        : "not in LogEvent and spec/telemetry.md: " + line.members().keySet();
    byte[] bytes = Jcs.write(line);
    byte[] whole = Arrays.copyOf(bytes, bytes.length + 1);
    whole[bytes.length] = '\n';
    out.write(whole, 0, whole.length);
    out.flush();
  }
}
