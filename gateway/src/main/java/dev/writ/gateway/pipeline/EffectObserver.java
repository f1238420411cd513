package dev.writ.gateway.pipeline;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.ErrorCode;
import dev.writ.executor.Answer;
import dev.writ.gateway.http.message.TraceContext;
import dev.writ.guardian.document.Request;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.Supplier;

/** Gets every effect of every surface, on the thread that did the work. It must not throw. */
public interface EffectObserver {
  /** Watches nothing. */
  EffectObserver NONE = new EffectObserver() {};

  /**
   * An effect was judged, and executed where that was allowed.
   *
   * @param surface through which it was asked for
   */
  default void answered(String surface, Request request, Answer answer, ToolWork work) {}

  /** The kernel refused to judge or to execute it: admission, stages 1 to 3, the ledger. */
  default void refused(String surface, Digest id, Request request, ErrorCode code, ToolWork work) {}

  /** Watches the tools of this thread's effects. */
  default ToolObserver tools() {
    return ToolObserver.NONE;
  }

  /**
   * Work of this thread's call in a span of its own.
   *
   * @param attributes fixed words, nothing that a caller made up
   * @param trace that the span belongs to, where it is not that of the call
   */
  default <T> T inSpan(
      String name,
      SortedMap<String, String> attributes,
      Optional<TraceContext> trace,
      Supplier<T> work) {
    return work.get();
  }

  /** Work of this thread's call that another thread does, also after the call was answered. */
  default Runnable inBackground(Runnable work) {
    return work;
  }
}
