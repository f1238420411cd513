package dev.writ.verify.audit;

import static dev.writ.verify.error.AuditError.BINDING;
import static dev.writ.verify.error.AuditError.DOCUMENT;
import static dev.writ.verify.error.AuditError.JUDGEMENT;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Tools;
import dev.writ.guardian.Admission;
import dev.writ.guardian.Admitted;
import dev.writ.guardian.ApprovalVerification;
import dev.writ.guardian.Judge;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.JudgeInputs.Balance;
import dev.writ.guardian.JudgeInputs.Ran;
import dev.writ.guardian.JudgeInputs.SeenApproval;
import dev.writ.guardian.JudgeInputs.SeenArtifact;
import dev.writ.guardian.MandateUse;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Delegation;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.MandateDocument;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.mandate.Mandates;
import dev.writ.guardian.mandate.SeenMandate;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.governance.ApprovedTool;
import dev.writ.guardian.policy.governance.CanaryDraw;
import dev.writ.guardian.policy.mandate.MandateAccounts;
import dev.writ.ledger.event.Event;
import dev.writ.verify.audit.Differences.Difference;
import dev.writ.verify.audit.Documents.Read;
import dev.writ.verify.audit.OpenRun.Asked;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Judges decisions again. Inputs that follow from documents are gathered from these and not from
 * the decision. Inputs of the moment (balances, counts, effects that had succeeded in the run) are
 * taken from the decision, and compared with the rest of the ledger elsewhere.
 */
final class Rejudging {
  private final Documents documents;
  private final Findings findings;
  private final SystemStateHistory standing;
  private final Tools tools;

  Rejudging(Documents documents, SystemStateHistory standing, Tools tools) {
    this.documents = documents;
    this.findings = documents.findings();
    this.standing = standing;
    this.tools = tools;
  }

  /** Returns the inputs that the decision recorded; none where they cannot be read. */
  Optional<JudgeInputs> judge(OpenRun run, Asked asked, Event event, Read<Decision> read) {
    String place = Findings.place(event);
    Decision decision = read.document();
    Optional<JudgeInputs> found = recorded(read.id(), decision, place);
    if (found.isEmpty()) {
      return Optional.empty();
    }
    JudgeInputs recorded = found.get();
    Read<Request> request = request(decision, place);
    Effect effect = request.document().effect();
    Optional<Policy> policy =
        standing
            .policy(decision.policy(), decision.decidedAt(), place)
            .map(named ->
                standing.governing(
                    named, effect, recorded.governed(), decision.decidedAt(), place));
    if (policy.isEmpty()) {
      findings.notJudged++;
      return Optional.of(recorded);
    }
    findings.same(BINDING, place + " /effect", decision.effect(), effect.digest());
    succeeded(run, recorded, place);
    receipt(asked, recorded, place);
    Optional<Admitted> admitted =
        admit(request.envelope(), policy.get(), asked, decision.decidedAt(), place);
    if (admitted.isPresent()) {
      JudgeInputs inputs =
          inputs(run, admitted.get(), asked, policy.get(), recorded, decision.decidedAt());
      compare(admitted.get(), policy.get(), inputs, asked, read, place);
    }
    return Optional.of(recorded);
  }

  /** It was read when it was received. */
  private Read<Request> request(Decision decision, String place) {
    return documents.read(decision.request(), Request.TYPE, Request::read, place).orElseThrow();
  }

  private Optional<JudgeInputs> recorded(Digest id, Decision decision, String place) {
    try {
      return Optional.of(documents.inputs(id, decision));
    } catch (WritException e) {
      findings.problem(DOCUMENT, place + " /inputs", e, "the inputs of a judgement");
      return Optional.empty();
    }
  }

  /**
   * An effect that is recorded as succeeded must have succeeded before; one recorded as not
   * succeeded may have succeeded since.
   */
  private void succeeded(OpenRun run, JudgeInputs recorded, String place) {
    for (Ran ran : recorded.history()) {
      if (ran.succeeded() && !run.done.contains(Tables.key(ran.tool(), ran.operation()))) {
        findings.problem(
            JUDGEMENT,
            place + " /inputs/history",
            ran.tool() + " " + ran.operation() + " succeeded",
            "no such receipt before");
      }
    }
  }

