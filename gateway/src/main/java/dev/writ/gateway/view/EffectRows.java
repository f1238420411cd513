package dev.writ.gateway.view;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.gateway.view.EffectView.State;
import dev.writ.guardian.document.CheckOutcome;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongConsumer;

/** Makes rows from what a ledger has of a request. Thread safe. */
final class EffectRows {
  /** A policy is needed for its prices; few are in use at a time. */
  private static final int POLICIES_MAX = 16;

  private final LedgerView ledger;
  private final ConcurrentHashMap<Digest, Policy> policies = new ConcurrentHashMap<>();

  EffectRows(LedgerView ledger) {
    this.ledger = ledger;
  }

  /** The row of a request, which was received at that place in the log. */
  EffectView row(Digest id, Request request, RequestRow row, long index, LongConsumer reads) {
    Envelope decided = ledger.document(row.decision()).orElseThrow();
    Decision decision = Decision.read(decided.document());
    Optional<Digest> receiptId =
        ledger.get(Tables.SERVED, Tables.key(id)).map(Digest::ofBytes); // of this request alone
    Optional<Receipt> receipt =
        receiptId.map(r -> Receipt.read(ledger.document(r).orElseThrow().document()));
    Optional<Refusal> refusal =
        row.state() == RequestRow.State.LAPSED && receipt.isEmpty()
            ? refusal(id, row, decision, reads)
            : Optional.empty();
    Optional<CheckOutcome> check = decision.refusing().filter(_ -> receipt.isEmpty());
    return new EffectView(
        index,
        id,
        request.scope(),
        onBehalfOf(decision, request),
        request.effect().tool(),
        request.effect().version(),
        request.effect().operation(),
        request.origin().map(Origin::surface),
        decision.verdict(),
        state(id, row, receiptId, receipt),
        receipt.map(Receipt::status),
        code(decision, receipt, refusal),
        receipt
            .filter(r -> r.status() != Status.SUCCEEDED)
            .map(r -> r.message().isEmpty() ? r.reason() : r.reason() + ": " + r.message())
            .or(() -> refusal.map(Refusal::found))
            .or(() -> check.map(CheckOutcome::detail)),
        row.receivedAt(),
        decision.decidedAt(),
        receipt.map(Receipt::finishedAt).or(() -> refusal.map(Refusal::refusedAt)),
        receipt.map(r -> Duration.between(r.startedAt(), r.finishedAt()).toMillis()),
        waited(row, decision),
        cost(request, decision),
        row.decision(),
        receiptId);
  }

  private State state(
      Digest id, RequestRow row, Optional<Digest> receiptId, Optional<Receipt> receipt) {
    if (receipt.isPresent()) {
      boolean unresolved =
          receipt.get().status() == Status.IN_DOUBT
              && ledger
                  .get(Tables.DOUBT, Tables.key(receiptId.orElseThrow()))
                  .filter(resolution -> resolution.length == 0)
                  .isPresent();
      return unresolved ? State.IN_DOUBT : State.DONE;
    }
    return switch (row.state()) {
      case PENDING -> State.WAITING;
      case DENIED -> State.DENIED;
      case LAPSED -> State.REFUSED;
      case ALLOWED ->
          ledger.get(Tables.DISPATCHED, Tables.key(id)).isPresent()
              ? State.EXECUTING
              : State.JUDGED;
    };
  }

  /** A success has none: what a policy that only observes would have said is in the decision. */
  private static Optional<String> code(
      Decision decision, Optional<Receipt> receipt, Optional<Refusal> refusal) {
    return receipt.isPresent()
        ? receipt.filter(r -> r.status() != Status.SUCCEEDED).map(r -> r.code().orElse(r.reason()))
        : refusal.map(Refusal::code).or(decision::code);
  }

