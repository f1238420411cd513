package dev.writ.gateway.ops;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.ErrorCode;
import dev.writ.executor.Answer;
import dev.writ.executor.driver.CallTrace;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.stage.Stage;
import dev.writ.executor.stage.StageObserver;
import dev.writ.gateway.http.Observer;
import dev.writ.gateway.http.message.TraceContext;
import dev.writ.gateway.pipeline.ToolObserver;
import dev.writ.gateway.schedule.LaneObserver;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.ledger.CommitObserver;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Measures times for the kernel, which must not read the clock itself, and keeps the spans of each
 * call: of its wait, its stages, its tool and the tool's sandbox. All work of a call runs on one
 * thread, so the thread says to which call something belongs; what goes on in the background has a
 * thread and a span of its own.
 */
public final class Watch implements StageObserver, CommitObserver, ToolObserver, LaneObserver {
  static final String QUEUE = "queue";
  static final String BACKGROUND = "background";
  static final String SANDBOX = "sandbox";
  static final String WORKER = "worker";

  /** OpenTelemetry's name of the span of a tool's execution. */
  private static final String EXECUTE_TOOL = "execute_tool";

  private final Metrics metrics;
  private final BiConsumer<TraceContext, List<SpanTree.Node>> background;
  private final Consumer<RuntimeException> notStored;
  private final ThreadLocal<Call> current = new ThreadLocal<>();
  private long writeBegan;

  /**
   * @param background gets the spans of work that went on after its call was answered
   * @param notStored gets why a content could not be stored
   */
  public Watch(
      Metrics metrics,
      BiConsumer<TraceContext, List<SpanTree.Node>> background,
      Consumer<RuntimeException> notStored) {
    this.metrics = metrics;
    this.background = background;
    this.notStored = notStored;
  }

  /** What was seen of one call. */
  private static final class Call {
    /** The call that this goes on with, in another thread. */
    final Optional<Call> of;

    TraceContext trace;
    final SpanTree spans = new SpanTree();
    volatile Optional<String> request = Optional.empty();
    volatile Optional<String> receipt = Optional.empty();
    Optional<Stage> refused = Optional.empty();
    long queuedNs;

    Call(TraceContext trace, Optional<Call> of) {
      this.trace = trace;
      this.of = of;
    }

    void answered(Answer answer) {
      request = Optional.of(answer.request().toString());
      receipt = answer.served().map(served -> served.id().toString());
      of.ifPresent(call -> call.answered(answer));
    }
  }

  /** A call, and the spans within it. */
  public record Seen(Observer.Finished call, List<SpanTree.Node> spans) {}

  /** A call begins on this thread. */
  public void callBegins(TraceContext trace) {
    current.set(new Call(trace, Optional.empty()));
  }

  /** The call of this thread ended. Ids that its surface did not report are filled in. */
  public Seen callEnds(Observer.Finished call) {
    Call seen = current.get();
    current.remove();
    return seen == null
        ? new Seen(call, List.of())
        : new Seen(call.about(seen.request, seen.receipt), seen.spans.nodes());
  }

  /** The same work, with its spans in the trace of the call on this thread. */
  Runnable inBackground(Runnable work) {
    Call call = current.get();
    if (call == null) {
      return work;
    }
    return () -> {
      current.set(new Call(call.trace, Optional.of(call)));
      current.get().spans.open(BACKGROUND);
      try {
        work.run();
      } finally {
        List<SpanTree.Node> spans = current.get().spans.nodes();
        current.remove();
        background.accept(call.trace, spans);
      }
    };
  }

  /**
   * Does work of this thread's call in a span of its own.
   *
   * @param attributes of the span; fixed words, nothing that a caller made up
   * @param trace that the span belongs to, where it is not that of the call
   */
  <T> T inSpan(
      String name,
      SortedMap<String, String> attributes,
      Optional<TraceContext> trace,
      Supplier<T> work) {
    Call call = current.get();
    if (call == null) {
      return work.get();
    }
    TraceContext before = call.trace;
    SpanTree.Node span = call.spans.open(name, System.nanoTime(), trace.map(TraceContext::spanId));
    span.attributes.putAll(attributes);
    trace.ifPresent(span::in);
    call.trace = trace.orElse(before);
    try {
      return work.get();
    } finally {
      call.trace = before;
      call.spans.close(name, Optional.empty());
    }
  }