  /**
   * Takes another time of receipt than the event's where two calls with one request can have led to
   * it: kernels before this rule judged the second by its own (spec/audit.md, bound 11). Before the
   * first judgement nothing can have. Its age then is held where it is admitted.
   */
  private void receipt(Asked asked, JudgeInputs recorded, String place) {
    Instant other = recorded.receivedAt();
    Instant judgedAt = asked.judgedAt.orElse(Instant.MIN);
    asked.judgedAt = asked.judgedAt.or(() -> Optional.of(recorded.time()));
    if (!other.equals(asked.receivedAt)
        && !other.isAfter(recorded.time())
        && !other.isAfter(judgedAt.plus(SystemStateHistory.IN_FLIGHT))) {
      asked.receivedAt = other;
      findings.otherReceipt(place);
    }
  }

  /** The request as it was let in: at the reading of its receipt, or of this judgement. */
  private Optional<Admitted> admit(
      Envelope envelope, Policy policy, Asked asked, Instant decidedAt, String place) {
    WritException refused = null;
    for (Supplier<Trust> trust : trusts(decidedAt)) {
      for (Instant now : List.of(asked.receivedAt, decidedAt)) {
        try {
          return Optional.of(
              Admission.readmit(envelope, trust.get(), policy, asked.receivedAt, now));
        } catch (WritException e) {
          refused = refused == null ? e : refused;
        }
      }
    }
    findings.problem(JUDGEMENT, place, "judged", refused);
    return Optional.empty();
  }

  /** Nearly always the first holds; the other is not put together before it is needed. */
  private List<Supplier<Trust>> trusts(Instant at) {
    return List.of(standing::trust, () -> standing.inFlight(at));
  }

  private JudgeInputs inputs(
      OpenRun run,
      Admitted admitted,
      Asked asked,
      Policy policy,
      JudgeInputs recorded,
      Instant decidedAt) {
    Request request = admitted.request();
    run.ownerIsRecorded |= recorded.owner().isPresent();
    boolean hasOwner = request.origin().isPresent() && run.ownerIsRecorded;
    List<SeenApproval> approvals = approvals(admitted, asked, policy, recorded, decidedAt);
    List<SeenArtifact> artifacts = artifacts(request, recorded, decidedAt);
    List<SeenMandate> mandates = mandates(request, policy, artifacts, decidedAt);
    Optional<Instant> validUntil =
        Stream.of(
                request.delegations().stream()
                    .map(link -> Delegation.read(link.document()).expiresAt()),
                approvals.stream()
                    .filter(seen -> seen.verdict() == Approval.Verdict.APPROVE)
                    .map(SeenApproval::expiresAt),
                mandates.stream()
                    .filter(SeenMandate.Terms.class::isInstance)
                    .map(seen -> ((SeenMandate.Terms) seen).expiresAt()))
            .flatMap(ends -> ends)
            .min(Comparator.naturalOrder());
    return new JudgeInputs(
        recorded.time(),
        asked.receivedAt,
        recorded.step(),
        admitted.charged(),
        policy.rolesOf(request.scope().tenant(), request.scope().subject()),
        balances(policy, request, recorded, mandates),
        recorded.rates(),
        false, // a nonce that another request used is refused before it is judged
        approvals,
        recorded.ignored(),
        artifacts,
        recorded.history(),
        validUntil,
        recorded.profile(), // the raw request behind it is not kept
        policy.governed(request.effect().tool(), request.effect().version()),
        Optional.of(run.owner).filter(_ -> hasOwner),
        mandates);
  }

  /** The mandates among the artifacts, verified again. */
  private List<SeenMandate> mandates(
      Request request, Policy policy, List<SeenArtifact> artifacts, Instant at) {
    return artifacts.stream()
        .filter(artifact -> artifact.type().equals(MandateDocument.TYPE))
        .map(artifact -> documents.source().document(artifact.id()).orElseThrow())
        .map(envelope -> Mandates.see(envelope, request, policy.mandates(), at))
        .toList();
  }

