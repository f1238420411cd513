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

/**
 * Whether the server can execute effects now: disk, ledger, clock, policy, not draining, probes.
 */
public final class Readiness {
  private static final long DISK_BYTES_MIN = 64L << 20;
  private static final Duration PROBE_EVERY = Duration.ofSeconds(1);

  private final Kernel kernel;
  private final Pipeline pipeline;
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
    this.kernel = kernel;
    this.pipeline = pipeline;
    this.disk = disk;
  }

  /**
   * The result of one condition.
   *
   * @param why why it fails, or why it is not needed; absent if there is nothing to say
   */
  public record Check(String name, boolean ok, Optional<String> why) {
    Check(String name, boolean ok) {
      this(name, ok, Optional.empty());
    }
  }

  /** A ledger that failed stays stopped until it is opened again. */
  public void ledgerStopped() {
    ledgerStopped = true;
  }

  /** All of them, now. */
  public List<Check> checks() {
    List<Check> checks = new ArrayList<>();
    checks.add(new Check("disk", diskHasRoom()));
    checks.add(new Check("ledger", !ledgerStopped && ledgerAnswers()));
    checks.add(clockFits());
    checks.add(new Check("policy", kernel.system().policy().isPresent()));
    checks.add(new Check("not-draining", !pipeline.isDraining()));
    checks.addAll(probed());
    return checks;
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

  /** A failure goes away by itself: a refused clock reading has changed nothing. */
  private Check clockFits() {
    try {
      kernel.now();
      return new Check("clock", true);
    } catch (WritException e) {
      return new Check("clock", false, Optional.of(e.code().code()));
    }
  }

  private boolean ledgerAnswers() {
    try {
      return kernel.ledger().treeSize() > 0;
    } catch (WritException e) {
      return false;
    }
  }
}