  /** The trace of this thread's call. */
  Optional<TraceContext> trace() {
    return Optional.ofNullable(current.get()).map(call -> call.trace);
  }

  /** How long this thread's call waited for its turn, in nanoseconds. */
  long queuedNs() {
    return Optional.ofNullable(current.get()).map(call -> call.queuedNs).orElse(0L);
  }

  /** The stage that refused last in this thread's call. */
  Optional<Stage> refusing() {
    return Optional.ofNullable(current.get()).flatMap(call -> call.refused);
  }

  /** Records the request and receipt of this thread's call. */
  void answered(Answer answer) {
    Call call = current.get();
    if (call != null) {
      call.answered(answer);
    }
  }

  private Optional<SpanTree> spans() {
    return Optional.ofNullable(current.get()).map(call -> call.spans);
  }

  @Override
  public void begins(Stage stage) {
    Call call = current.get();
    if (call == null) { // work of the server's own, such as closing a run
      call = new Call(NOBODYS, Optional.empty());
      current.set(call);
    }
    call.spans.open(stage.text());
  }

  @Override
  public void ends(Stage stage, Optional<ErrorCode> refused) {
    Call call = current.get();
    if (call == null) {
      return; // the stage began before the watch was registered
    }
    call.spans
        .close(stage.text(), refused.map(ErrorCode::code))
        .ifPresent(span -> metrics.stage(stage, refused.isPresent(), span.nanos()));
    if (refused.isPresent()) {
      call.refused = Optional.of(stage);
    }
    if (call.trace == NOBODYS && call.spans.current().isEmpty()) {
      current.remove();
    }
  }

  @Override
  public void notStored(RuntimeException why) {
    metrics.notStored(why);
    notStored.accept(why);
  }

  /** Stands for the trace of work that no caller asked for. */
  private static final TraceContext NOBODYS =
      new TraceContext("", "", "00", Optional.empty(), Optional.empty());

  @Override
  public void waited(String resourceClass, End end, long waitedNs) {
    metrics.waited(resourceClass, end, waitedNs);
    Optional<String> error = end == End.TURN ? Optional.empty() : Optional.of(end.text());
    Optional.ofNullable(current.get())
        .ifPresent(call -> {
          call.queuedNs = waitedNs;
          call.spans.add(QUEUE, waitedNs, error);
        });
  }

  @Override
  public void begins(Digest request, ToolManifest tool) {
    spans()
        .map(spans ->
            spans.open(
                EXECUTE_TOOL + " " + tool.name(),
                System.nanoTime(),
                Optional.of(CallTrace.span(request))))
        .ifPresent(span -> {
          span.attributes.put("gen_ai.operation.name", EXECUTE_TOOL);
          span.attributes.put("gen_ai.tool.name", tool.name());
          span.attributes.put("gen_ai.tool.call.id", request.toString());
          span.attributes.put("gen_ai.tool.type", "function");
          span.attributes.put("writ.tool.version", tool.version());
          span.attributes.put("writ.tool.language", tool.driver());
        });
  }

  @Override
  public void ends(Optional<DriverOutcome> outcome) {
    Optional<String> error =
        outcome.isEmpty()
            ? Optional.of("driver-failed")
            : outcome.map(DriverOutcome::reason).filter(reason -> !reason.equals("ok"));
    spans().ifPresent(spans -> spans.close(EXECUTE_TOOL, error));
  }

  /** A second sandbox of a call is beside the first: a waiting worker may turn out to be dead. */
  @Override
  public void in(String sandboxId) {
    destroyed();
    spans()
        .map(spans -> spans.open(SANDBOX))
        .ifPresent(s -> s.attributes.put("writ.sandbox", sandboxId));
  }

  @Override
  public void executing() {
    spans().ifPresent(spans -> spans.open(WORKER));
  }

  @Override
  public void executed() {
    spans().ifPresent(spans -> spans.close(WORKER, Optional.empty()));
  }

  @Override
  public void destroyed() {
    spans().ifPresent(spans -> spans.close(SANDBOX, Optional.empty()));
  }

  @Override
  public void begins(int batches) {
    writeBegan = System.nanoTime();
    metrics.group(batches);
  }

  @Override
  public void ends() {
    metrics.commit(System.nanoTime() - writeBegan);
  }
}