  /** As recorded, but of a mandate's accounts those that are charged, with the mandate's limits. */
  private static List<Balance> balances(
      Policy policy, Request request, JudgeInputs recorded, List<SeenMandate> mandates) {
    TreeMap<String, MandateUse.Due> dues = new TreeMap<>();
    MandateUse.of(policy, request, mandates)
        .map(MandateUse::dues)
        .orElse(List.of())
        .forEach(due -> dues.put(due.budget().name() + due.key(), due));
    return recorded.balances().stream()
        .filter(balance ->
            !MandateAccounts.isOne(balance.budget())
                || dues.containsKey(balance.budget() + balance.key()))
        .map(balance ->
            Optional.ofNullable(dues.get(balance.budget() + balance.key()))
                .map(due ->
                    new Balance(
                        balance.budget(),
                        balance.key(),
                        balance.windowStart(),
                        balance.used(),
                        balance.reserved(),
                        due.budget().limit()))
                .orElse(balance))
        .toList();
  }

  /** Every approval that was received, was not set aside with a code, and holds. */
  private List<SeenApproval> approvals(
      Admitted admitted, Asked asked, Policy policy, JudgeInputs recorded, Instant decidedAt) {
    TreeSet<Digest> ignored = new TreeSet<>();
    recorded.ignored().forEach(i -> ignored.add(i.id()));
    TreeMap<Digest, SeenApproval> seen = new TreeMap<>();
    for (Digest id : asked.approvals) {
      if (!ignored.contains(id)) {
        documents
            .source()
            .document(id)
            .flatMap(envelope -> holding(envelope, admitted, policy, decidedAt))
            .ifPresent(word ->
                seen.put(
                    id,
                    new SeenApproval(
                        id,
                        word.signer().kid(),
                        word.approval().approver(),
                        word.approval().role(),
                        word.approval().verdict(),
                        word.approval().expiresAt())));
      }
    }
    return List.copyOf(seen.values());
  }

  /**
   * An approval that counts: it is for this effect, by its stated approver, whom the policy lets
   * approve.
   */
  private Optional<ApprovalVerification.Verified> holding(
      Envelope envelope, Admitted admitted, Policy policy, Instant decidedAt) {
    for (Supplier<Trust> trust : trusts(decidedAt)) {
      try {
        return Optional.of(
            ApprovalVerification.verified(envelope, admitted, policy, trust.get(), decidedAt));
      } catch (WritException e) {
        continue; // not under this trust
      }
    }
    return Optional.empty();
  }

  /** The artifacts that the decision counts, as their documents and the trust say they are. */
  private List<SeenArtifact> artifacts(Request request, JudgeInputs recorded, Instant at) {
    return recorded.artifacts().stream()
        .filter(artifact -> request.evidence().contains(artifact.id()))
        .flatMap(artifact -> documents.source().document(artifact.id()).stream())
        .flatMap(envelope -> artifact(envelope, request, at).stream())
        .toList();
  }

  private Optional<SeenArtifact> artifact(Envelope envelope, Request request, Instant at) {
    for (Supplier<Trust> trust : trusts(at)) {
      try {
        List<TrustedKey> signers = trust.get().verify(envelope, envelope.payloadType(), at);
        boolean foreign =
            signers.stream()
                .anyMatch(
                    s -> s.tenant().filter(t -> !t.equals(request.scope().tenant())).isPresent());
        return foreign
            ? Optional.empty()
            : Optional.of(
                new SeenArtifact(
                    envelope.id(),
                    envelope.payloadType(),
                    signers.stream()
                        .map(s -> new JudgeInputs.Signer(s.kid(), s.role().text(), s.subject()))
                        .toList()));
      } catch (WritException e) {
        continue; // not under this trust
      }
    }
    return Optional.empty();
  }

