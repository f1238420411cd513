package dev.writ.gateway.ops;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.Answer;
import dev.writ.executor.stage.Stage;
import dev.writ.gateway.config.AlertThresholds;
import dev.writ.gateway.http.Observer;
import dev.writ.gateway.pipeline.ToolWork;
import dev.writ.gateway.schedule.LaneObserver;
import dev.writ.gateway.schedule.Scheduler;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.engine.ResourceClasses;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Counts and times for Prometheus. Its labels come from fixed lists (routes, policy's tools and
 * roles, codes), so that no caller can make them grow.
 */
public final class Metrics implements Observer {
  private static final Duration[] STEPS = {
    Duration.ofMillis(1),
    Duration.ofMillis(5),
    Duration.ofMillis(25),
    Duration.ofMillis(100),
    Duration.ofMillis(500),
    Duration.ofSeconds(2),
    Duration.ofSeconds(10)
  };

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final Supplier<Policy> policy;
  private final Function<ToolRef, Optional<ToolManifest>> manifests;
  private final EffectMetrics effects = new EffectMetrics(registry);
  private final EnumMap<Stage, Timer> passed = new EnumMap<>(Stage.class);
  private final EnumMap<Stage, Timer> refused = new EnumMap<>(Stage.class);
  private final Timer commits;
  private final List<Supplier<Number>> read = new ArrayList<>();
  private final DistributionSummary groups;

  /**
   * @param policy the policy in force; names that it does not have are counted as {@code other}
   * @param manifests of the registered packages, for effects whose tool did not run
   */
  public Metrics(Supplier<Policy> policy, Function<ToolRef, Optional<ToolManifest>> manifests) {
    this.policy = policy;
    this.manifests = manifests;
    for (Stage stage : Stage.values()) {
      passed.put(stage, stageTimer(stage, false));
      refused.put(stage, stageTimer(stage, true));
    }
    commits =
        Timer.builder("writ.ledger.commit")
            .description("One durable write of the ledger, of as many batches as waited")
            .serviceLevelObjectives(STEPS)
            .register(registry);
    groups =
        DistributionSummary.builder("writ.ledger.commit.batches")
            .description("Batches that one write made durable")
            .register(registry);
  }

  private Timer stageTimer(Stage stage, boolean refuses) {
    return Timer.builder("writ.stage")
        .description("Time in a stage of the pipeline")
        .tag("stage", stage.text())
        .tag("refused", String.valueOf(refuses))
        .serviceLevelObjectives(STEPS)
        .register(registry);
  }

  void stage(Stage stage, boolean refuses, long nanos) {
    (refuses ? refused : passed).get(stage).record(nanos, TimeUnit.NANOSECONDS);
  }

  /** Counts a content that could not be stored; codes are the server's own. */
  void notStored(RuntimeException why) {
    Counter.builder("writ.contents.not.stored")
        .description("Outputs that could not be stored, by the code of what stores them")
        .tag("code", why instanceof WritException e ? e.code().code() : EffectLabels.OTHER)
        .register(registry)
        .increment();
  }

  void commit(long nanos) {
    commits.record(nanos, TimeUnit.NANOSECONDS);
  }

  void group(int batches) {
    groups.record(batches);
  }

  /** Adds a number that is read at each scrape. */
  public void gauge(String name, String help, Supplier<Number> value) {
    gauge(name, help, new TreeMap<>(), value);
  }

  /** The same with a label from a fixed list. */
  public void gauge(String name, String help, String label, String word, Supplier<Number> value) {
    gauge(name, help, new TreeMap<>(Map.of(label, word)), value);
  }

  /** The same with several labels. */
  public void gauge(
      String name, String help, SortedMap<String, String> labels, Supplier<Number> value) {
    Gauge.builder(name, value)
        .description(help)
        .tags(tags(labels))
        .strongReference(true)
        .register(registry);
  }

  /** Adds a number that only grows and is read at each scrape. */
  public void counter(String name, String help, Supplier<Number> value) {
    counter(name, help, new TreeMap<>(), value);
  }

  /** The same with a label from a fixed list. */
  public void counter(String name, String help, String label, String word, Supplier<Number> value) {
    counter(name, help, new TreeMap<>(Map.of(label, word)), value);
  }

  /** The same with several labels. */
  public void counter(
      String name, String help, SortedMap<String, String> labels, Supplier<Number> value) {
    synchronized (read) {
      read.add(value); // the registry holds it only weakly
    }
    FunctionCounter.builder(name, value, v -> v.get().doubleValue())
        .description(help)
        .tags(tags(labels))
        .register(registry);
  }

