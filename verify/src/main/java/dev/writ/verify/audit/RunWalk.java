package dev.writ.verify.audit;

import static dev.writ.verify.error.AuditError.BINDING;
import static dev.writ.verify.error.AuditError.DOCUMENT;
import static dev.writ.verify.error.AuditError.ORDER;
import static dev.writ.verify.error.AuditError.TWICE;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.AllowedBy;
import dev.writ.guardian.Guardian;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.governance.CanaryDraw;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.audit.Documents.Read;
import dev.writ.verify.audit.OpenRun.Asked;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Walks the runs of agents in the order of the log, and asks of each event whether what came before
 * allows it, whether its document is signed by who may, and whether it binds to the documents that
 * it names. A run is forgotten when it is closed, a request when nothing may follow on it.
 */
final class RunWalk {
  private static final Duration SKEW = Duration.ofSeconds(2);

  /** Kinds whose events have a seed; so has the opening. */
  private static final List<String> SEEDED =
      List.of(EventKind.INTENT_ISSUED, EventKind.EFFECT_DISPATCHED);

  private final Documents documents;
  private final Findings findings;
  private final SystemStateHistory standing;
  private final Rejudging rejudging;
  private final RunRows rows;
  private final ReceiptCheck receipts;
  private final TreeMap<RunId, OpenRun> runs = new TreeMap<>();
  final Steps steps = new Steps();

  RunWalk(Documents documents, SystemStateHistory standing, Rejudging rejudging, RunRows rows) {
    this.documents = documents;
    this.findings = documents.findings();
    this.standing = standing;
    this.rejudging = rejudging;
    this.rows = rows;
    this.receipts =
        new ReceiptCheck(documents, standing, new WorkspaceCheck(findings, rejudging), rows);
  }

  void event(long index, Event event) {
    if (event.kind().equals(EventKind.RUN_OPENED) && event.seq() == 0) {
      findings.seed(BINDING, event, true);
      runs.put(event.runId(), new OpenRun(event, rows.marks()));
      return;
    }
    OpenRun run = runs.get(event.runId());
    if (run == null) {
      order(event, "in no open run");
      return;
    }
    findings.seed(BINDING, event, SEEDED.contains(event.kind()));
    if (run.finished.isPresent() && !event.kind().equals(EventKind.RECEIPT_SIGNED)) {
      order(event, "no receipt of the effect that finished before");
    }
    switch (event.kind()) {
      case EventKind.REQUEST_RECEIVED -> request(run, event);
      case EventKind.APPROVAL_RECEIVED -> approval(run, event);
      case EventKind.DECISION_MADE -> decision(run, event);
      case EventKind.INTENT_ISSUED -> intent(run, event);
      case EventKind.EFFECT_REFUSED -> refusal(run, event);
      case EventKind.EFFECT_DISPATCHED -> dispatched(run, event);
      case EventKind.EFFECT_FINISHED -> finished(run, event);
      case EventKind.RECEIPT_SIGNED -> receipts.receipt(run, event);
      case EventKind.DOUBT_RESOLVED -> resolution(run, event);
      case EventKind.RUN_CLOSED -> {
        receipts.closed(run, event, index);
        runs.remove(run.id);
      }
      default -> order(event, "a kind that runs do not have");
    }
    run.head = event;
  }

  /** Whether a request was dispatched so far. */
  boolean wasDispatched(RunId of, Digest request) {
    return asked(of, request).filter(asked -> asked.dispatched.isPresent()).isPresent()
        || rows.has(Tables.SERVED, Tables.key(request));
  }

  /** Whether a request was neither dispatched nor denied so far, and its run is open. */
  boolean isWaiting(RunId of, Digest request) {
    return asked(of, request).filter(asked -> asked.dispatched.isEmpty()).isPresent();
  }

  private Optional<Asked> asked(RunId of, Digest request) {
    return Optional.ofNullable(runs.get(of)).map(run -> run.asked.get(request));
  }

  /** Whether a request's effect has no known end so far: it runs, or its receipt is in doubt. */
  boolean isUnfinished(RunId of, Digest request) {
    OpenRun run = runs.get(of);
    if (run == null) {
      return false;
    }
    return asked(of, request).filter(asked -> asked.dispatched.isPresent()).isPresent()
        || run.doubts.stream()
            .map(id -> documents.read(id, Receipt.TYPE, Receipt::read, "receipt " + id))
            .flatMap(Optional::stream)
            .anyMatch(receipt -> receipt.document().request().equals(request));
  }

  /** At the end of the log: passes open runs on, whose rows must say that they are open. */
  void end() {
    runs.values().forEach(rows::openRun);
  }

  private void order(Event event, String found) {
    findings.problem(ORDER, Findings.place(event), found, "an event that may follow");
  }