  private void compare(
      Admitted admitted,
      Policy policy,
      JudgeInputs inputs,
      Asked asked,
      Read<Decision> read,
      String place) {
    Decision recorded = read.document();
    Optional<Difference> gathered = Differences.first(recorded.inputs(), inputs.toJson());
    if (gathered.isPresent()) {
      report(place + " /inputs" + gathered.get().pointer(), gathered.get());
      return;
    }
    if (recorded.checks().stream().anyMatch(check -> !Judge.mayStand(check, policy))) {
      findings.problem(
          JUDGEMENT, place + " /checks", "an effect that is let pass", "what policy enforces");
      return;
    }
    Effect effect = admitted.request().effect();
    CanaryDraw draw = CanaryDraw.of(recorded.scope(), inputs.owner());
    if (recorded.verdict() == Verdict.ALLOW && !runs(policy, effect, draw)) {
      findings.problem(
          JUDGEMENT, place + " /verdict", recorded.verdict(), "a tool that policy has run here");
      return;
    }
    Tools.Circumstances now = tools.circumstances(effect, policy);
    List<Decision> judgements = new ArrayList<>();
    List<Supplier<ToolManifest>> manifests =
        List.of(now::manifest, () -> ToolManifest.unregistered(effect.tool(), effect.version()));
    for (Supplier<ToolManifest> manifest : manifests) {
      Decision again =
          Judge.judge(
              admitted, manifest.get(), policy, inputs, recorded.snapshot(), asked.decision);
      if (difference(recorded, again).isEmpty()) {
        findings.judged++;
        findings.snapshots += now.snapshot().equals(recorded.snapshot()) ? 1 : 0;
        return;
      }
      judgements.add(again);
    }
    Decision again = judgements.getFirst();
    Decision wanted =
        sameTool(now, recorded, effect, policy)
            ? again
            : Judge.concluded(again, recorded.checks()).orElse(again);
    difference(recorded, wanted)
        .ifPresentOrElse(
            found -> report(place + " " + found.pointer(), found), () -> findings.notJudged++);
  }

  /** What is equal is written equally; only a difference is looked for in what is written. */
  private static Optional<Difference> difference(Decision recorded, Decision again) {
    return again.equals(recorded)
        ? Optional.empty()
        : Differences.first(recorded.toJson(), again.toJson());
  }

  /** Where policy does not, that holds whatever the tool's manifest says, which may not be here. */
  private static boolean runs(Policy policy, Effect effect, CanaryDraw draw) {
    return policy
        .tool(effect.tool(), effect.version())
        .filter(tool -> policy.mayRun(tool, draw))
        .isPresent();
  }

  private void report(String place, Difference difference) {
    findings.problem(JUDGEMENT, place, difference.recorded(), difference.recomputed());
  }

  /**
   * Whether the tool as registered now is certainly the one that was judged: the snapshot names it,
   * or the verdict is ALLOW, which only the package that policy approves can get.
   */
  private static boolean sameTool(
      Tools.Circumstances now, Decision recorded, Effect effect, Policy policy) {
    return now.snapshot().equals(recorded.snapshot())
        || recorded.verdict() == Verdict.ALLOW
            && policy
                .tool(effect.tool(), effect.version())
                .map(ApprovedTool::ref)
                .filter(now.manifest().ref()::equals)
                .isPresent();
  }

  /** Whether a tool uses the workspace of its run; empty where its manifest is not at hand. */
  Optional<Boolean> usesWorkspace(ToolRef tool) {
    return tools.manifest(tool).map(manifest -> manifest.capabilities().workspace());
  }

  /**
   * An intent's tool is the one that the decision's policy lists; otherwise the one that the
   * decision recorded, which was compared with the system run where the policy lets it be governed.
   */
  void tool(Digest id, Decision decision, ToolRef tool, String place) {
    Effect effect = request(decision, place).document().effect();
    Optional<ToolRef> approved =
        Optional.ofNullable(standing.policies().get(decision.policy()))
            .flatMap(policy -> policy.listed(effect.tool(), effect.version()))
            .or(() ->
                recorded(id, decision, place)
                    .flatMap(JudgeInputs::governed)
                    .map(governed -> ApprovedTool.of(effect.tool(), effect.version(), governed)))
            .map(ApprovedTool::ref);
    findings.same(
        BINDING,
        place + " /tool",
        tool.toString(),
        approved.map(ToolRef::toString).orElse("none approved"));
  }
}