  private static Tags tags(SortedMap<String, String> labels) {
    return Tags.of(labels.entrySet().stream().map(e -> Tag.of(e.getKey(), e.getValue())).toList());
  }

  @Override
  public void finished(Finished call) {
    Timer.builder("writ.http.requests")
        .description("Calls by surface, route and status")
        .tag("surface", call.surface())
        .tag("route", call.route())
        .tag("method", method(call.method()))
        .tag("status", String.valueOf(call.status()))
        .tag("code", call.code().orElse(""))
        .serviceLevelObjectives(STEPS)
        .register(registry)
        .record(call.took());
  }

  /** Anybody can send a method of any name, so unknown ones get one label. */
  static String method(String method) {
    return switch (method) {
      case "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH" -> method;
      default -> "other";
    };
  }

  /** What an effect is counted under. */
  EffectLabels labels(String surface, Request request, ToolWork work) {
    Policy inForce = policy.get();
    Optional<ToolManifest> manifest =
        work.tool()
            .or(() ->
                inForce
                    .tool(request.effect().tool(), request.effect().version())
                    .flatMap(tool -> manifests.apply(tool.ref())));
    return EffectLabels.of(inForce, surface, request, manifest);
  }

  /** Counts and times of effects. */
  EffectMetrics effects() {
    return effects;
  }

  /** Counts an effect that was answered, through any surface, repeats among them. */
  void answered(EffectLabels labels, Answer answer) {
    Counter.builder("writ.effects")
        .description("Effects that were answered, repeats among them")
        .tag("surface", labels.surface())
        .tag("tool", labels.tool())
        .tag("role", labels.role())
        .tag("verdict", answer.decision().verdict().name().toLowerCase(Locale.ROOT))
        .tag(
            "outcome",
            answer.served().map(s -> s.receipt().status().text()).orElse(EffectLabels.NONE))
        .tag(
            "repeated",
            String.valueOf(answer.served().map(s -> s.repeated()).orElse(answer.isKnown())))
        .register(registry)
        .increment();
  }

  /** Counts how a call's wait in the engine's lane ended. */
  public void waited(String resourceClass, LaneObserver.End end, long nanos) {
    Timer.builder("writ.engine.wait")
        .description("Waiting for a slot of the engine, by resource class and how it ended")
        .tag("class", resourceClass)
        .tag("end", end.text())
        .serviceLevelObjectives(STEPS)
        .register(registry)
        .record(nanos, TimeUnit.NANOSECONDS);
  }

  /** Adds the lane's numbers, which are read at each scrape. */
  public void lane(Scheduler lane) {
    gauge("writ.engine.waiting", "Calls that wait for a slot of the engine", lane::waiting);
    for (String name : ResourceClasses.NAMES) {
      Gauge.builder("writ.engine.running", () -> lane.running(name))
          .description("Calls that hold a slot of the engine")
          .tag("class", name)
          .strongReference(true)
          .register(registry);
    }
  }

  /** Adds what was sent to a collector, and what was not. */
  void exported(String signal, Supplier<Number> sent, Supplier<Number> dropped) {
    counter("writ.telemetry.sent", "Items that a collector accepted", "signal", signal, sent);
    counter(
        "writ.telemetry.dropped",
        "Items that found no place in the queue, or that no collector accepted",
        "signal",
        signal,
        dropped);
  }

  /**
   * Adds when a certificate ends that the server shows; nothing where it shows none.
   *
   * @param of to whom it is shown: {@code callers} or {@code gateways}
   * @param end of the one in force, since a reload exchanges it
   */
  public void certificate(String of, Supplier<Optional<Instant>> end) {
    if (end.get().isPresent()) {
      gauge(
          "writ.tls.certificate.end.seconds",
          "When a certificate ends that the server shows, in seconds since 1970",
          "of",
          of,
          () -> end.get().orElseThrow().getEpochSecond());
    }
  }

  /** Adds the thresholds of alerts, with which rules compare. */
  public void thresholds(AlertThresholds thresholds) {
    thresholds
        .values()
        .forEach((alert, value) ->
            Gauge.builder("writ.alert.threshold", () -> value)
                .description("Thresholds of alerts, by the configuration")
                .tag("alert", alert)
                .strongReference(true)
                .register(registry));
  }

  /** What a scrape would show. */
  Stream<MetricSnapshot> snapshots() {
    return registry.getPrometheusRegistry().scrape().stream();
  }

  /** In the text format of Prometheus. */
  public String text() {
    return registry.scrape();
  }
}
