package dev.writ.cli.propose;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Verdict;
import dev.writ.ledger.Event;
import dev.writ.ledger.LedgerView;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** What agents were allowed to do, by a ledger. */
public final class SeenCalls {
  /**
   * One request that was let through.
   *
   * @param waits whether policy would have had it approved first
   */
  public record Call(Request request, Instant at, boolean waits) {
    String subject() {
      return request.scope().subject();
    }

    String tenant() {
      return request.scope().tenant();
    }

    String operation() {
      return request.effect().tool() + "/" + request.effect().operation();
    }
  }

  private SeenCalls() {}

  /**
   * In the order of the log.
   *
   * @param since earlier decisions are left out
   */
  public static List<Call> in(LedgerView ledger, Instant since) {
    List<Call> calls = new ArrayList<>();
    ledger.eventsByIndex(
        0,
        ledger.treeSize(),
        (_, event) -> {
          if (event.kind().equals(EventKind.DECISION_MADE) && !event.at().isBefore(since)) {
            add(ledger, event, calls);
          }
        });
    return calls;
  }

  private static void add(LedgerView ledger, Event event, List<Call> calls) {
    Decision decision =
        Decision.read(ledger.document(event.body()).map(Envelope::document).orElseThrow());
    if (decision.verdict() != Verdict.ALLOW || decision.supersedes().isPresent()) {
      return;
    }
    ledger
        .document(decision.request())
        .map(envelope -> Request.read(envelope.document()))
        .ifPresent(request ->
            calls.add(
                new Call(
                    request,
                    decision.decidedAt(),
                    decision.observed().filter(o -> o.verdict() == Verdict.ESCALATE).isPresent())));
  }
}
