package dev.writ.bench;

import dev.writ.canonicalize.crypto.SignatureEngine;
import dev.writ.canonicalize.crypto.SignatureEngines;
import java.util.ArrayList;
import java.util.List;

/**
 * An allowed no-op effect from the bytes of its signed request to its durable receipt, against the
 * sum of what it cannot do without. Requests are signed before the time begins.
 */
final class EffectSteps implements AutoCloseable {
  static final int CALLERS = 64;

  private static final int WARM_UP_EACH = 32;
  private static final BenchTarget ONE_CALLER = new BenchTarget.TimeAtMost(1.3);
  private static final BenchTarget MANY_CALLERS = new BenchTarget.RateAtLeast(0.8);

  /** What an effect may take in the log: it is written once, and waited for. */
  private static final int LOG_BYTES_MAX = 4_000;

  /** 250 µs, where the curve operations of an effect take 204. */
  private static final BenchTarget PROCESSOR = new BenchTarget.TimeAtMost(1.25);

  private final Stopwatch watch;
  private final Lab lab;
  private final Curve curve;
  private final ForcedFile preallocated;
  private final int effectBytes;

  EffectSteps(Stopwatch watch, Lab lab) {
    this.watch = watch;
    this.lab = lab;
    this.curve = lab.curve();
    effectBytes = lab.bytesOfAnEffect();
    for (int done = 0; done < watch.plan().effectsBefore(); done += CALLERS * WARM_UP_EACH) {
      crowd(CALLERS, "warm-up").run(WARM_UP_EACH);
    }
    preallocated =
        ForcedFile.preallocated(lab.directory().resolve("effect-preallocated"), effectBytes);
  }

  List<Step> steps() {
    List<Step> steps = new ArrayList<>();
    steps.add(
        new Step(
            "log for an effect, bytes",
            LOG_BYTES_MAX + " bytes",
            new BenchTarget.TimeAtMost(1),
            () -> Cost.ofBytes(effectBytes),
            () -> Cost.ofBytes(LOG_BYTES_MAX)));
    steps.addAll(steps("Bouncy Castle", SignatureEngines.bouncyCastle()));
    if (BenchEngines.hasCorretto()) {
      steps.addAll(steps("ACCP", SignatureEngines.fastest()));
    }
    return steps;
  }

  private List<Step> steps(String library, SignatureEngine engine) {
    int cores = Runtime.getRuntime().availableProcessors();
    Step.Slice floor =
        watch.repeat(() -> {
          curve.operations();
          return preallocated.append();
        });
    return List.of(
        new Step(
            "no-op effect, 1 caller, " + library,
            "6 curve operations + fdatasync of " + effectBytes + " B",
            ONE_CALLER,
            BenchEngines.with(engine, crowd(1, library)),
            BenchEngines.with(engine, floor)),
        new Step(
            "no-op effect, " + CALLERS + " callers, " + library,
            "6 curve operations on " + cores + " cores",
            MANY_CALLERS,
            BenchEngines.with(engine, crowd(CALLERS, library)),
            BenchEngines.with(engine, watch.repeat(cores, curve::operations))),
        new Step(
            "processor for an effect, " + library,
            "processor for 6 curve operations",
            PROCESSOR,
            BenchEngines.with(engine, processor(crowd(CALLERS, "cpu-" + library))),
            BenchEngines.with(engine, processor(watch.repeat(cores, curve::operations)))));
  }

  private EffectCrowd crowd(int callers, String name) {
    return new EffectCrowd(watch, lab, callers, name);
  }

  /**
   * The processor time of the process in place of the elapsed time. It is counted in steps of 10
   * ms, so that the slice of a very quick run may have none, and is repeated.
   */
  private static Step.Slice processor(Step.Slice slice) {
    return () -> {
      double cpuNs = slice.cost().cpuNs();
      while (cpuNs == 0) {
        cpuNs = slice.cost().cpuNs();
      }
      return new Cost(cpuNs, cpuNs);
    };
  }

  @Override
  public void close() {
    preallocated.close();
  }
}
