package dev.writ.replay.proposal;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.document.Verdict;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * A call that was allowed: an intent was issued for it.
 *
 * @param at when it was allowed
 * @param inputs what it was judged by
 * @param tool the package that was allowed
 * @param said what policy said, also where it only observed
 */
public record SeenCall(
    Instant at, Digest id, Request request, JudgeInputs inputs, ToolRef tool, Verdict said) {

  /** Everything that was allowed in these runs, in the order of time and of each run. */
  public static List<SeenCall> read(LedgerView ledger, Predicate<RunId> runs) {
    List<SeenCall> seen = new ArrayList<>();
    TreeSet<Digest> known = new TreeSet<>();
    ledger.runs(run -> {
      if (runs.test(run)) {
        ledger.events(
            run,
            0,
            event -> {
              if (event.kind().equals(EventKind.INTENT_ISSUED)) {
                SeenCall call = read(ledger, event);
                if (known.add(call.id)) {
                  seen.add(call);
                }
              }
            });
      }
    });
    seen.sort(Comparator.comparing(SeenCall::at)); // stable: those of one moment as in their run
    return List.copyOf(seen);
  }

  private static SeenCall read(LedgerView ledger, Event event) {
    Intent intent = Intent.read(ledger.document(event.body()).orElseThrow().document());
    Decision decision = Decision.read(ledger.document(intent.decision()).orElseThrow().document());
    Request request = Request.read(ledger.document(intent.request()).orElseThrow().document());
    return new SeenCall(
        event.at(),
        intent.request(),
        request,
        JudgeInputs.read(decision.inputs()),
        intent.tool(),
        decision.observed().map(Decision.Observed::verdict).orElse(Verdict.ALLOW));
  }

  /** Tool and operation, as a role names them. */
  String operation() {
    return tool.name() + "/" + request.effect().operation();
  }
}
