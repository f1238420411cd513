package dev.writ.sinks.incident;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.executor.journal.EventKind;
import dev.writ.gateway.config.AlertThresholds;
import dev.writ.gateway.pipeline.IncidentKind;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.Verdict;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.sinks.feed.RecordReader;
import dev.writ.surfaces.engine.EngineJournal;
import dev.writ.surfaces.text.ContentSource;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Reads events of the journal as incidents: seed 004's kinds for executions of every surface, and
 * seed 002's alerts. Nothing of what a tool was given or gave is told.
 */
public final class IncidentJournal implements RecordReader {
  private final LedgerView ledger;
  private final Alerts alerts;
  private final EngineJournal engine;

  /**
   * @param contents of outputs, which tell how a command exited
   */
  public IncidentJournal(LedgerView ledger, ContentSource contents, AlertThresholds thresholds) {
    this.ledger = ledger;
    this.alerts = new Alerts(ledger, contents, thresholds);
    this.engine = new EngineJournal(ledger);
  }

  /** What an event shows; none of it is where there is neither a kind nor an alert. */
  private record Seen(
      Optional<IncidentKind> kind,
      List<Alert> alerts,
      String code,
      Scope scope,
      Digest request,
      Digest decision,
      Optional<Digest> receipt) {}

  @Override
  public Optional<Found> read(Event event) {
    return switch (event.kind()) {
      case EventKind.RECEIPT_SIGNED -> receipt(event, Receipt.read(document(event.body())));
      case EventKind.DECISION_MADE -> decision(event, Decision.read(document(event.body())));
      case EventKind.EFFECT_REFUSED -> refusal(event, Refusal.read(document(event.body())));
      default -> Optional.empty();
    };
  }

  private Optional<Found> receipt(Event event, Receipt receipt) {
    Request request = alerts.request(receipt.request());
    Optional<IncidentKind> kind =
        IncidentKind.of(receipt, request.effect())
            .or(() -> engine.kindOfCancelled(receipt, request));
    return found(
        event,
        request,
        new Seen(
            kind,
            alerts.of(event, receipt, request),
            receipt.status() == Status.SUCCEEDED ? "" : receipt.code().orElse(receipt.reason()),
            receipt.scope(),
            receipt.request(),
            receipt.decision(),
            Optional.of(event.body())));
  }

  private Optional<Found> decision(Event event, Decision decision) {
    if (decision.verdict() == Verdict.ALLOW) {
      return Optional.empty();
    }
    return found(
        event,
        alerts.request(decision.request()),
        new Seen(
            Optional.of(IncidentKind.PolicyDenied),
            alerts.of(event, decision),
            decision.code().orElse(""),
            decision.scope(),
            decision.request(),
            event.body(),
            Optional.empty()));
  }

  private Optional<Found> refusal(Event event, Refusal refusal) {
    return found(
        event,
        alerts.request(refusal.request()),
        new Seen(
            IncidentKind.ofRefusal(refusal.code()),
            alerts.of(event, refusal),
            refusal.code(),
            refusal.scope(),
            refusal.request(),
            refusal.decision(),
            Optional.empty()));
  }

  private static Optional<Found> found(Event event, Request request, Seen seen) {
    if (seen.kind.isEmpty() && seen.alerts.isEmpty()) {
      return Optional.empty();
    }
    String kind = seen.kind.map(Enum::name).orElseGet(() -> seen.alerts.getFirst().name());
    ObjectBuilder ids =
        JsonValue.object().put("request", seen.request).put("decision", seen.decision);
    seen.receipt.ifPresent(id -> ids.put("receipt", id));
    JsonValue.Obj fields =
        JsonValue.object()
            .put("kind", kind)
            .put("code", seen.code)
            .put(
                "message",
                seen.kind
                    .map(k -> Meanings.of(seen.code, k))
                    .orElseGet(() -> Meanings.of(seen.code, seen.alerts)))
            .putList("alerts", seen.alerts, alert -> JsonValue.of(alert.name()))
            .put("time", event.at())
            .put("tenantId", seen.scope.tenant())
            .put("subject", seen.scope.subject())
            .put("correlationId", EngineJournal.correlation(request))
            .put("toolId", request.effect().tool())
            .put("toolVersion", request.effect().version())
            .put("operation", request.effect().operation())
            .putIfPresent("region", EngineJournal.region(request), JsonValue::of)
            .put("ids", ids.build())
            .build();
    return Optional.of(new Found(seen.scope, fields));
  }

  /** The kind and the alerts of an incident. */
  static List<String> words(JsonValue.Obj fields) {
    return Stream.concat(
            Stream.of(fields.get("kind")), ((JsonValue.Arr) fields.get("alerts")).items().stream())
        .map(word -> ((JsonValue.Str) word).value())
        .toList();
  }

  private JsonValue document(Digest id) {
    return ledger.document(id).orElseThrow().document();
  }
}
