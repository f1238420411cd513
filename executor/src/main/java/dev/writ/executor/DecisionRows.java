package dev.writ.executor;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.RunTurn;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.Optional;

/** The events and rows of a decision, and of the intent that it allows. */
final class DecisionRows {
  private DecisionRows() {}

  /**
   * Writes them, and keeps the index of what waits for approval.
   *
   * @param before the row of the request's earlier judgement
   */
  static void write(
      RunTurn turn,
      Answer answer,
      Optional<Intent> intent,
      Optional<RequestRow> before,
      Instant receivedAt) {
    Decision decision = answer.decision();
    turn.event(EventKind.DECISION_MADE, answer.decisionEnvelope().id(), decision.decidedAt());
    turn.batch().document(answer.decisionEnvelope());
    answer
        .intent()
        .ifPresent(envelope -> {
          Intent issued = intent.orElseThrow();
          turn.event(
              EventKind.INTENT_ISSUED,
              envelope.id(),
              issued.issuedAt(),
              Optional.of(issued.prngSeed()));
          turn.batch().document(envelope);
        });
    RequestRow.State state =
        switch (decision.verdict()) {
          case ALLOW -> RequestRow.State.ALLOWED;
          case DENY -> RequestRow.State.DENIED;
          case ESCALATE -> RequestRow.State.PENDING;
        };
    String request = Tables.key(answer.request());
    turn.batch()
        .put(
            Tables.REQUEST,
            request,
            new RequestRow(
                    new RunId(decision.scope().tenant(), decision.scope().run()),
                    state,
                    answer.decisionEnvelope().id(),
                    answer.intent().map(Envelope::id),
                    receivedAt)
                .toBytes());
    boolean was = before.filter(r -> r.state() == RequestRow.State.PENDING).isPresent();
    boolean is = state == RequestRow.State.PENDING;
    String pending =
        Tables.key(decision.scope().tenant(), decision.scope().run(), answer.request().hex());
    if (is && !was) {
      turn.unfinished(1, 0, 0);
      turn.batch().put(Tables.PENDING, pending, new byte[0]);
    } else if (was && !is) {
      turn.unfinished(-1, 0, 0);
      turn.batch().delete(Tables.PENDING, pending);
    }
  }
}