  private void scope(Event event, Scope scope) {
    findings.same(
        DOCUMENT,
        Findings.place(event),
        scope.tenant() + "/" + scope.run(),
        event.runId().toString());
  }

  private Optional<Asked> asked(OpenRun run, Event event, Digest request) {
    Optional<Asked> asked = Optional.ofNullable(run.asked.get(request));
    if (asked.isEmpty()) {
      order(event, "request " + request + " is not open");
    }
    return asked;
  }

  private void request(OpenRun run, Event event) {
    String place = Findings.place(event);
    findings.requests++;
    Optional<Read<Request>> read = documents.read(event.body(), Request.TYPE, Request::read, place);
    if (read.isEmpty()) {
      return;
    }
    scope(event, read.get().document().scope());
    List<TrustedKey> signers =
        standing.verify(read.get().envelope(), Request.TYPE, event.at(), place);
    String holder =
        signers.isEmpty()
            ? read.get().envelope().signatures().getFirst().kid()
            : signers.getFirst().kid();
    if (run.opener.isEmpty()) {
      run.opener = holder;
      run.owner = read.get().document().scope().subject();
      findings.same(
          BINDING, Findings.place(run.opening) + " /body", run.opening.body(), event.body());
    }
    findings.same(BINDING, place + " holder", holder, run.opener);
    if (run.received.add(event.body())) {
      run.asked.put(event.body(), new Asked(event.body(), event.at(), holder));
    } else {
      findings.problem(TWICE, place, "received again", "received once");
    }
  }

  private void approval(OpenRun run, Event event) {
    String place = Findings.place(event);
    Optional<Read<Approval>> read =
        documents.read(event.body(), Approval.TYPE, Approval::read, place);
    if (read.isEmpty()) {
      return;
    }
    List<TrustedKey> signers =
        standing.verify(read.get().envelope(), Approval.TYPE, event.at(), place);
    Approval approval = read.get().document();
    findings.same(DOCUMENT, place + " /tenant", approval.tenant(), run.id.tenant());
    Optional<Asked> asked = asked(run, event, approval.request());
    if (asked.isEmpty()) {
      return;
    }
    arrived(approval, signers, place);
    if (!asked.get().state.equals(Optional.of(RequestRow.State.PENDING))) {
      order(event, "request " + approval.request() + " does not wait");
    }
    if (!asked.get().approvals.add(event.body())) {
      findings.problem(TWICE, place, "received again", "received once");
    }
    rows.approval(approval.request(), event.body());
  }

  /** What does not hold of it when it arrives is refused to its sender, whatever the policy. */
  private void arrived(Approval approval, List<TrustedKey> signers, String place) {
    documents
        .read(approval.request(), Request.TYPE, Request::read, place)
        .ifPresent(request ->
            findings.same(
                BINDING,
                place + " /effect",
                approval.effect(),
                request.document().effect().digest()));
    for (TrustedKey signer : signers) {
      findings.same(BINDING, place + " /approver", approval.approver(), signer.subject());
      findings.same(
          BINDING, place + " signer's tenant", signer.tenant().orElse("none"), approval.tenant());
    }
  }

  private void decision(OpenRun run, Event event) {
    String place = Findings.place(event);
    findings.decisions++;
    Optional<Read<Decision>> read =
        documents.read(event.body(), Decision.TYPE, Decision::read, place);
    if (read.isEmpty()) {
      return;
    }
    Decision decision = read.get().document();
    scope(event, decision.scope());
    standing.verify(read.get().envelope(), Decision.TYPE, event.at(), place);
    findings.same(BINDING, place + " /decided_at", decision.decidedAt(), event.at());
    Optional<Asked> asked = asked(run, event, decision.request());
    if (asked.isEmpty()) {
      return;
    }
    if (asked.get().dispatched.isPresent()) {
      order(event, "request " + decision.request() + " was dispatched");
      return;
    }
    Optional<JudgeInputs> inputs = rejudging.judge(run, asked.get(), event, read.get());
    inputs
        .map(JudgeInputs::step)
        .ifPresent(step -> {
          if (!steps.add(step)) {
            findings.problem(TWICE, place + " /inputs/step", step, "a step of its own");
          }
        });
    Asked request = asked.get();
    request.decision = Optional.of(event.body());
    request.owner = inputs.flatMap(JudgeInputs::owner);
    request.intent = Optional.empty();
    request.state =
        Optional.of(
            switch (decision.verdict()) {
              case ALLOW -> RequestRow.State.ALLOWED;
              case DENY -> RequestRow.State.DENIED;
              case ESCALATE -> RequestRow.State.PENDING;
            });
    if (decision.verdict() == Verdict.DENY) {
      rows.request(run, request);
      run.asked.remove(request.id);
    }
  }

