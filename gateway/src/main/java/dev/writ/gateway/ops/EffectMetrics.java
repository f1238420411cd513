package dev.writ.gateway.ops;

import dev.writ.executor.stage.Stage;
import dev.writ.gateway.pipeline.AlertSigns;
import dev.writ.gateway.pipeline.IncidentKind;
import dev.writ.gateway.pipeline.ToolWork;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Resources;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Counts and times of effects, by tool, command, role, language and workload. */
final class EffectMetrics {
  private static final long MIB = 1L << 20;
  private static final double[] BYTES = {
    MIB, 16 * MIB, 64 * MIB, 256 * MIB, 1024 * MIB, 4096 * MIB
  };
  private static final double[] SECONDS = {0.01, 0.1, 0.5, 2, 10, 60, 600};
  private static final Duration[] TIMES = {
    Duration.ofMillis(10),
    Duration.ofMillis(100),
    Duration.ofMillis(500),
    Duration.ofSeconds(2),
    Duration.ofSeconds(10),
    Duration.ofSeconds(60),
    Duration.ofSeconds(600)
  };

  /** Stages 1 to 3. */
  private static final List<Stage> BEFORE_DISPATCH =
      List.of(Stage.GATE, Stage.SNAPSHOT, Stage.PREPARE);

  private final MeterRegistry registry;
  private final TreeMap<String, AtomicLong> inARow = new TreeMap<>();

  /** Series that alerts watch are there from the beginning: a rate needs a value before. */
  EffectMetrics(MeterRegistry registry) {
    this.registry = registry;
    AlertSigns.SUSPICIOUS.forEach(this::suspicious);
    AlertSigns.SANDBOX_FAILURES.forEach(this::sandboxFailures);
    incidents(EffectLabels.NONE, EffectLabels.NONE);
    for (Stage stage : BEFORE_DISPATCH) {
      refusals(EffectLabels.NONE, EffectLabels.NONE, EffectLabels.NONE, stage.text(), "");
    }
  }

  private Counter suspicious(String code) {
    return Counter.builder("writ.commands.suspicious")
        .description("Commands that the tool gateway refused, by the code of the refusal")
        .tag("code", code)
        .register(registry);
  }

  private Counter sandboxFailures(String reason) {
    return Counter.builder("writ.sandbox.failures")
        .description("Sandboxes that could not be made, or whose rules were broken")
        .tag("reason", reason)
        .register(registry);
  }

  private Counter refusals(String surface, String tool, String role, String stage, String code) {
    return Counter.builder("writ.refusals")
        .description("Effects that were refused before the dispatch, by stage and code")
        .tag("surface", surface)
        .tag("tool", tool)
        .tag("role", role)
        .tag("stage", stage)
        .tag("code", code)
        .register(registry);
  }

  private void incidents(String language, String workload) {
    IncidentKind.ALL.forEach(kind -> incident(kind, language, workload));
  }

  private Counter incident(IncidentKind kind, String language, String workload) {
    return Counter.builder("writ.incidents")
        .description("Incidents of executions, by kind")
        .tag("kind", kind.name())
        .tag("language", language)
        .tag("workload", workload)
        .register(registry);
  }

  /** An effect that ended in a receipt, counted once. */
  void executed(
      EffectLabels labels, EffectEnd end, Receipt receipt, Resources declared, ToolWork work) {
    ended(labels, end);
    Tags tool = tool(labels);
    Tags command = tool.and("command", labels.command());
    timer("writ.execution.time", "From dispatch to the end of the tool", command)
        .record(Duration.between(receipt.startedAt(), receipt.finishedAt()).abs());
    timer("writ.execution.dispatch", "From its turn to the start of the tool", tool)
        .record(work.beforeToolNs(), TimeUnit.NANOSECONDS);
    work.used()
        .ifPresent(used -> {
          summary(
                  "writ.execution.cpu",
                  "seconds",
                  "Processor time that a tool used",
                  command,
                  SECONDS)
              .record(used.cpuMs() / 1000.0);
          summary("writ.execution.memory", "bytes", "Peak memory of a tool", command, BYTES)
              .record(used.memoryBytes());
          share(tool, "cpu", used.cpuMs(), declared.cpuMs());
          share(tool, "memory", used.memoryBytes(), declared.memoryBytes());
          share(tool, "time", used.wallMs(), declared.wallMs());
        });
    AlertSigns.sandboxFailure(receipt, work::observations)
        .ifPresent(reason -> sandboxFailures(reason).increment());
  }

