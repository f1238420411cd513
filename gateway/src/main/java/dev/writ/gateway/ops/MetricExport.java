package dev.writ.gateway.ops;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporter;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.Data;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.GaugeData;
import io.opentelemetry.sdk.metrics.data.HistogramData;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.MetricDataType;
import io.opentelemetry.sdk.metrics.data.SumData;
import io.opentelemetry.sdk.resources.Resource;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.Label;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.stream.Stream;

/** Sends by OTLP, every so often, what a scrape of {@code /metrics} shows: the same names. */
final class MetricExport implements AutoCloseable {
  private static final InstrumentationScopeInfo SCOPE =
      InstrumentationScopeInfo.create("dev.writ.gateway");

  private final OtlpHttpMetricExporter exporter;
  private final Resource resource;
  private final InstantSource clock;
  private final long start;
  private final Metrics measured;
  private final CountDownLatch closing = new CountDownLatch(1);
  private final LongAdder sent = new LongAdder();
  private final LongAdder dropped = new LongAdder();
  private final Thread thread;

  MetricExport(
      String url, Resource resource, InstantSource clock, Duration every, Metrics measured) {
    this.resource = resource;
    this.clock = clock;
    this.start = nanos(clock.instant());
    this.measured = measured;
    this.exporter =
        OtlpHttpMetricExporter.builder()
            .setEndpoint(url)
            .setTimeout(Telemetry.EXPORT_WITHIN)
            .setRetryPolicy(null)
            .build();
    this.thread = Thread.ofPlatform().daemon().name("writ-otlp-metrics").start(() -> work(every));
  }

  /** One set of measurements, in a type that the exporter takes. */
  private record Measured(
      Resource getResource,
      String getName,
      String getDescription,
      String getUnit,
      MetricDataType getType,
      Data<?> getData)
      implements MetricData {
    @Override
    public InstrumentationScopeInfo getInstrumentationScopeInfo() {
      return SCOPE;
    }
  }

  private void work(Duration every) {
    try {
      while (!closing.await(every.toMillis(), TimeUnit.MILLISECONDS)) {
        send();
      }
      send();
    } catch (InterruptedException e) {
      // closing took too long
    }
  }

  private void send() {
    try {
      List<MetricData> all = measured.snapshots().flatMap(this::converted).toList();
      boolean accepted =
          exporter
              .export(all)
              .join(Telemetry.EXPORT_WITHIN.toMillis(), TimeUnit.MILLISECONDS)
              .isSuccess();
      (accepted ? sent : dropped).add(all.size());
    } catch (RuntimeException e) { // a number that cannot be read now may be read the next time
      dropped.increment();
    }
  }

  private Stream<MetricData> converted(MetricSnapshot snapshot) {
    long now = nanos(clock.instant());
    return switch (snapshot) {
      case CounterSnapshot counter ->
          one(
              snapshot,
              MetricDataType.DOUBLE_SUM,
              SumData.createDoubleSumData(
                  true,
                  AggregationTemporality.CUMULATIVE,
                  points(counter.getDataPoints(), p -> point(now, p.getLabels(), p.getValue()))));
      case GaugeSnapshot gauge ->
          one(
              snapshot,
              MetricDataType.DOUBLE_GAUGE,
              GaugeData.createDoubleGaugeData(
                  points(gauge.getDataPoints(), p -> point(now, p.getLabels(), p.getValue()))));
      case HistogramSnapshot histogram ->
          one(
              snapshot,
              MetricDataType.HISTOGRAM,
              HistogramData.create(
                  AggregationTemporality.CUMULATIVE,
                  points(histogram.getDataPoints(), p -> buckets(now, p))));
      case SummarySnapshot summary ->
          one(
              snapshot,
              MetricDataType.HISTOGRAM,
              HistogramData.create(
                  AggregationTemporality.CUMULATIVE,
                  points(
                      summary.getDataPoints(),
                      p ->
                          HistogramPointData.create(
                              start,
                              now,
                              attributes(p.getLabels()),
                              p.getSum(),
                              false,
                              0,
                              false,
                              0,
                              List.of(),
                              List.of(p.getCount())))));
      default -> Stream.empty();
    };
  }

  private Stream<MetricData> one(MetricSnapshot of, MetricDataType type, Data<?> data) {
    String help = of.getMetadata().getHelp();
    String unit = of.getMetadata().hasUnit() ? of.getMetadata().getUnit().toString() : "";
    return Stream.of(
        new Measured(
            resource,
            of.getMetadata().getPrometheusName(),
            help == null ? "" : help,
            unit,
            type,
            data));
  }

  private static <P, T> List<T> points(List<P> from, Function<P, T> convert) {
    return from.stream().map(convert).toList();
  }

  private DoublePointData point(long now, Labels labels, double value) {
    return DoublePointData.create(start, now, attributes(labels), value, List.of());
  }

  /** The last bucket of a classic histogram has no bound. */
  private HistogramPointData buckets(long now, HistogramSnapshot.HistogramDataPointSnapshot point) {
    ClassicHistogramBuckets classic = point.getClassicBuckets();
    List<Double> bounds = new ArrayList<>();
    List<Long> counts = new ArrayList<>();
    for (int i = 0; i < classic.size(); i++) {
      counts.add(classic.getCount(i));
      if (i < classic.size() - 1) {
        bounds.add(classic.getUpperBound(i));
      }
    }
    return HistogramPointData.create(
        start,
        now,
        attributes(point.getLabels()),
        point.getSum(),
        false,
        0,
        false,
        0,
        bounds,
        counts);
  }

  private static Attributes attributes(Labels labels) {
    AttributesBuilder attributes = Attributes.builder();
    for (Label label : labels) {
      attributes.put(label.getName(), label.getValue());
    }
    return attributes.build();
  }

  private static long nanos(Instant at) {
    return TimeUnit.SECONDS.toNanos(at.getEpochSecond()) + at.getNano();
  }

  long sent() {
    return sent.sum();
  }

  long dropped() {
    return dropped.sum();
  }

  /** Sends once more, for a short time. */
  @Override
  public void close() {
    closing.countDown();
    try {
      thread.join(Telemetry.EXPORT_WITHIN);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    thread.interrupt();
    exporter.shutdown();
  }
}
