package dev.writ.console.policy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.view.Sight;
import dev.writ.guardian.PolicyTest;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.RunId;
import dev.writ.replay.proposal.PolicyProposal;
import dev.writ.replay.proposal.Proposal;
import dev.writ.replay.proposal.SeenCall;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;

/** Like {@code writ policy propose}, from the calls of which the caller sees the contents. */
final class PolicyProposals {
  private final LedgerView ledger;
  private final Function<ToolRef, Optional<ToolManifest>> manifests;

  PolicyProposals(LedgerView ledger, Function<ToolRef, Optional<ToolManifest>> manifests) {
    this.ledger = ledger;
    this.manifests = manifests;
  }

  /**
   * @param named runs; all where it is empty
   * @param read is told before of which effects the contents are used
   * @throws WritException {@code GWY-117}, {@code GWY-118}
   */
  JsonValue.Obj of(
      Policy inForce,
      String tenant,
      List<String> named,
      Optional<Instant> since,
      Sight sight,
      Consumer<List<Scope>> read) {
    List<RunId> runs = new ArrayList<>();
    ledger.runs(run -> {
      if (run.tenant().equals(tenant) && (named.isEmpty() || named.contains(run.run()))) {
        runs.add(run);
      }
    });
    LedgerDecisions.requireFew(ledger, runs);
    List<SeenCall> seen =
        SeenCall.read(ledger, new TreeSet<>(runs)::contains).stream()
            .filter(call -> since.filter(call.at()::isBefore).isEmpty())
            .filter(call -> sight.contents(call.request().scope()))
            .toList();
    if (seen.isEmpty()) {
      throw new WritException(PolicyDeskError.NOTHING_SEEN, "0 calls");
    }
    read.accept(seen.stream().map(call -> call.request().scope()).toList());
    Proposal proposal = PolicyProposal.of(inForce, seen, manifests);
    List<PolicyTest.CaseResult> results =
        proposal.cases().isEmpty()
            ? List.of()
            : PolicyTest.run(
                proposal.policy(),
                proposal.cases().getBytes(StandardCharsets.UTF_8),
                "cases",
                manifests);
    return JsonValue.object()
        .put("calls", proposal.calls())
        .put("operations", proposal.operations())
        .put("text", proposal.text())
        .put("cases", proposal.cases())
        .putList(
            "failed",
            results.stream().filter(r -> !r.passed()).map(PolicyTest.CaseResult::name).toList(),
            JsonValue::of)
        .build();
  }
}
