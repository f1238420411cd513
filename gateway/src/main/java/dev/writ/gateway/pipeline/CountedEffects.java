package dev.writ.gateway.pipeline;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.Answer;
import dev.writ.gateway.http.message.TraceContext;
import dev.writ.gateway.statistics.Statistics;
import dev.writ.guardian.document.Request;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.Supplier;

/** Counts each effect in the statistics, and tells another observer. */
record CountedEffects(Statistics statistics, EffectObserver other) implements EffectObserver {

  @Override
  public void answered(String surface, Request request, Answer answer, ToolWork work) {
    other.answered(surface, request, answer, work);
    counted(() -> statistics.answered(request, answer));
  }

  @Override
  public void refused(String surface, Digest id, Request request, ErrorCode code, ToolWork work) {
    other.refused(surface, id, request, code, work);
    counted(() -> statistics.refused(request, code));
  }

  /** No effect fails because it is counted: of a ledger that is closed meanwhile, for example. */
  private static void counted(Runnable count) {
    try {
      count.run();
    } catch (WritException e) {
      // what the server cannot read any more, it does not count
    }
  }

  @Override
  public ToolObserver tools() {
    return other.tools();
  }

  @Override
  public <T> T inSpan(
      String name,
      SortedMap<String, String> attributes,
      Optional<TraceContext> trace,
      Supplier<T> work) {
    return other.inSpan(name, attributes, trace, work);
  }

  @Override
  public Runnable inBackground(Runnable work) {
    return other.inBackground(work);
  }
}
