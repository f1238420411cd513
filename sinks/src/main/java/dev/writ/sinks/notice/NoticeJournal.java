package dev.writ.sinks.notice;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.rule.Requirement;
import dev.writ.guardian.policy.rule.Rule;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.sinks.feed.RecordReader;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Reads decisions of the journal as notices: a request begins to wait for approvals, or no longer
 * waits since it was decided. Nothing of what the tool is given is told.
 */
final class NoticeJournal implements RecordReader {
  private final LedgerView ledger;

  NoticeJournal(LedgerView ledger) {
    this.ledger = ledger;
  }

  @Override
  public Optional<Found> read(Event event) {
    if (!event.kind().equals(EventKind.DECISION_MADE)) {
      return Optional.empty();
    }
    Decision decision = decision(event.body());
    boolean waits = decision.verdict() == Verdict.ESCALATE;
    boolean waited =
        decision.supersedes().map(this::decision).map(Decision::verdict).stream()
            .anyMatch(Verdict.ESCALATE::equals);
    return waits == waited
        ? Optional.empty()
        : Optional.of(new Found(decision.scope(), fields(event, decision)));
  }

  private JsonValue.Obj fields(Event event, Decision decision) {
    Request request = Request.read(ledger.document(decision.request()).orElseThrow().document());
    return JsonValue.object()
        .put("kind", NoticeKind.of(decision.verdict()).word())
        .put("time", event.at())
        .put("tenantId", decision.scope().tenant())
        .put("run", decision.scope().run())
        .put("subject", decision.scope().subject())
        .put("toolId", request.effect().tool())
        .put("toolVersion", request.effect().version())
        .put("operation", request.effect().operation())
        .putList("roles", List.copyOf(approverRoles(decision, request)), JsonValue::of)
        .put(
            "ids",
            JsonValue.object()
                .put("request", decision.request())
                .put("decision", event.body())
                .build())
        .build();
  }

  /** Roles whose approvals the requirement of the policy that judged asks for. */
  private SortedSet<String> approverRoles(Decision decision, Request request) {
    Policy policy = Policy.ofCanonical(ledger.document(decision.policy()).orElseThrow().document());
    String tenant = decision.scope().tenant();
    String subject = decision.scope().subject();
    String tool = request.effect().tool();
    TreeSet<String> roles = new TreeSet<>();
    policy.rules().stream()
        .filter(rule -> rule.effect().applies(tool, request.effect().operation()))
        .filter(
            rule -> rule.match().applies(tenant, subject, policy.rolesOf(tenant, subject), tool))
        .findFirst()
        .map(Rule::require)
        .ifPresent(require -> collect(require, roles));
    return roles;
  }

  private static void collect(Requirement node, SortedSet<String> roles) {
    switch (node) {
      case Requirement.All all -> all.children().forEach(child -> collect(child, roles));
      case Requirement.Any any -> any.children().forEach(child -> collect(child, roles));
      case Requirement.Approvals approvals -> roles.add(approvals.role());
      case Requirement.None _,
          Requirement.Cel _,
          Requirement.Artifact _,
          Requirement.Mandate _ -> {} // asks nobody
    }
  }

  private Decision decision(Digest id) {
    return Decision.read(ledger.document(id).orElseThrow().document());
  }
}
