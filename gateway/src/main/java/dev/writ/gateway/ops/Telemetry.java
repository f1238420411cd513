package dev.writ.gateway.ops;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.config.TelemetrySettings;
import dev.writ.gateway.http.Observer.Finished;
import dev.writ.gateway.http.message.CallState;
import dev.writ.gateway.http.message.TraceContext;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.TraceStateBuilder;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Sends spans, and where the configuration says so metrics and log lines, by OTLP over HTTP. Spans
 * hold ids and codes, no payload, no subject and no credential. What the collector does not take in
 * time is dropped and counted; no call waits for it.
 */
public final class Telemetry implements AutoCloseable {
  private static final AttributeKey<String> METHOD = AttributeKey.stringKey("http.request.method");
  private static final AttributeKey<String> ROUTE = AttributeKey.stringKey("http.route");
  private static final AttributeKey<Long> STATUS =
      AttributeKey.longKey("http.response.status_code");
  private static final AttributeKey<String> SURFACE = AttributeKey.stringKey("writ.surface");
  private static final AttributeKey<String> CODE = AttributeKey.stringKey("error.type");
  private static final AttributeKey<String> REQUEST = AttributeKey.stringKey("writ.request");
  private static final AttributeKey<String> RECEIPT = AttributeKey.stringKey("writ.receipt");
  private static final AttributeKey<String> SERVICE = AttributeKey.stringKey("service.name");
  private static final AttributeKey<String> INSTANCE =
      AttributeKey.stringKey("service.instance.id");

  /** The event of the log that tells of a collector that does not accept. */
  public static final String TROUBLE = "telemetry";

  /** The longest time that one export may take. */
  static final Duration EXPORT_WITHIN = Duration.ofSeconds(5);

  private final SdkTracerProvider provider;
  private final OtlpHttpSpanExporter exporter;
  private final ExportQueue<SpanData> spans;
  private final Optional<LogExport> logs;
  private final Optional<MetricExport> metrics;
  private final Tracer tracer;
  private final InstantSource clock;
  private final int percent;

  /** A strong reference, since the JDK holds loggers only weakly. */
  @SuppressWarnings({"unused", "FieldCanBeLocal"})
  private final Logger logger;

  private final ThreadLocal<String> nextTrace = new ThreadLocal<>();
  private final ThreadLocal<String> nextSpan = new ThreadLocal<>();

  /**
   * @param instance distinguishes this server from others: the log's origin
   * @param measured what is sent as metrics; counters of this class are added to it
   * @param troubles gets a message if the collector cannot be reached, at most a few times a minute
   */
  public Telemetry(
      TelemetrySettings config,
      String instance,
      InstantSource clock,
      Metrics measured,
      Consumer<String> troubles) {
    this.clock = clock;
    this.logger = logger(troubles);
    this.percent = config.percent();
    Resource resource = Resource.create(Attributes.of(SERVICE, "writ-gateway", INSTANCE, instance));
    this.exporter =
        OtlpHttpSpanExporter.builder()
            .setEndpoint(config.otlp())
            .setTimeout(EXPORT_WITHIN)
            .setRetryPolicy(null)
            .build();
    this.spans = new ExportQueue<>("traces", exporter::export, EXPORT_WITHIN);
    this.provider =
        SdkTracerProvider.builder()
            .setResource(resource)
            .setIdGenerator(ids())
            .addSpanProcessor(queueing())
            .build();
    this.tracer = provider.get("dev.writ.gateway");
    this.logs = config.logs().map(url -> new LogExport(url, resource, clock));
    this.metrics =
        config
            .metrics()
            .map(url -> new MetricExport(url, resource, clock, config.every(), measured));
    measured.exported("traces", spans::sent, spans::dropped);
    logs.ifPresent(l -> measured.exported("logs", l::sent, l::dropped));
    metrics.ifPresent(m -> measured.exported("metrics", m::sent, m::dropped));
  }

