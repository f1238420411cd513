package dev.writ.sinks.incident;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Served;
import dev.writ.gateway.config.AlertThresholds;
import dev.writ.gateway.pipeline.AlertSigns;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Scope;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.surfaces.text.ContentSource;
import dev.writ.surfaces.text.ToolText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Which alerts an event of the journal raises. Each is computed from the event and those before it
 * in its run, so that the same event raises the same alerts whenever it is read. Used by one
 * thread.
 */
final class Alerts {
  private static final Duration WINDOW = Duration.ofHours(1);
  private static final long EVENTS_LOOKED_AT_MAX = 2_000;
  private static final int SIGNS_MAX = 10_000;
  private static final long OBSERVATIONS_BYTES_MAX = 64L << 20;

  private final LedgerView ledger;
  private final ContentSource contents;
  private final AlertThresholds thresholds;

  /** The latest that were looked at, by run and place in it. */
  private final Map<String, Sign> signs =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Sign> eldest) {
          return size() > SIGNS_MAX;
        }
      };

  Alerts(LedgerView ledger, ContentSource contents, AlertThresholds thresholds) {
    this.ledger = ledger;
    this.contents = contents.asFarAsReadable();
    this.thresholds = thresholds;
  }

  private long threshold(String name) {
    return thresholds.values().get(name);
  }

  List<Alert> of(Event event, Receipt receipt, Request request) {
    List<Alert> alerts = new ArrayList<>();
    if (ended(event) == Ended.FAILED
        && isNth(failuresInARow(event), threshold("consecutive_failures"))) {
      alerts.add(Alert.ConsecutiveFailures);
    }
    if (percentUsed(receipt, request.effect().resources()) >= threshold("resource_percent")) {
      alerts.add(Alert.ExcessiveResources);
    }
    sandbox(event, isSandboxFailure(receipt)).ifPresent(alerts::add);
    return alerts;
  }

  List<Alert> of(Event event, Decision decision) {
    Optional<Scope> scope = suspicious(decision);
    boolean raised =
        scope.isPresent()
            && isNth(
                lately(event, before -> before.suspicious.equals(scope)),
                threshold("suspicious_commands"));
    return raised ? List.of(Alert.SuspiciousCommands) : List.of();
  }

  List<Alert> of(Event event, Refusal refusal) {
    return sandbox(event, AlertSigns.isSandboxFailure(refusal.code())).stream().toList();
  }

  /** Whose command was refused so that an operator wants to hear of it. */
  private static Optional<Scope> suspicious(Decision decision) {
    return decision.code().filter(AlertSigns.SUSPICIOUS::contains).map(_ -> decision.scope());
  }

  private boolean isSandboxFailure(Receipt receipt) {
    return AlertSigns.sandboxFailure(
            receipt, () -> observations(receipt).flatMap(all -> member(all, "observed")))
        .isPresent();
  }

  private Optional<Alert> sandbox(Event event, boolean failed) {
    return failed && isNth(lately(event, Sign::sandboxFailure), threshold("sandbox_failures"))
        ? Optional.of(Alert.SandboxFailures)
        : Optional.empty();
  }

  /** What alerts count of one event, so that a flood of events is not read again for each. */
  private record Sign(Instant at, Optional<Scope> suspicious, boolean sandboxFailure) {}

  private Sign sign(RunId run, long seq) {
    return signs.computeIfAbsent(
        Tables.key(run.tenant(), run.run(), Tables.number(seq)),
        _ -> sign(ledger.event(run, seq).orElseThrow()));
  }

  private Sign sign(Event event) {
    return switch (event.kind()) {
      case EventKind.DECISION_MADE ->
          new Sign(event.at(), suspicious(Decision.read(document(event))), false);
      case EventKind.RECEIPT_SIGNED ->
          new Sign(event.at(), Optional.empty(), isSandboxFailure(Receipt.read(document(event))));
      case EventKind.EFFECT_REFUSED ->
          new Sign(
              event.at(),
              Optional.empty(),
              AlertSigns.isSandboxFailure(Refusal.read(document(event)).code()));
      default -> new Sign(event.at(), Optional.empty(), false);
    };
  }

  /** One alert for each so many, not one for each event after the first so many. */
  private static boolean isNth(long count, long threshold) {
    return count > 0 && count % threshold == 0;
  }

  /** How many of the run's events are so, up to this one, within the window. */
  private long lately(Event event, Predicate<Sign> is) {
    long count = 0;
    long oldest = Math.max(0, event.seq() - EVENTS_LOOKED_AT_MAX);
    for (long seq = event.seq(); seq >= oldest; seq--) {
      Sign before = sign(event.runId(), seq);
      if (before.at.isBefore(event.at().minus(WINDOW))) {
        break;
      }
      count += is.test(before) ? 1 : 0;
    }
    return count;
  }

  /**
   * How many executions in a row have failed, up to this one. They begin behind one that did not,
   * and behind one whose output a rule had deleted, since it is not known how that exited.
   */
  private long failuresInARow(Event event) {
    long count = 0;
    long oldest = Math.max(0, event.seq() - EVENTS_LOOKED_AT_MAX);
    for (long seq = event.seq(); seq >= oldest; seq--) {
      Event before = ledger.event(event.runId(), seq).orElseThrow();
      if (before.kind().equals(EventKind.RECEIPT_SIGNED)) {
        if (ended(before) != Ended.FAILED) {
          break;
        }
        count++;
      }
    }
    return count;
  }

  /** How an execution ended, as far as that is known. */
  private enum Ended {
    SUCCEEDED,
    FAILED,
    UNKNOWN
  }

  /** As the seeds have it: a command that exits with anything but 0 has failed, too. */
  private Ended ended(Event event) {
    var envelope = ledger.document(event.body()).orElseThrow();
    Receipt receipt = Receipt.read(envelope.document());
    Served served =
        new Served(envelope, receipt, Optional.empty(), Optional.empty(), Optional.empty(), true);
    ToolText text = ToolText.of(served, contents);
    if (!text.isExitKnown()) {
      return Ended.UNKNOWN;
    }
    return text.succeeded() ? Ended.SUCCEEDED : Ended.FAILED;
  }

  /** What an execution left beside its output, as long as it can be read. */
  private Optional<JsonValue.Obj> observations(Receipt receipt) {
    return ContentSource.readable(() ->
            receipt
                .observations()
                .filter(ledger::hasBlob)
                .map(digest -> ledger.blob(digest, OBSERVATIONS_BYTES_MAX)))
        .map(Jcs::parse)
        .filter(JsonValue.Obj.class::isInstance)
        .map(JsonValue.Obj.class::cast);
  }

  private static Optional<JsonValue.Obj> member(JsonValue.Obj of, String name) {
    return of.get(name) instanceof JsonValue.Obj found ? Optional.of(found) : Optional.empty();
  }

  /** The greatest share of what was declared, in percent; 0 where nothing was measured. */
  private long percentUsed(Receipt receipt, Resources declared) {
    if (receipt.code().filter(ExecutorError.DRIVER_FAILED.code()::equals).isPresent()) {
      return 0; // what was declared is charged
    }
    return observations(receipt)
        .flatMap(all -> member(all, "metrics"))
        .map(metrics -> Fields.of("metrics", metrics))
        .map(metrics ->
            Math.max(
                percent(metrics.count("cpu_ms"), declared.cpuMs()),
                Math.max(
                    percent(metrics.count("memory_bytes"), declared.memoryBytes()),
                    percent(metrics.count("wall_ms"), declared.wallMs()))))
        .orElse(0L);
  }

  private static long percent(long used, long declared) {
    return declared == 0 ? 0 : (long) (100.0 * used / declared);
  }

  private JsonValue document(Event event) {
    return ledger.document(event.body()).orElseThrow().document();
  }

  /** The request of a document that the journal names. */
  Request request(Digest id) {
    return Request.read(ledger.document(id).orElseThrow().document());
  }
}