  private void intent(OpenRun run, Event event) {
    String place = Findings.place(event);
    Optional<Read<Intent>> read = documents.read(event.body(), Intent.TYPE, Intent::read, place);
    if (read.isEmpty()) {
      return;
    }
    Intent intent = read.get().document();
    scope(event, intent.scope());
    standing.verify(read.get().envelope(), Intent.TYPE, event.at(), place);
    Optional<Asked> asked = asked(run, event, intent.request());
    if (asked.isEmpty()) {
      return;
    }
    Asked request = asked.get();
    if (!request.state.equals(Optional.of(RequestRow.State.ALLOWED))
        || request.intent.isPresent()) {
      order(event, "an intent without an ALLOW of its own");
      return;
    }
    request.intent = Optional.of(event.body());
    bindIntent(run, event, request, intent);
  }

  private void bindIntent(OpenRun run, Event event, Asked request, Intent intent) {
    String place = Findings.place(event);
    Digest decisionId = request.decision.orElseThrow();
    findings.same(BINDING, place + " /decision", intent.decision(), decisionId);
    Decision judged = // it was read when it was made
        documents.read(decisionId, Decision.TYPE, Decision::read, place).orElseThrow().document();
    findings.same(BINDING, place + " /subject", intent.scope(), judged.scope());
    findings.same(BINDING, place + " /holder", intent.holder(), judged.holder());
    findings.same(BINDING, place + " /effect", intent.effect(), judged.effect());
    Optional<Long> epoch = intent.audience().epoch();
    findings.same(
        BINDING, place + " /audience", intent.audience(), standing.audience().under(epoch));
    if (epoch.filter(e -> e < run.epoch).isPresent()) {
      order(event, "an intent of epoch " + epoch.get() + " after one of " + run.epoch);
    }
    run.epoch = Math.max(run.epoch, epoch.orElse(0L));
    findings.same(BINDING, place + " /issued_at", intent.issuedAt(), event.at());
    if (intent.expiresAt().isAfter(intent.issuedAt().plus(Intent.LIFE_MAX))) {
      findings.problem(BINDING, place + " /expires_at", intent.expiresAt(), "five minutes at most");
    }
    Optional<Instant> until = documents.inputs(decisionId, judged).validUntil();
    if (until.filter(intent.expiresAt()::isAfter).isPresent()) {
      findings.problem(
          BINDING, place + " /expires_at", intent.expiresAt(), "not after " + until.get());
    }
    if (intent.issuedAt().isBefore(judged.decidedAt())) {
      findings.problem(
          BINDING, place + " /issued_at", intent.issuedAt(), "not before " + judged.decidedAt());
    }
    String seed = Guardian.effectSeed(HexFormat.of().parseHex(run.seed), decisionId);
    findings.same(BINDING, place + " /prng_seed", intent.prngSeed(), seed);
    findings.same(BINDING, place + " event's prng_seed", event.prngSeed().orElse("none"), seed);
    rejudging.tool(decisionId, judged, intent.tool(), place);
    findings.bindings++;
  }

  private void refusal(OpenRun run, Event event) {
    String place = Findings.place(event);
    Optional<Read<Refusal>> read = documents.read(event.body(), Refusal.TYPE, Refusal::read, place);
    if (read.isEmpty()) {
      return;
    }
    Refusal refusal = read.get().document();
    scope(event, refusal.scope());
    standing.verify(read.get().envelope(), Refusal.TYPE, event.at(), place);
    Optional<Asked> asked = asked(run, event, refusal.request());
    if (asked.isEmpty()) {
      return;
    }
    Asked request = asked.get();
    if (!request.state.equals(Optional.of(RequestRow.State.ALLOWED))
        || request.dispatched.isPresent()) {
      order(event, "a refusal of what was not to be dispatched");
      return;
    }
    documents
        .read(request.id, Request.TYPE, Request::read, place)
        .ifPresent(asks ->
            findings.same(BINDING, place + " /subject", refusal.scope(), asks.document().scope()));
    findings.same(
        BINDING, place + " /decision", refusal.decision(), request.decision.orElseThrow());
    findings.same(BINDING, place + " /intent", Optional.of(refusal.intent()), request.intent);
    findings.same(BINDING, place + " /refused_at", refusal.refusedAt(), event.at());
    request.state = Optional.of(RequestRow.State.LAPSED);
  }

