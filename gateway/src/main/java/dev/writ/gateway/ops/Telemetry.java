package dev.writ.gateway.ops;

import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.Observer.Finished;
import dev.writ.gateway.http.TraceContext;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Spans by OTLP over HTTP: one for each call, one in it for each stage that it went through. Ids
 * and codes, no payload, no subject and no credential. What the collector cannot take in time is
 * dropped; no call waits for it.
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
  private static final Duration EXPORT_WITHIN = Duration.ofSeconds(5);

  private final SdkTracerProvider provider;
  private final Tracer tracer;
  private final InstantSource clock;
  private final int percent;

  /** Held, since the JDK forgets a logger that nobody holds. */
  @SuppressWarnings({"unused", "FieldCanBeLocal"})
  private final Logger logger;

  private final ThreadLocal<String> nextTrace = new ThreadLocal<>();

  /**
   * @param instance how this server is told from others: the log's origin
   * @param troubles is told where the collector cannot be reached, at most a few times a minute
   */
  public Telemetry(
      GatewayConfig.Telemetry config,
      String instance,
      InstantSource clock,
      Consumer<String> troubles) {
    this.clock = clock;
    this.logger = logger(troubles);
    this.percent = config.percent();
    OtlpHttpSpanExporter exporter =
        OtlpHttpSpanExporter.builder()
            .setEndpoint(config.otlp())
            .setTimeout(EXPORT_WITHIN)
            .setRetryPolicy(null)
            .build();
    this.provider =
        SdkTracerProvider.builder()
            .setResource(
                Resource.create(Attributes.of(SERVICE, "writ-gateway", INSTANCE, instance)))
            .setIdGenerator(ids())
            .addSpanProcessor(BatchSpanProcessor.builder(exporter).build())
            .build();
    this.tracer = provider.get("dev.writ.gateway");
  }

  /** The library's own words belong into the server's log, and nowhere else. */
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

  /** A trace that begins here has the id that the log calls it by. */
  private IdGenerator ids() {
    IdGenerator random = IdGenerator.random();
    return new IdGenerator() {
      @Override
      public String generateSpanId() {
        return random.generateSpanId();
      }

      @Override
      public String generateTraceId() {
        String given = nextTrace.get();
        return given == null ? random.generateTraceId() : given;
      }
    };
  }

  /** The caller's word where it brought a trace, else the configured share of them. */
  private boolean isSampled(TraceContext trace) {
    if (trace.ofCaller()) {
      return (HexFormat.fromHexDigits(trace.flags()) & 1) == 1;
    }
    return HexFormat.fromHexDigitsToLong(trace.traceId(), 0, 8) % 100 < percent;
  }

  /** On the thread of the call, right after its end. */
  public void ended(Finished call, List<Lap> laps) {
    if (!isSampled(call.trace())) {
      return;
    }
    Instant now = clock.instant();
    long nowNanos = System.nanoTime();
    nextTrace.set(call.trace().traceId());
    try {
      Span span = begun(call, now);
      Context inside = Context.root().with(span);
      for (Lap lap : laps) {
        Instant begin = now.minusNanos(nowNanos - lap.begin());
        Span stage =
            tracer
                .spanBuilder(lap.stage().text())
                .setParent(inside)
                .setStartTimestamp(begin)
                .startSpan();
        lap.refused()
            .ifPresent(code -> {
              stage.setAttribute(CODE, code.code());
              stage.setStatus(StatusCode.ERROR);
            });
        stage.end(begin.plusNanos(lap.nanos()));
      }
      span.end(now);
    } finally {
      nextTrace.remove();
    }
  }

  private Span begun(Finished call, Instant now) {
    SpanBuilder builder =
        tracer
            .spanBuilder(Metrics.method(call.method()) + " " + call.route())
            .setSpanKind(SpanKind.SERVER)
            .setParent(parent(call.trace()))
            .setStartTimestamp(now.minus(call.took()))
            .setAttribute(METHOD, Metrics.method(call.method()))
            .setAttribute(ROUTE, call.route())
            .setAttribute(STATUS, (long) call.status())
            .setAttribute(SURFACE, call.surface());
    call.request().ifPresent(id -> builder.setAttribute(REQUEST, id));
    call.receipt().ifPresent(id -> builder.setAttribute(RECEIPT, id));
    call.code().ifPresent(code -> builder.setAttribute(CODE, code));
    Span span = builder.startSpan();
    if (call.status() >= 500) {
      span.setStatus(StatusCode.ERROR);
    }
    return span;
  }

  private static Context parent(TraceContext trace) {
    return trace.ofCaller()
        ? Context.root()
            .with(
                Span.wrap(
                    SpanContext.createFromRemoteParent(
                        trace.traceId(),
                        trace.spanId(),
                        TraceFlags.fromHex(trace.flags(), 0),
                        TraceState.getDefault())))
        : Context.root();
  }

  /** Sends what waits, for a short time. */
  @Override
  public void close() {
    provider.shutdown().join(EXPORT_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
  }
}