  /** Redirects the library's log messages to the server's log only. */
  private static Logger logger(Consumer<String> troubles) {
    Logger logger = Logger.getLogger("io.opentelemetry");
    logger.setUseParentHandlers(false);
    for (Handler before : logger.getHandlers()) {
      logger.removeHandler(before);
    }
    logger.addHandler(
        new Handler() {
          @Override
          public void publish(LogRecord record) {
            if (record.getLevel().intValue() >= Level.WARNING.intValue()) {
              troubles.accept(record.getLevel() + " " + record.getMessage());
            }
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        });
    return logger;
  }

  private SpanProcessor queueing() {
    return new SpanProcessor() {
      @Override
      public void onStart(Context parent, ReadWriteSpan span) {}

      @Override
      public boolean isStartRequired() {
        return false;
      }

      @Override
      public void onEnd(ReadableSpan span) {
        spans.add(span.toSpanData());
      }

      @Override
      public boolean isEndRequired() {
        return true;
      }
    };
  }

  /** Spans whose ids are known elsewhere keep them: in the log, in answers, in a tool. */
  private IdGenerator ids() {
    IdGenerator random = IdGenerator.random();
    return new IdGenerator() {
      @Override
      public String generateSpanId() {
        String given = nextSpan.get();
        return given == null ? random.generateSpanId() : given;
      }

      @Override
      public String generateTraceId() {
        String given = nextTrace.get();
        return given == null ? random.generateTraceId() : given;
      }
    };
  }

  /** Whether a trace that begins here is sampled: the configured share is. */
  public boolean isSampled(String traceId) {
    return HexFormat.fromHexDigitsToLong(traceId, 0, 8) % 100 < percent;
  }

  /** Runs on the thread of the call, right after its end. */
  public void ended(Finished call, List<SpanTree.Node> nodes) {
    Instant now = clock.instant();
    long nowNanos = System.nanoTime();
    if (!call.trace().isSampled()) {
      within(Optional.empty(), nodes, now, nowNanos);
      return;
    }
    nextTrace.set(call.trace().traceId());
    try {
      Span span = begun(call, now.minusNanos(nowNanos - call.began()));
      for (CallState state : call.states()) {
        span.addEvent(state.name(), now.minusNanos(nowNanos - state.nanos()));
      }
      within(Optional.of(Context.root().with(span)), nodes, now, nowNanos);
      span.end(now);
    } finally {
      nextTrace.remove();
    }
  }

  /** The spans of work that went on after its call was answered. */
  public void inBackground(TraceContext trace, List<SpanTree.Node> nodes) {
    Optional<Context> call =
        Optional.of(trace)
            .filter(TraceContext::isSampled)
            .map(sampled -> Context.root().with(Span.wrap(context(sampled, sampled.spanId()))));
    within(call, nodes, clock.instant(), System.nanoTime());
  }

  /**
   * @param call absent if its trace is not sampled; that of a span in it may be
   */
  private void within(
      Optional<Context> call, List<SpanTree.Node> nodes, Instant now, long nowNanos) {
    Map<SpanTree.Node, Optional<Context>> made = new IdentityHashMap<>();
    for (SpanTree.Node node : nodes) {
      Optional<Context> around = node.parent.map(made::get).orElse(call);
      Optional<Context> parent =
          node.trace().isPresent()
              ? node.trace().filter(TraceContext::isSampled).map(Telemetry::parent)
              : around;
      made.put(
          node, parent.map(in -> told(node, in, around, now.minusNanos(nowNanos - node.begin))));
    }
  }

  /** Sends one span; returns the context of what is within it. */
  private Context told(
      SpanTree.Node node, Context parent, Optional<Context> around, Instant begin) {
    SpanBuilder builder = tracer.spanBuilder(node.name).setParent(parent).setStartTimestamp(begin);
    if (node.trace().isPresent()) {
      builder.setSpanKind(SpanKind.SERVER);
      around.ifPresent(call -> builder.addLink(Span.fromContext(call).getSpanContext()));
    }
    node.attributes.forEach(builder::setAttribute);
    Span span = started(builder, node.spanId);
    node.error()
        .ifPresent(code -> {
          span.setAttribute(CODE, code);
          span.setStatus(StatusCode.ERROR);
        });
    span.end(begin.plusNanos(node.nanos()));
    return Context.root().with(span);
  }

  private Span started(SpanBuilder builder, Optional<String> spanId) {
    spanId.ifPresent(nextSpan::set);
    try {
      return builder.startSpan();
    } finally {
      nextSpan.remove();
    }
  }

  private Span begun(Finished call, Instant begin) {
    SpanBuilder builder =
        tracer
            .spanBuilder(Metrics.method(call.method()) + " " + call.route())
            .setSpanKind(SpanKind.SERVER)
            .setParent(parent(call.trace()))
            .setStartTimestamp(begin)
            .setAttribute(METHOD, Metrics.method(call.method()))
            .setAttribute(ROUTE, call.route())
            .setAttribute(STATUS, (long) call.status())
            .setAttribute(SURFACE, call.surface());
    call.request().ifPresent(id -> builder.setAttribute(REQUEST, id));
    call.receipt().ifPresent(id -> builder.setAttribute(RECEIPT, id));
    call.code().ifPresent(code -> builder.setAttribute(CODE, code));
    Span span = started(builder, Optional.of(call.trace().spanId()));
    if (call.status() >= 500) {
      span.setStatus(StatusCode.ERROR);
    }
    return span;
  }

  private static Context parent(TraceContext trace) {
    return trace
        .parent()
        .map(caller -> Context.root().with(Span.wrap(context(trace, caller))))
        .orElse(Context.root());
  }

  private static SpanContext context(TraceContext trace, String spanId) {
    return SpanContext.createFromRemoteParent(
        trace.traceId(), spanId, TraceFlags.fromHex(trace.flags(), 0), state(trace));
  }

  /** The caller's {@code tracestate}; entries that are malformed are left out. */
  private static TraceState state(TraceContext trace) {
    TraceStateBuilder state = TraceState.builder();
    List<String> entries = trace.state().map(text -> List.of(text.split(","))).orElse(List.of());
    for (String entry : entries.reversed()) { // what is put last comes first
      String[] pair = entry.strip().split("=", 2);
      state.put(pair[0], pair[pair.length - 1]);
    }
    return state.build();
  }

  /** Sends a line of the server's log, if the configuration says where. */
  public void logged(JsonValue.Obj line) {
    if (!JsonValue.of(TROUBLE).equals(line.get("event"))) { // of its own failures it sends nothing
      logs.ifPresent(export -> export.add(line));
    }
  }

  /** Sends what waits, for a short time. */
  @Override
  public void close() {
    spans.close();
    logs.ifPresent(LogExport::close);
    metrics.ifPresent(MetricExport::close);
    provider.close();
    exporter.shutdown();
  }
}