  /** How long an executed effect had waited for its turn. */
  void queued(EffectLabels labels, long nanos) {
    timer("writ.execution.queue", "Waiting for a turn, of effects that were executed", tool(labels))
        .record(nanos, TimeUnit.NANOSECONDS);
  }

  private static Tags tool(EffectLabels labels) {
    return Tags.of(
        "tool", labels.tool(), "language", labels.language(), "workload", labels.workload());
  }

  private Timer timer(String name, String help, Tags tags) {
    return Timer.builder(name)
        .description(help)
        .tags(tags)
        .serviceLevelObjectives(TIMES)
        .register(registry);
  }

  private DistributionSummary summary(
      String name, String unit, String help, Tags tags, double[] bounds) {
    return DistributionSummary.builder(name)
        .baseUnit(unit)
        .description(help)
        .tags(tags)
        .serviceLevelObjectives(bounds)
        .register(registry);
  }

  private void share(Tags tool, String resource, long used, long declared) {
    if (declared > 0) {
      DistributionSummary.builder("writ.execution.used.ratio")
          .description("Used of what the effect declared: 1 is all")
          .tags(tool.and("resource", resource))
          .register(registry)
          .record((double) used / declared);
    }
  }

  /** Any end of an effect. */
  void ended(EffectLabels labels, EffectEnd end) {
    Counter.builder("writ.executions")
        .description("Ends of effects, each counted once")
        .tag("surface", labels.surface())
        .tags(tool(labels))
        .tag("role", labels.role())
        .tag("command", labels.command())
        .tag("outcome", end.outcome())
        .tag("exit", end.exitLabel())
        .register(registry)
        .increment();
    incidents(labels.language(), labels.workload());
    end.incident()
        .ifPresent(kind -> incident(kind, labels.language(), labels.workload()).increment());
    boolean counts =
        end.incident().filter(IncidentKind.PolicyDenied::equals).isEmpty()
            && !end.outcome().equals(EffectEnd.CANCELLED);
    if (counts) {
      failuresInARow(labels, end);
    }
  }

  private void failuresInARow(EffectLabels labels, EffectEnd end) {
    AtomicLong count;
    synchronized (inARow) {
      count =
          inARow.computeIfAbsent(
              labels.tool() + "\u0000" + labels.command() + "\u0000" + labels.role(),
              _ -> registered(labels));
    }
    if (end.outcome().equals(EffectEnd.SUCCESS)) {
      count.set(0);
    } else {
      count.incrementAndGet();
    }
  }

  private AtomicLong registered(EffectLabels labels) {
    AtomicLong count = new AtomicLong();
    Gauge.builder("writ.executions.failed.in.a.row", count::get)
        .description("Executions since the last success")
        .tag("tool", labels.tool())
        .tag("command", labels.command())
        .tag("role", labels.role())
        .strongReference(true)
        .register(registry);
    return count;
  }

  /** The Guardian did not allow it. */
  void denied(EffectLabels labels, EffectEnd end) {
    ended(labels, end);
    Counter.builder("writ.policy.denials")
        .description("Requests that the Guardian did not allow, by the code of the deciding check")
        .tag("surface", labels.surface())
        .tag("tool", labels.tool())
        .tag("role", labels.role())
        .tag("outcome", end.outcome())
        .tag("code", end.code().orElse(""))
        .register(registry)
        .increment();
    end.code()
        .filter(AlertSigns.SUSPICIOUS::contains)
        .ifPresent(code -> suspicious(code).increment());
  }

  /**
   * The kernel refused it before the dispatch.
   *
   * @param stage that refused
   */
  void refused(EffectLabels labels, EffectEnd end, String stage) {
    ended(labels, end);
    refusals(labels.surface(), labels.tool(), labels.role(), stage, end.code().orElse(""))
        .increment();
    end.code()
        .filter(AlertSigns::isSandboxFailure)
        .ifPresent(_ -> sandboxFailures(AlertSigns.NOT_MADE).increment());
  }
}
