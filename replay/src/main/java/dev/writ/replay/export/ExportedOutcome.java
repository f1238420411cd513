package dev.writ.replay.export;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Verdict;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.event.Event;
import dev.writ.verify.bundle.RecordedRun;
import dev.writ.verify.error.BundleError;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * What became of a request, by one event of a run: an effect that has its receipt, an intent that
 * was refused, or a decision that did not allow.
 *
 * @param index the event's place in the log
 * @param envelope the signed document that the event names: a receipt, refusal or decision
 * @param decision the decision itself, or the one under which the effect was executed or refused
 */
public record ExportedOutcome(
    Kind kind,
    long index,
    Event event,
    Envelope envelope,
    Request request,
    Decision decision,
    Optional<Receipt> receipt,
    Optional<Refusal> refusal) {

  /** Which of the signed documents says it. */
  public enum Kind {
    /** A receipt: the effect was dispatched, whatever its status. */
    EXECUTED("executed"),
    /** A refusal: it was allowed and not dispatched. */
    REFUSED("refused"),
    /** A decision with the verdict DENY. */
    DENIED("denied"),
    /** A decision with the verdict ESCALATE: people are asked. */
    ESCALATED("escalated");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    public String text() {
      return text;
    }
  }

  /** Whether an event of a run may be an outcome. */
  public static boolean isOutcome(Event event) {
    return switch (event.kind()) {
      case EventKind.RECEIPT_SIGNED, EventKind.EFFECT_REFUSED, EventKind.DECISION_MADE -> true;
      default -> false;
    };
  }

  /**
   * Goes through the outcomes of a verified recording in the order of the log. Nothing is kept in
   * memory.
   */
  public static void each(RecordedRun recording, Consumer<ExportedOutcome> taker) {
    recording.events((journal, index, event) -> {
      if (journal == RecordedRun.Journal.RUN && isOutcome(event)) {
        of(recording, index, event).ifPresent(taker);
      }
    });
  }

  /**
   * The outcome that an event is; empty for an event that is none.
   *
   * @param documents the signed documents of the log, by their ids
   * @param index the event's place in the log
   * @throws WritException {@code RPL-023} where a document is not there
   */
  public static Optional<ExportedOutcome> of(DocumentSource documents, long index, Event event) {
    if (!isOutcome(event)) {
      return Optional.empty();
    }
    Envelope envelope = envelope(documents, event.body());
    return switch (event.kind()) {
      case EventKind.RECEIPT_SIGNED -> {
        Receipt receipt = Receipt.read(envelope.document());
        Decision decision = read(documents, receipt.decision(), Decision::read);
        yield Optional.of(
            new ExportedOutcome(
                Kind.EXECUTED,
                index,
                event,
                envelope,
                read(documents, receipt.request(), Request::read),
                decision,
                Optional.of(receipt),
                Optional.empty()));
      }
      case EventKind.EFFECT_REFUSED -> {
        Refusal refusal = Refusal.read(envelope.document());
        Decision decision = read(documents, refusal.decision(), Decision::read);
        yield Optional.of(
            new ExportedOutcome(
                Kind.REFUSED,
                index,
                event,
                envelope,
                read(documents, refusal.request(), Request::read),
                decision,
                Optional.empty(),
                Optional.of(refusal)));
      }
      default -> {
        Decision decision = Decision.read(envelope.document());
        yield decision.verdict() == Verdict.ALLOW
            ? Optional.empty()
            : Optional.of(
                new ExportedOutcome(
                    decision.verdict() == Verdict.DENY ? Kind.DENIED : Kind.ESCALATED,
                    index,
                    event,
                    envelope,
                    read(documents, decision.request(), Request::read),
                    decision,
                    Optional.empty(),
                    Optional.empty()));
      }
    };
  }

  private static <T> T read(DocumentSource documents, Digest id, Function<JsonValue, T> reader) {
    return reader.apply(envelope(documents, id).document());
  }

  private static Envelope envelope(DocumentSource documents, Digest id) {
    return documents
        .document(id)
        .orElseThrow(
            () -> new WritException(BundleError.ENTRY_MISSING, "documents/" + id.hex() + ".json"));
  }

  /** The id of the signed document. */
  public Digest id() {
    return event.body();
  }

  /** {@code succeeded} and the other words of receipts; for the other kinds the kind's word. */
  public String status() {
    return receipt.map(r -> r.status().text()).orElse(kind.text());
  }

  /** The stable code of a refusal or a failure that is not the tool's own. */
  public Optional<String> code() {
    return switch (kind) {
      case EXECUTED -> receipt.orElseThrow().code();
      case REFUSED -> Optional.of(refusal.orElseThrow().code());
      case DENIED, ESCALATED -> decision.code();
    };
  }

  /**
   * The document in clear with what was signed, from which its envelope can be put together again:
   * the payload is the canonical form of {@code document}.
   */
  public JsonValue.Obj signed() {
    JsonValue.Obj whole = envelope.toJson();
    return JsonValue.object()
        .put("document", envelope.document())
        .put("payload_type", envelope.payloadType())
        .put("signatures", whole.get("signatures"))
        .build();
  }
}