  private void dispatched(OpenRun run, Event event) {
    String place = Findings.place(event);
    findings.dispatched++;
    Optional<Read<Intent>> read = documents.read(event.body(), Intent.TYPE, Intent::read, place);
    if (read.isEmpty()) {
      return;
    }
    Intent intent = read.get().document();
    // Its key was in force when it was issued, which may be minutes ago.
    standing.verify(read.get().envelope(), Intent.TYPE, event.at(), place);
    Asked request = run.asked.get(intent.request());
    if (request == null && rows.has(Tables.SERVED, Tables.key(intent.request()))
        || request != null && request.dispatched.isPresent()) {
      findings.problem(TWICE, place, "intent dispatched again", "dispatched once");
      return;
    }
    if (request == null
        || !request.state.equals(Optional.of(RequestRow.State.ALLOWED))
        || !request.intent.equals(Optional.of(event.body()))) {
      order(event, "intent " + event.body() + " is not the live one of its request");
      return;
    }
    request.dispatched = Optional.of(event);
    if (!event.at().isBefore(intent.expiresAt())
        || event.at().isBefore(intent.issuedAt().minus(SKEW))) {
      findings.problem(
          ORDER,
          place,
          "dispatched at " + event.at(),
          "from " + intent.issuedAt() + " until before " + intent.expiresAt());
    }
    findings.same(
        BINDING, place + " event's prng_seed", event.prngSeed().orElse("none"), intent.prngSeed());
    Optional<Long> epoch = intent.audience().epoch();
    if (!intent.audience().equals(standing.audience().under(epoch))) {
      findings.problem(ORDER, place, "an intent for " + intent.audience(), standing.audience());
    }
    if (epoch.filter(e -> e < run.epoch).isPresent()) {
      order(event, "an intent of epoch " + epoch.get() + " after one of " + run.epoch);
    }
    tool(event, intent.tool(), CanaryDraw.of(intent.scope(), request.owner));
    documents
        .read(request.id, Request.TYPE, Request::read, place)
        .ifPresent(asks -> {
          consumed(event, asks.document());
          standing(event, request, asks.document());
          rows.dispatched(request.id, asks.document(), place);
        });
    request.restarts = standing.restarts().size();
  }

  /** Kernels up to November 2026 did not ask whether who allowed an effect had a key in force. */
  private void standing(Event event, Asked asked, Request request) {
    String place = Findings.place(event);
    Decision decision = // it was read when it was made
        documents
            .read(asked.decision.orElseThrow(), Decision.TYPE, Decision::read, place)
            .orElseThrow()
            .document();
    DocumentSource words = documents.source();
    if (AllowedBy.revoked(decision, request, standing.trust(), words).isEmpty()) {
      return;
    }
    // The other trust is not put together before it is needed.
    if (AllowedBy.revoked(decision, request, standing.inFlight(event.at()), words).isPresent()) {
      findings.allowedFormerly++;
    } else {
      findings.late(place, "the key of somebody who allowed it was revoked");
    }
  }

  /** Who asks names the receipts, so each must be one that was written before. */
  private void consumed(Event event, Request request) {
    String place = Findings.place(event);
    for (Digest id : request.consumes()) {
      documents
          .read(id, Receipt.TYPE, Receipt::read, place)
          .filter(receipt -> !rows.isWritten(event.runId(), id, receipt.document()))
          .ifPresent(
              _ -> order(event, "consumes receipt " + id + ", which was not written before"));
    }
  }

  /** Requires that the tool ran for that call when it was dispatched, or a moment before. */
  private void tool(Event event, ToolRef tool, CanaryDraw draw) {
    Optional<Instant> prohibited = standing.prohibited(tool);
    if (prohibited
        .filter(since -> SystemStateHistory.isLongBefore(since, event.at()))
        .isPresent()) {
      order(event, "tool " + tool.name() + " prohibited at " + prohibited.get());
    } else if (!standing.ranLately(tool, draw, event.at())) {
      order(event, "tool " + tool + " did not run for " + draw.subject());
    } else if (prohibited.isPresent() || !standing.runs(tool, draw)) {
      findings.late(Findings.place(event), "its tool did not run any more");
    }
  }

  private void finished(OpenRun run, Event event) {
    if (run.running() == 0) {
      order(event, "nothing runs");
    }
    run.finished = Optional.of(event);
  }

  private void resolution(OpenRun run, Event event) {
    String place = Findings.place(event);
    Optional<Read<Resolution>> read =
        documents.read(event.body(), Resolution.TYPE, Resolution::read, place);
    if (read.isEmpty()) {
      return;
    }
    Resolution resolution = read.get().document();
    List<TrustedKey> signers =
        standing.verify(read.get().envelope(), Resolution.TYPE, event.at(), place);
    findings.same(DOCUMENT, place + " /tenant", resolution.tenant(), run.id.tenant());
    for (TrustedKey signer : signers) {
      findings.same(
          DOCUMENT,
          place + " signer's tenant",
          signer.tenant().orElse(run.id.tenant()),
          run.id.tenant());
    }
    if (!run.doubts.remove(resolution.receipt())) {
      order(event, "receipt " + resolution.receipt() + " is not in doubt");
      return;
    }
    run.workspace.resolved(resolution.receipt(), event.seq());
    rows.doubt(resolution.receipt(), event.body().bytes());
  }
}
