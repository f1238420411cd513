package dev.writ.gateway.ops;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import io.opentelemetry.api.logs.LogRecordBuilder;
import io.opentelemetry.api.logs.Logger;
import io.opentelemetry.api.logs.Severity;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.exporter.otlp.http.logs.OtlpHttpLogRecordExporter;
import io.opentelemetry.sdk.logs.LogRecordProcessor;
import io.opentelemetry.sdk.logs.ReadWriteLogRecord;
import io.opentelemetry.sdk.logs.SdkLoggerProvider;
import io.opentelemetry.sdk.logs.data.LogRecordData;
import io.opentelemetry.sdk.resources.Resource;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.Map;

/**
 * Sends the lines of the log by OTLP: the event as the body, its members as attributes, and the
 * trace that it belongs to.
 */
final class LogExport implements AutoCloseable {
  private final OtlpHttpLogRecordExporter exporter;
  private final ExportQueue<LogRecordData> queue;
  private final SdkLoggerProvider provider;
  private final Logger logger;
  private final InstantSource clock;

  LogExport(String url, Resource resource, InstantSource clock) {
    this.clock = clock;
    this.exporter =
        OtlpHttpLogRecordExporter.builder()
            .setEndpoint(url)
            .setTimeout(Telemetry.EXPORT_WITHIN)
            .setRetryPolicy(null)
            .build();
    this.queue = new ExportQueue<>("logs", exporter::export, Telemetry.EXPORT_WITHIN);
    this.provider =
        SdkLoggerProvider.builder()
            .setResource(resource)
            .addLogRecordProcessor(new Queueing())
            .build();
    this.logger = provider.get("dev.writ.gateway");
  }

  private final class Queueing implements LogRecordProcessor {
    @Override
    public void onEmit(Context context, ReadWriteLogRecord record) {
      queue.add(record.toLogRecordData());
    }
  }

  void add(JsonValue.Obj line) {
    String level = text(line, "level");
    LogRecordBuilder record =
        logger
            .logRecordBuilder()
            .setTimestamp(clock.instant())
            .setSeverity(level.equals("error") ? Severity.ERROR : Severity.INFO)
            .setSeverityText(level)
            .setBody(text(line, "event"))
            .setContext(context(line));
    for (Map.Entry<String, JsonValue> member : line.members().entrySet()) {
      switch (member.getKey()) {
        case "at", "level", "event", "trace_id", "span_id" -> {}
        default -> attribute(record, member.getKey(), member.getValue());
      }
    }
    record.emit();
  }

  private static void attribute(LogRecordBuilder record, String name, JsonValue value) {
    switch (value) {
      case JsonValue.Str text -> record.setAttribute(name, text.value());
      case JsonValue.Num number when number.isInteger() ->
          record.setAttribute(name, (long) number.value());
      default -> record.setAttribute(name, new String(Jcs.write(value), StandardCharsets.UTF_8));
    }
  }

  private static Context context(JsonValue.Obj line) {
    SpanContext span =
        SpanContext.create(
            text(line, "trace_id"),
            text(line, "span_id"),
            TraceFlags.getDefault(),
            TraceState.getDefault());
    return Context.root().with(Span.wrap(span));
  }

  private static String text(JsonValue.Obj line, String name) {
    return line.get(name) instanceof JsonValue.Str text ? text.value() : "";
  }

  long sent() {
    return queue.sent();
  }

  long dropped() {
    return queue.dropped();
  }

  @Override
  public void close() {
    queue.close();
    provider.close();
    exporter.shutdown();
  }
}
