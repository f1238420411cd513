package dev.writ.gateway.view;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Refusal;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The events of one request, out of those of its run, in order. */
final class EffectStory {
  /**
   * A run may go on for long after an effect; so many events behind its beginning are looked at.
   */
  private static final int EVENTS_MAX = 200_000;

  /**
   * An event with its place in the log.
   *
   * @param document what its body is, if it is a document
   */
  record Placed(long index, Event event, Optional<Envelope> document) {}

  private final LedgerView ledger;
  private final Digest request;
  private final RequestRow row;
  private final Optional<Digest> receipt;
  private final RunEvents events;
  private final List<Placed> found = new ArrayList<>();
  private final Set<Digest> intents = new HashSet<>();
  private final Set<Digest> decisions;
  private final Set<Digest> approvals = new HashSet<>();
  private final boolean whole;

  EffectStory(LedgerView ledger, Digest request, RequestRow row, Event received) {
    this.ledger = ledger;
    this.request = request;
    this.row = row;
    this.events = new RunEvents(ledger, row.run(), _ -> {});
    this.receipt = ledger.get(Tables.SERVED, Tables.key(request)).map(Digest::ofBytes);
    this.decisions = decisions();
    ledger.scan(
        Tables.APPROVAL,
        Tables.prefix(request.hex()),
        (key, _) -> approvals.add(Digest.parse("sha256:" + Tables.lastPart(key))));
    this.whole = read(received.seq());
  }

  /** In their order. */
  List<Placed> events() {
    return found;
  }

  /** Whether no event of it can be missing. */
  boolean isWhole() {
    return whole;
  }

  Optional<Digest> receipt() {
    return receipt;
  }

  /** The documents of that kind of event, in order. */
  List<Envelope> of(String kind) {
    return found.stream()
        .filter(placed -> placed.event().kind().equals(kind))
        .flatMap(placed -> placed.document().stream())
        .toList();
  }

  /** The latest decision and those that it took the place of. */
  private Set<Digest> decisions() {
    Set<Digest> all = new HashSet<>();
    Optional<Digest> next = Optional.of(row.decision());
    while (next.isPresent() && all.add(next.get())) {
      next = ledger.document(next.get()).flatMap(e -> Decision.read(e.document()).supersedes());
    }
    return all;
  }

  private boolean read(long from) {
    long to = Math.min(events.end(), from + EVENTS_MAX);
    Optional<Event> before = Optional.empty();
    for (long seq = from; seq < to; seq++) {
      Event event = events.at(seq);
      if (isOfReceipt(event)) { // its observations are the event before
        before.filter(e -> e.kind().equals(EventKind.EFFECT_FINISHED)).ifPresent(this::add);
      }
      if (isOurs(event, before)) {
        add(event);
        if (isLast(event)) {
          return true;
        }
      }
      before = Optional.of(event);
    }
    return to == events.end();
  }

  private boolean isOfReceipt(Event event) {
    return event.kind().equals(EventKind.RECEIPT_SIGNED)
        && receipt.filter(event.body()::equals).isPresent();
  }

  private boolean isOurs(Event event, Optional<Event> before) {
    return switch (event.kind()) {
      case EventKind.REQUEST_RECEIVED -> event.body().equals(request);
      case EventKind.DECISION_MADE -> decisions.contains(event.body());
      case EventKind.APPROVAL_RECEIVED -> approvals.contains(event.body());
      case EventKind.INTENT_ISSUED -> // written together with its decision
          before.filter(e -> decisions.contains(e.body())).isPresent() && intents.add(event.body());
      case EventKind.EFFECT_DISPATCHED -> intents.contains(event.body());
      case EventKind.EFFECT_REFUSED ->
          document(event)
              .filter(e -> Refusal.read(e.document()).request().equals(request))
              .isPresent();
      case EventKind.RECEIPT_SIGNED -> isOfReceipt(event);
      case EventKind.DOUBT_RESOLVED ->
          document(event)
              .map(e -> Resolution.read(e.document()).receipt())
              .filter(r -> receipt.filter(r::equals).isPresent())
              .isPresent();
      default -> false;
    };
  }

  /** Behind a final denial, and behind a receipt that is not in doubt, nothing more comes. */
  private boolean isLast(Event event) {
    return switch (event.kind()) {
      case EventKind.DECISION_MADE ->
          row.state() == RequestRow.State.DENIED && event.body().equals(row.decision());
      case EventKind.RECEIPT_SIGNED -> ledger.get(Tables.DOUBT, Tables.key(event.body())).isEmpty();
      case EventKind.DOUBT_RESOLVED -> true;
      default -> false;
    };
  }

  private void add(Event event) {
    found.add(new Placed(events.index(event.seq()), event, document(event)));
  }

  private Optional<Envelope> document(Event event) {
    return event.kind().equals(EventKind.EFFECT_FINISHED)
        ? Optional.empty()
        : ledger.document(event.body());
  }

  /** The receipt that comes next in the run. */
  Optional<Digest> nextReceipt() {
    return found.stream()
        .filter(placed -> isOfReceipt(placed.event()))
        .findFirst()
        .flatMap(placed ->
            events.find(
                placed.event().seq() + 1,
                Math.min(events.end(), placed.event().seq() + EVENTS_MAX),
                event -> event.kind().equals(EventKind.RECEIPT_SIGNED)))
        .map(Event::body);
  }
}
