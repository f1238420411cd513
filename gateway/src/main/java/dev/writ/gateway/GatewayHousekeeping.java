package dev.writ.gateway;

import dev.writ.executor.Kernel;
import dev.writ.gateway.http.TlsRenewal;
import dev.writ.gateway.ops.JsonLog;
import dev.writ.gateway.ops.Metrics;
import dev.writ.gateway.pipeline.KernelPipeline;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.StorageUse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * What a server does from time to time beside its calls: it closes runs that are over, looks
 * whether tools can be confined, removes uploads that nothing names, and applies the rules of
 * retention, and takes up files of TLS that were renewed. Each has a thread of its own; what fails
 * may succeed the next time, when a database answers again for example.
 */
final class GatewayHousekeeping implements AutoCloseable {
  private static final Duration EVERY = Duration.ofSeconds(5);
  private static final Duration COLLECTING_EVERY = Duration.ofMinutes(10);

  private final RetentionSchedule retention;
  private final Housekeeping closing;
  private final Optional<Housekeeping> looking;
  private final Optional<Housekeeping> renewing;
  private final Housekeeping collecting;
  private final Housekeeping retaining;

  GatewayHousekeeping(
      KernelPipeline pipeline,
      Kernel kernel,
      Optional<ConfiningWatch> confining,
      Optional<TlsRenewal> tls,
      Metrics metrics,
      JsonLog log) {
    Consumer<RuntimeException> failing = e -> log.failed("housekeeping", e);
    retention = new RetentionSchedule(kernel, metrics, log);
    closing =
        new Housekeeping(
            EVERY,
            List.of(() -> closeRuns(pipeline, log, failing), kernel::settleAwaited),
            failing);
    looking =
        confining.map(
            watch -> new Housekeeping(Duration.ZERO, ConfiningWatch.EVERY, watch::look, failing));
    renewing = tls.map(files -> new Housekeeping(TlsRenewal.EVERY, files::look, failing));
    collecting = new Housekeeping(COLLECTING_EVERY, collecting(kernel, metrics, log), failing);
    retaining = new Housekeeping(EVERY, retention, failing);
  }

  private static void closeRuns(
      KernelPipeline pipeline, JsonLog log, Consumer<RuntimeException> failing) {
    int closed = pipeline.closeOverRuns(failing);
    if (closed > 0) {
      log.event("runs-closed", String.valueOf(closed));
    }
  }

  /** Removes uploads that no document names; it reads the whole ledger where there are any. */
  private static Runnable collecting(Kernel kernel, Metrics metrics, JsonLog log) {
    LongAdder bytes = new LongAdder();
    metrics.counter(
        "writ.storage.collected.bytes", "Bytes of uploads that were removed", bytes::sum);
    metrics.gauge(
        "writ.storage.uploaded.bytes",
        "Bytes of uploads, of all tenants",
        () -> kernel.contents().storageUse().values().stream().mapToLong(StorageUse::bytes).sum());
    return () -> {
      Ledger.Collected collected = kernel.contents().collect(kernel.look());
      bytes.add(collected.bytes());
      if (collected.claims() > 0) {
        log.event(
            "storage-collected",
            collected.claims()
                + " uploads, "
                + collected.blobs()
                + " blobs, "
                + collected.bytes()
                + " bytes");
      }
    };
  }

  /** Has closed runs be archived as often as the rules of retention are applied. */
  void archive(RunArchiving runs) {
    retention.archive(runs);
  }

  /** Returns when what is at work has ended. */
  @Override
  public void close() {
    closing.close();
    looking.ifPresent(Housekeeping::close);
    renewing.ifPresent(Housekeeping::close);
    collecting.close();
    retaining.close();
  }
}
