package dev.writ.gateway.ops;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.Kernel;
import dev.writ.gateway.pipeline.Pipeline;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;

/**
 * Whether the server can execute effects now: disk, ledger, clock, keys, policy, not draining,
 * probes.
 */
public final class Readiness {
  private static final long DISK_BYTES_MIN = 64L << 20;
  private static final Duration PROBE_EVERY = Duration.ofSeconds(1);

  private final List<Condition> conditions;
  private final Path disk;
  private final List<Probe> probes;
  private final InstantSource clock;
  private volatile boolean ledgerStopped;
  private List<Check> probed = List.of();
  private Optional<Instant> probedAt = Optional.empty();

  /**
   * @param disk where the ledger lies
   * @param probes further conditions
   * @param clock a monotonic clock
   */
  public Readiness(
      Kernel kernel, Pipeline pipeline, Path disk, List<Probe> probes, InstantSource clock) {
    this.probes = List.copyOf(probes);
    this.clock = clock;
    this.disk = disk;
    this.conditions =
        List.of(
            new Condition("disk", () -> ok("disk", diskHasRoom())),
            new Condition("ledger", () -> ok("ledger", !ledgerStopped && answers(kernel))),
            new Condition("clock", () -> holds("clock", kernel::look)),
            new Condition("keys", () -> holds("keys", kernel::requireKeys)),
            new Condition("policy", () -> ok("policy", kernel.system().policy().isPresent())),
            new Condition("not-draining", () -> ok("not-draining", !pipeline.isDraining())));
  }

  /** One that every server has. */
  private record Condition(String name, Supplier<Check> look) {}

  /**
   * The result of one condition.
   *
   * @param why why it fails, or why it is not needed; absent if there is nothing to say
   */
  public record Check(String name, boolean ok, Optional<String> why) {}

  private static Check ok(String name, boolean ok) {
    return new Check(name, ok, Optional.empty());
  }

  /** A ledger that failed stays stopped until it is opened again. */
  public void ledgerStopped() {
    ledgerStopped = true;
  }

  /** All of them, now. */
  public List<Check> checks() {
    List<Check> checks = new ArrayList<>();
    conditions.forEach(condition -> checks.add(condition.look().get()));
    checks.addAll(probed());
    return checks;
  }

  /** Adds each of them to what is measured, so that an alert can watch it. */
  public void measure(Metrics metrics) {
    conditions.forEach(c -> measure(metrics, c.name(), c.look()));
    for (int i = 0; i < probes.size(); i++) {
      int number = i;
      measure(metrics, probes.get(i).name(), () -> probed().get(number));
    }
  }

  /** Adds one condition. */
  public static void measure(Metrics metrics, String name, Supplier<Check> look) {
    metrics.gauge(
        "writ.ready",
        "1 where a condition of readiness holds",
        "check",
        name,
        () -> look.get().ok() ? 1 : 0);
  }

  /**
   * Runs the probes at most once in a while: anybody may ask for readiness, and that must not cause
   * work.
   */
  private synchronized List<Check> probed() {
    Instant now = clock.instant();
    boolean stale = probedAt.filter(at -> now.isBefore(at.plus(PROBE_EVERY))).isEmpty();
    if (stale) {
      probed = probes.stream().map(Readiness::check).toList();
      probedAt = Optional.of(now);
    }
    return probed;
  }

  /** The result of one probe. */
  public static Check check(Probe probe) {
    Probe.Result result;
    try {
      result = probe.look().get();
    } catch (RuntimeException e) {
      result = Probe.Result.NOT_OK;
    }
    return new Check(probe.name(), result.ok(), result.why());
  }

  private boolean diskHasRoom() {
    return diskFree().orElse(0) >= DISK_BYTES_MIN;
  }

  /** Bytes that are free where the ledger lies; absent where the host does not say. */
  public OptionalLong diskFree() {
    try {
      return OptionalLong.of(Files.getFileStore(disk).getUsableSpace());
    } catch (IOException e) {
      return OptionalLong.empty();
    }
  }

  /** Why it does not hold is a code; it may hold again by itself, since nothing was changed. */
  private static Check holds(String name, Runnable required) {
    try {
      required.run();
      return ok(name, true);
    } catch (WritException e) {
      return new Check(name, false, Optional.of(e.code().code()));
    }
  }

  private static boolean answers(Kernel kernel) {
    try {
      return kernel.ledger().treeSize() > 0;
    } catch (WritException e) {
      return false;
    }
  }
}
