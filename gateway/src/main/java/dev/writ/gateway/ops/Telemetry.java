package dev.writ.gateway.ops;

import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.CallState;
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
 * Sends spans by OTLP over HTTP: one for each call, with one inside for each of its stages. They
 * hold ids and codes, no payload, no subject and no credential. Spans that the collector does not
 * take in time are dropped; no call waits for it.
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

  /** A strong reference, since the JDK holds loggers only weakly. */
  @SuppressWarnings({"unused", "FieldCanBeLocal"})
  private final Logger logger;

  private final ThreadLocal<String> nextTrace = new ThreadLocal<>();

  /**
   * @param instance distinguishes this server from others: the log's origin
   * @param troubles gets a message if the collector cannot be reached, at most a few times a minute
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

  /** Makes a trace that begins here use the id that the server's log states. */
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

  /** A trace from the caller is sampled if the caller says so, others by the configured share. */
  private boolean isSampled(TraceContext trace) {
    if (trace.ofCaller()) {
      return (HexFormat.fromHexDigits(trace.flags()) & 1) == 1;
    }
    return HexFormat.fromHexDigitsToLong(trace.traceId(), 0, 8) % 100 < percent;
  }

  /** Runs on the thread of the call, right after its end. */
  public void ended(Finished call, List<Lap> laps) {
    if (!isSampled(call.trace())) {
      return;
    }
    Instant now = clock.instant();
    long nowNanos = System.nanoTime();
    nextTrace.set(call.trace().traceId());
    try {
      Span span = begun(call, now);
      for (CallState state : call.states()) {
        span.addEvent(state.name(), now.minusNanos(nowNanos - state.nanos()));
      }
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

  /** Sends waiting spans, for a short time. */
  @Override
  public void close() {
    provider.shutdown().join(EXPORT_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
  }
}
