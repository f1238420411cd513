package dev.writ.gateway;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.Kernel;
import dev.writ.executor.retention.ContentRetention;
import dev.writ.gateway.ops.JsonLog;
import dev.writ.gateway.ops.Metrics;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.atomic.LongAdder;

/**
 * Carries out orders of erasure, and as often as policy's section {@code retention} says applies
 * its rules and archives closed runs, the first time soon after the start. Each time reads the
 * whole ledger. For one thread, but for what it tells.
 */
final class RetentionSchedule implements Runnable {
  /**
   * After a failure it is tried again no later than this, and no sooner; and so is an order of
   * erasure that waits.
   */
  private static final long AGAIN_S = 600;

  private final Kernel kernel;
  private final JsonLog log;
  private final LongAdder contents = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final TreeSet<Digest> told = new TreeSet<>();
  private final TreeSet<Digest> tried = new TreeSet<>();
  private Optional<Instant> last = Optional.empty();
  private Optional<Instant> lastErasure = Optional.empty();
  private boolean hasFailed;
  private final LongAdder runsArchived = new LongAdder();
  private final LongAdder contentsArchived = new LongAdder();
  private final LongAdder bytesArchived = new LongAdder();

  /** Set once, by another thread. */
  private volatile RunArchiving archiving = _ -> RunArchiving.Round.NOTHING;

  private boolean isMoreToArchive;

  RetentionSchedule(Kernel kernel, Metrics metrics, JsonLog log) {
    this.kernel = kernel;
    this.log = log;
    kernel.contents().whenRulesApplied(this::tell);
    kernel.contents().erasures().forEach((order, done) -> done.ifPresent(_ -> told.add(order)));
    metrics.gauge(
        "writ.erasure.pending",
        "Orders of erasure that are not carried out",
        () -> kernel.contents().erasures().values().stream().filter(Optional::isEmpty).count());
    metrics.counter(
        "writ.retention.deleted.contents", "Contents that rules had deleted", contents::sum);
    metrics.counter(
        "writ.retention.deleted.bytes", "Bytes of contents that rules had deleted", bytes::sum);
    metrics.counter(
        "writ.archived.runs", "Runs that the schedule moved to the archive", runsArchived::sum);
    metrics.counter(
        "writ.archived.contents",
        "Contents that the schedule moved to the archive",
        contentsArchived::sum);
    metrics.counter("writ.archived.bytes", "Their bytes", bytesArchived::sum);
  }

  /** Has closed runs be archived, too. */
  void archive(RunArchiving runs) {
    archiving = runs;
  }

  /** Carries out orders of erasure, and does the rest if it is time. */
  @Override
  public void run() {
    erase();
    Optional<Long> everyS = kernel.system().policyInForce().retention().everyS();
    if (everyS.isEmpty()) {
      return;
    }
    Instant now = kernel.look();
    long waitS = hasFailed ? Math.min(everyS.get(), AGAIN_S) : everyS.get();
    boolean isTime = last.filter(before -> before.plusSeconds(waitS).isAfter(now)).isEmpty();
    if (isTime) {
      last = Optional.of(now);
      hasFailed = true;
      kernel.contents().retain(kernel.now());
    }
    if (isTime || isMoreToArchive) {
      isMoreToArchive = false;
      hasFailed = true;
      archiveRuns(kernel.now());
      hasFailed = false;
    }
  }

  /** Rules are told whoever had them applied. */
  private void tell(ContentRetention.Deleted deleted) {
    contents.add(deleted.contents());
    bytes.add(deleted.bytes());
    if (deleted.contents() > 0) {
      log.event(
          "contents-deleted",
          deleted.contents()
              + " contents, "
              + deleted.bytes()
              + " bytes, "
              + deleted.statements()
              + " statements");
    }
  }

  private void archiveRuns(Instant now) {
    RunArchiving.Round round = archiving.next(now);
    isMoreToArchive = round.isMore();
    runsArchived.add(round.runs());
    contentsArchived.add(round.contents());
    bytesArchived.add(round.bytes());
    if (round.runs() + round.kept() > 0) {
      log.event(
          "runs-archived",
          round.runs()
              + " runs, "
              + round.contents()
              + " contents, "
              + round.bytes()
              + " bytes; "
              + round.kept()
              + " runs cannot be archived");
    }
  }

  /**
   * What an order waited for may be over, which takes reading the whole ledger to see. One that
   * nothing has tried waits for nothing: in a cell of several it comes with the statements of the
   * system cell, and nobody else carries it out there. Orders are told whoever carried them out.
   */
  private void erase() {
    Instant now = kernel.look();
    boolean isTime =
        lastErasure.filter(before -> before.plusSeconds(AGAIN_S).isAfter(now)).isEmpty();
    List<Digest> pending =
        kernel.contents().erasures().entrySet().stream()
            .filter(order -> order.getValue().isEmpty())
            .map(Map.Entry::getKey)
            .toList();
    if (!pending.isEmpty() && (isTime || !tried.containsAll(pending))) {
      lastErasure = Optional.of(now);
      tried.addAll(pending);
      kernel.contents().erase(kernel.now());
    }
    kernel
        .contents()
        .erasures()
        .forEach((order, done) -> {
          if (done.isPresent() && told.add(order)) {
            log.event("contents-erased", "order " + order);
          }
        });
  }
}
