package dev.writ.surfaces.tools;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.stage.Served;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.Verdict;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.surfaces.text.ContentSource;
import dev.writ.surfaces.text.ToolText;
import java.util.Optional;

/**
 * Reads events of the journal as entries of the seed's stream: each execution and each denial of a
 * request that came through this surface.
 */
public final class ExecJournal {
  private final LedgerView ledger;
  private final ContentSource contents;

  /**
   * @param contents of outputs; an entry has what can be read of them
   */
  public ExecJournal(LedgerView ledger, ContentSource contents) {
    this.ledger = ledger;
    this.contents = contents.asFarAsReadable();
  }

  /**
   * One entry.
   *
   * @param scope decides who may read it
   * @param fields all of them texts
   */
  public record Entry(Scope scope, JsonValue.Obj fields) {}

  /** Whether events of that kind may be entries. */
  static boolean isTold(String kind) {
    return switch (kind) {
      case EventKind.RECEIPT_SIGNED, EventKind.DECISION_MADE, EventKind.EFFECT_REFUSED -> true;
      default -> false;
    };
  }

  /** The entry of an event; absent for one that the stream does not have. */
  public Optional<Entry> read(Event event) {
    return switch (event.kind()) {
      case EventKind.RECEIPT_SIGNED -> executed(event);
      case EventKind.DECISION_MADE -> denied(Decision.read(document(event.body())));
      case EventKind.EFFECT_REFUSED -> denied(Refusal.read(document(event.body())));
      default -> Optional.empty();
    };
  }

  private Optional<Entry> executed(Event event) {
    var envelope = ledger.document(event.body()).orElseThrow();
    Receipt receipt = Receipt.read(envelope.document());
    Optional<Request> request = ours(receipt.request());
    if (request.isEmpty()) {
      return Optional.empty();
    }
    Served served =
        new Served(envelope, receipt, Optional.empty(), Optional.empty(), Optional.empty(), true);
    ExecEvent told =
        new ExecEvent(receipt.request(), request.get(), receipt, ToolText.of(served, contents));
    return Optional.of(new Entry(receipt.scope(), told.event()));
  }

  /** Whoever asked was not served, whether or not somebody may still approve. */
  private Optional<Entry> denied(Decision decision) {
    return decision.verdict() == Verdict.ALLOW
        ? Optional.empty()
        : ours(decision.request())
            .map(request ->
                new DenialEvent(
                    decision.request(), request, decision.code().orElse(""), decision.decidedAt()))
            .map(told -> new Entry(decision.scope(), told.event()));
  }

  private Optional<Entry> denied(Refusal refusal) {
    return ours(refusal.request())
        .map(request ->
            new DenialEvent(refusal.request(), request, refusal.code(), refusal.refusedAt()))
        .map(told -> new Entry(refusal.scope(), told.event()));
  }

  private Optional<Request> ours(Digest id) {
    return Optional.of(Request.read(document(id))).filter(ExecEvent::isOurs);
  }

  private JsonValue document(Digest id) {
    return ledger.document(id).orElseThrow().document();
  }
}
