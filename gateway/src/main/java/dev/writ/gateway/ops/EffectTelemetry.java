package dev.writ.gateway.ops;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.executor.Answer;
import dev.writ.executor.stage.Served;
import dev.writ.executor.stage.Stage;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.message.TraceContext;
import dev.writ.gateway.pipeline.EffectObserver;
import dev.writ.gateway.pipeline.IncidentKind;
import dev.writ.gateway.pipeline.IncidentSource;
import dev.writ.gateway.pipeline.ToolObserver;
import dev.writ.gateway.pipeline.ToolWork;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Verdict;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;

/** Metrics, spans and one line of the log for each effect, wherever its work is done. */
public final class EffectTelemetry implements EffectObserver {
  private static final String CORRELATION = "correlationId";

  private final Metrics metrics;
  private final Watch watch;
  private final JsonLog log;
  private volatile SortedMap<String, Surface> surfaces = new TreeMap<>();

  public EffectTelemetry(Metrics metrics, Watch watch, JsonLog log) {
    this.metrics = metrics;
    this.watch = watch;
    this.log = log;
  }

  /** The surfaces that know further names of their effects; they are made after this. */
  public void named(Collection<Surface> all) {
    TreeMap<String, Surface> byName = new TreeMap<>();
    all.forEach(surface -> byName.put(surface.name(), surface));
    surfaces = byName;
  }

  @Override
  public ToolObserver tools() {
    return watch;
  }

  @Override
  public <T> T inSpan(
      String name,
      SortedMap<String, String> attributes,
      Optional<TraceContext> trace,
      Supplier<T> work) {
    return watch.inSpan(name, attributes, trace, work);
  }

  @Override
  public Runnable inBackground(Runnable work) {
    return watch.inBackground(work);
  }

  @Override
  public void answered(String surface, Request request, Answer answer, ToolWork work) {
    guarded(() -> told(surface, request, answer, work));
  }

  /** No effect fails because of what is told of it. */
  private void guarded(Runnable telling) {
    try {
      telling.run();
    } catch (RuntimeException e) {
      log.failed(e);
    }
  }

  private void told(String surface, Request request, Answer answer, ToolWork work) {
    watch.answered(answer);
    EffectLabels labels = metrics.labels(surface, request, work);
    metrics.answered(labels, answer);
    Optional<Served> served = answer.served();
    if (served.isPresent() && !served.get().repeated()) {
      Receipt receipt = served.get().receipt();
      EffectEnd end =
          EffectEnd.of(receipt, request.effect(), work, kindOf(surface, receipt, request));
      metrics.effects().executed(labels, end, receipt, request.effect().resources(), work);
      metrics.effects().queued(labels, watch.queuedNs());
      ObjectBuilder line = line(labels, answer.request(), request, end, work);
      line.put("receipt", served.get().id())
          .put(
              "duration_ms", Duration.between(receipt.startedAt(), receipt.finishedAt()).toMillis())
          .put("queue_ms", watch.queuedNs() / 1_000_000);
      work.used()
          .ifPresent(
              used -> line.put("cpu_ms", used.cpuMs()).put("memory_bytes", used.memoryBytes()));
      log.executed(line);
    } else if (served.isEmpty()
        && answer.decision().verdict() != Verdict.ALLOW
        && !answer.isKnown()) {
      EffectEnd end = EffectEnd.notAllowed(answer);
      metrics.effects().denied(labels, end);
      log.executed(line(labels, answer.request(), request, end, work));
    }
  }

  /** What a surface knows of an end that its receipt does not say. */
  private Optional<IncidentKind> kindOf(String surface, Receipt receipt, Request request) {
    return surfaces.get(surface) instanceof IncidentSource source
        ? source.incidentOf(receipt, request)
        : Optional.empty();
  }

  @Override
  public void refused(String surface, Digest id, Request request, ErrorCode code, ToolWork work) {
    guarded(() -> told(surface, id, request, code, work));
  }

  private void told(String surface, Digest id, Request request, ErrorCode code, ToolWork work) {
    EffectLabels labels = metrics.labels(surface, request, work);
    EffectEnd end = EffectEnd.refused(code.code());
    String stage = watch.refusing().map(Stage::text).orElse(EffectLabels.NONE);
    metrics.effects().refused(labels, end, stage);
    log.executed(line(labels, id, request, end, work).put("stage", stage));
  }

  /** Ids, codes and numbers; nothing of what the tool was given or gave. */
  private ObjectBuilder line(
      EffectLabels labels, Digest id, Request request, EffectEnd end, ToolWork work) {
    ObjectBuilder line =
        log.effect()
            .put("surface", labels.surface())
            .put("tenantId", request.scope().tenant())
            .put("subject", request.scope().subject())
            .put("toolId", request.effect().tool())
            .put("toolVersion", request.effect().version())
            .put("operation", request.effect().operation())
            .put("role", labels.role())
            .put("command", labels.command())
            .put("language", labels.language())
            .put("workload", labels.workload())
            .put("request", id)
            .put("outcome", end.outcome())
            .putIfPresent("code", end.code(), JsonValue::of)
            .putIfPresent("exit_code", end.exitCode(), JsonValue::of)
            .putIfPresent("sandboxId", work.sandbox(), JsonValue::of)
            .putIfPresent("trace_id", watch.trace().map(TraceContext::traceId), JsonValue::of)
            .putIfPresent("span_id", watch.trace().map(TraceContext::spanId), JsonValue::of);
    TreeMap<String, String> names = new TreeMap<>();
    names.put(CORRELATION, request.scope().run());
    Optional.ofNullable(surfaces.get(labels.surface()))
        .ifPresent(surface -> names.putAll(surface.namesOf(id, request)));
    names.forEach((name, value) -> line.put(name, value));
    return line;
  }
}
