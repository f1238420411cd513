package dev.writ.executor;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.apart.CarriedEvents;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.RunTurn;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.WorkspaceUse;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.ledger.LedgerState;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Writes what the guardian's log has of a run, and the executor did not make, into the executor's
 * run: so its own log shows each effect with the request, the decision and the intent behind it,
 * and can be verified without the guardian's. The events keep their times and their order; their
 * places in the run are the executor's.
 */
final class GuardianRunCopy {
  private static final List<String> KINDS =
      List.of(
          EventKind.RUN_OPENED,
          EventKind.REQUEST_RECEIVED,
          EventKind.APPROVAL_RECEIVED,
          EventKind.DECISION_MADE,
          EventKind.INTENT_ISSUED,
          EventKind.EFFECT_REFUSED,
          EventKind.DOUBT_RESOLVED);

  private final LedgerState ledger;
  private final Trust trust;
  private final CarriedEvents carried;
  private final TreeMap<Digest, Envelope> documents;

  GuardianRunCopy(LedgerState ledger, Trust trust, CarriedEvents carried) {
    this.ledger = ledger;
    this.trust = trust;
    this.carried = carried;
    this.documents = carried.byId();
  }

  /** How many of the guardian's events of a run were looked at. */
  static long count(LedgerState ledger, RunId id) {
    return ledger
        .get(Tables.CARRIED, Tables.key(id.tenant(), id.run()))
        .map(row -> Long.parseLong(new String(row, StandardCharsets.US_ASCII)))
        .orElse(0L);
  }

  /**
   * Appends the events that are not there yet.
   *
   * @throws WritException {@code EXE-932} where some are missing, {@code EXE-004} for one that is
   *     not carried over, {@code CAN-05x} and {@code CAN-06x} for a document that nobody signed who
   *     may
   */
  void writeTo(RunTurn turn, RunId id) {
    long count = count(ledger, id);
    if (carried.from() > count) {
      throw new WritException(
          ExecutorError.FORKED,
          id + ": events from " + carried.from() + " on, carried over are " + count);
    }
    for (Event event : carried.events()) {
      if (!event.runId().equals(id) || !KINDS.contains(event.kind())) {
        throw new WritException(
            ExecutorError.MALFORMED,
            event.kind() + " of " + event.runId() + " is not carried over");
      }
      if (event.seq() >= count) {
        write(turn, event);
      }
    }
    turn.batch()
        .put(
            Tables.CARRIED,
            Tables.key(id.tenant(), id.run()),
            Long.toString(Math.max(count, carried.next())).getBytes(StandardCharsets.US_ASCII));
  }

  private void write(RunTurn turn, Event event) {
    if (event.kind().equals(EventKind.RUN_OPENED)) {
      turn.open(opener(), event.prngSeed().orElseThrow(), event.body(), event.at());
      return;
    }
    Envelope body = verified(event.body());
    turn.event(event.kind(), event.body(), event.at(), event.prngSeed());
    turn.batch().document(body);
    switch (event.kind()) {
      case EventKind.DECISION_MADE -> decision(turn, event, body);
      case EventKind.INTENT_ISSUED -> {
        Intent intent = Intent.read(body.document());
        row(turn, event, RequestRow.State.ALLOWED, intent.decision(), Optional.of(body.id()));
      }
      case EventKind.EFFECT_REFUSED -> {
        Refusal refusal = Refusal.read(body.document());
        row(
            turn,
            event,
            RequestRow.State.LAPSED,
            refusal.decision(),
            Optional.of(refusal.intent()));
      }
      case EventKind.DOUBT_RESOLVED -> resolved(turn, body);
      default -> {}
    }
  }

  /**
   * By keys that may sign such a document. Whether they still might, the guardian's log says: what
   * is carried over was logged there, and nothing is begun by it.
   */
  private Envelope verified(Digest id) {
    Envelope document = documents.get(id);
    if (document == null) {
      throw new WritException(ExecutorError.MALFORMED, "the body " + id + " is missing");
    }
    List<VerifyingKey> keys = new ArrayList<>();
    for (Envelope.Signature signature : document.signatures()) {
      TrustedKey key =
          trust
              .key(signature.kid())
              .filter(known -> known.role().maySign(document.payloadType()))
              .orElseThrow(() ->
                  new WritException(
                      CanonicalizeError.KEY_ROLE,
                      "key " + signature.kid() + " of a " + document.payloadType()));
      keys.add(key.key());
    }
    document.verifySignatures(keys);
    return document;
  }

  /** The key of the run's first request, on which the first decision is. */
  private String opener() {
    return carried.events().stream()
        .filter(event -> event.kind().equals(EventKind.DECISION_MADE))
        .findFirst()
        .map(event -> Decision.read(verified(event.body()).document()).holder())
        .orElseThrow(() -> new WritException(ExecutorError.MALFORMED, "a run without a decision"));
  }

  private void decision(RunTurn turn, Event event, Envelope body) {
    Decision decision = Decision.read(body.document());
    RequestRow.State state =
        switch (decision.verdict()) {
          case ALLOW -> RequestRow.State.ALLOWED;
          case DENY -> RequestRow.State.DENIED;
          case ESCALATE -> RequestRow.State.PENDING;
        };
    JudgeInputs.read(decision.inputs()).artifacts().stream()
        .filter(seen -> documents.containsKey(seen.id()))
        .forEach(seen -> turn.batch().document(verified(seen.id())));
    row(turn, event, state, body.id(), Optional.empty());
  }

  private void row(
      RunTurn turn,
      Event event,
      RequestRow.State state,
      Digest decisionId,
      Optional<Digest> intent) {
    Envelope envelope =
        Optional.ofNullable(documents.get(decisionId))
            .or(() -> ledger.document(decisionId))
            .orElseThrow(
                () -> new WritException(ExecutorError.MALFORMED, decisionId + " is missing"));
    Decision decision = Decision.read(envelope.document());
    turn.batch()
        .put(
            Tables.REQUEST,
            Tables.key(decision.request()),
            new RequestRow(
                    event.runId(),
                    state,
                    decisionId,
                    intent,
                    JudgeInputs.read(decision.inputs()).receivedAt())
                .toBytes());
  }

  private void resolved(RunTurn turn, Envelope body) {
    Digest receipt = Resolution.read(body.document()).receipt();
    String key = Tables.key(receipt);
    if (ledger.get(Tables.DOUBT, key).filter(row -> row.length == 0).isPresent()) {
      turn.unfinished(0, 0, -1);
      turn.batch().put(Tables.DOUBT, key, body.id().bytes());
      Receipt doubtful = Receipt.read(ledger.document(receipt).orElseThrow().document());
      WorkspaceUse.settled(turn, doubtful.scope(), doubtful.request());
    }
  }
}