  /** The subjects that are charged beside the request's own. */
  private static List<String> onBehalfOf(Decision decision, Request request) {
    return decision.inputs().get("charged") instanceof JsonValue.Arr charged
        ? charged.items().stream()
            .map(item -> ((JsonValue.Str) item).value())
            .filter(name -> !name.equals(request.scope().subject()))
            .toList()
        : List.of();
  }

  /** It has waited where the decision took the place of one that escalated. */
  private Optional<Long> waited(RequestRow row, Decision decision) {
    return decision
        .supersedes()
        .flatMap(ledger::document)
        .map(earlier -> Decision.read(earlier.document()).verdict())
        .filter(earlier -> earlier == Verdict.ESCALATE && decision.verdict() != Verdict.ESCALATE)
        .map(_ -> Duration.between(row.receivedAt(), decision.decidedAt()).toMillis());
  }

  private Optional<Long> cost(Request request, Decision decision) {
    return decision.verdict() == Verdict.DENY
        ? Optional.empty()
        : policy(decision.policy())
            .flatMap(p -> p.price(request.effect().tool(), request.effect().operation()));
  }

  /** A policy that was in force once. */
  Optional<Policy> policy(Digest digest) {
    Policy known = policies.get(digest);
    if (known != null) {
      return Optional.of(known);
    }
    Optional<Policy> read =
        ledger.document(digest).map(document -> Policy.ofCanonical(document.document()));
    read.ifPresent(policy -> {
      if (policies.size() >= POLICIES_MAX) {
        policies.clear();
      }
      policies.put(digest, policy);
    });
    return read;
  }

  /** No row names a refusal; it is found behind its decision in the run. */
  private Optional<Refusal> refusal(
      Digest id, RequestRow row, Decision decision, LongConsumer reads) {
    RunEvents events = new RunEvents(ledger, row.run(), reads);
    Instant at = decision.decidedAt();
    long from = events.find(EventKind.DECISION_MADE, row.decision(), at).map(Event::seq).orElse(0L);
    for (long seq = from; seq < events.end(); seq++) {
      Event event = events.at(seq);
      if (event.kind().equals(EventKind.EFFECT_REFUSED)) {
        Optional<Refusal> refusal =
            ledger.document(event.body()).map(e -> Refusal.read(e.document()));
        if (refusal.filter(r -> r.request().equals(id)).isPresent()) {
          return refusal;
        }
      }
    }
    return Optional.empty();
  }

  /** The request that an event changes the row of; of others, the event before or after does. */
  Optional<Digest> requestOf(Event event) {
    return switch (event.kind()) {
      case EventKind.REQUEST_RECEIVED -> Optional.of(event.body());
      case EventKind.DECISION_MADE ->
          document(event).map(document -> Decision.read(document).request());
      case EventKind.EFFECT_DISPATCHED ->
          document(event).map(document -> Intent.read(document).request());
      case EventKind.EFFECT_REFUSED ->
          document(event).map(document -> Refusal.read(document).request());
      case EventKind.RECEIPT_SIGNED ->
          document(event).map(document -> Receipt.read(document).request());
      case EventKind.DOUBT_RESOLVED ->
          document(event)
              .map(document -> Resolution.read(document).receipt())
              .flatMap(ledger::document)
              .map(receipt -> Receipt.read(receipt.document()).request());
      default -> Optional.empty();
    };
  }

  private Optional<JsonValue> document(Event event) {
    return ledger.document(event.body()).map(Envelope::document);
  }

  /** Where in its run, and thereby in the log, a request was received. */
  Optional<Event> received(Digest id, RequestRow row, LongConsumer reads) {
    return new RunEvents(ledger, row.run(), reads)
        .find(EventKind.REQUEST_RECEIVED, id, row.receivedAt());
  }

  Optional<RequestRow> state(Digest id) {
    return ledger.get(Tables.REQUEST, Tables.key(id)).map(RequestRow::parse);
  }

  long index(RunId run, Event event) {
    return ledger.indexOf(run, event.seq()).orElseThrow();
  }
}
