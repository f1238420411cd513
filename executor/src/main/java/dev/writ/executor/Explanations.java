package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.stage.KernelTime;
import dev.writ.executor.stage.Tools;
import dev.writ.guardian.Accounts;
import dev.writ.guardian.Admitted;
import dev.writ.guardian.Circumstances;
import dev.writ.guardian.Guide;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.PolicyExplain;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Guidance;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.Ledger;
import java.util.List;
import java.util.Optional;

/**
 * Why requests were judged as they were, or would be. Reads only: nothing is written or reserved.
 * Thread safe; see {@link Kernel#explanations}.
 */
public final class Explanations {
  private final Ledger ledger;
  private final KernelTime time;
  private final Accounts accounts;
  private final Tools tools;
  private final RequestPath path;
  private final StateGate inForce;

  Explanations(
      Ledger ledger,
      KernelTime time,
      Accounts accounts,
      Tools tools,
      RequestPath path,
      StateGate inForce) {
    this.ledger = ledger;
    this.time = time;
    this.accounts = accounts;
    this.tools = tools;
    this.path = path;
    this.inForce = inForce;
  }

  /** Explains how a request was judged, or how it would be judged now. */
  public PolicyExplain explain(byte[] request) {
    Admissions.Entry entry = path.admitted(request);
    SystemState state = entry.state();
    return explain(entry.require(), path.row(entry.id()), state.trust(), state.policyInForce());
  }

  /**
   * What helps the caller of a request that was not allowed, or would not be if policy did not only
   * observe (spec/guidance.md); empty for any other, and for one that was never judged.
   */
  public Optional<Guidance> guidance(Digest request) {
    return decision(request).flatMap(decision -> guidance(request, decision, inForce.now()));
  }

  /** The same of an answer. */
  public Optional<Guidance> guidance(Answer answer) {
    return guidance(answer.request(), answer.decision(), inForce.now());
  }

  /**
   * Why a request was judged as its latest decision says, by the policy and the inputs of that
   * decision; empty for one that was never judged.
   */
  public Optional<PolicyExplain> explained(Digest request) {
    return decision(request).flatMap(decision -> explained(request, decision, inForce.now()));
  }

  private Optional<Decision> decision(Digest request) {
    return path.row(request)
        .flatMap(row -> ledger.document(row.decision()))
        .map(Envelope::document)
        .map(Decision::read);
  }

  /**
   * Explains the judgement of a request: from its recorded decision if there is one, otherwise as
   * it would be judged now.
   */
  private PolicyExplain explain(
      Admitted admitted, Optional<RequestRow> row, Trust trust, Policy inForce) {
    Request request = admitted.request();
    if (row.isPresent()) {
      Decision decision =
          Decision.read(ledger.document(row.get().decision()).orElseThrow().document());
      Policy policy =
          Policy.ofCanonical(ledger.document(decision.policy()).orElseThrow().document());
      return PolicyExplain.of(
          admitted,
          tools.circumstances(request.effect(), policy).manifest(),
          policy,
          JudgeInputs.read(decision.inputs()),
          decision.snapshot());
    }
    Tools.Circumstances tool = tools.circumstances(request.effect(), inForce);
    Circumstances circumstances =
        Judging.circumstances(ledger, request, tool, List.of(), List.of(), Optional.empty());
    return PolicyExplain.of(
        admitted,
        tool.manifest(),
        inForce,
        accounts.look(
            admitted, circumstances, inForce, trust, time.now(KernelTime.Reading.OUTSIDE)),
        tool.snapshot());
  }

  /**
   * What helps the caller of a request that was not allowed, or would not be if policy did not only
   * observe, from the documents that are stored. Empty where it was allowed, and where the tool or
   * the key of that time is not known any more.
   */
  private Optional<Guidance> guidance(Digest id, Decision decision, SystemState now) {
    return decision.refusing().isEmpty() && decision.letThrough().isEmpty()
        ? Optional.empty()
        : recorded(id, decision, now)
            .flatMap(r -> Guide.of(r.admitted(), r.manifest(), r.policy(), decision));
  }

  /**
   * Why a request was judged so, from the documents that are stored, whether its key is still in
   * force or not. Empty where the key of that time is not known.
   */
  private Optional<PolicyExplain> explained(Digest id, Decision decision, SystemState now) {
    return recorded(id, decision, now)
        .map(r ->
            PolicyExplain.of(
                r.admitted(),
                r.manifest(),
                r.policy(),
                JudgeInputs.read(decision.inputs()),
                decision.snapshot()));
  }

  /** What a recorded judgement was made of. */
  private record Recorded(Admitted admitted, ToolManifest manifest, Policy policy) {}

  private Optional<Recorded> recorded(Digest id, Decision decision, SystemState now) {
    Optional<Envelope> signed = ledger.document(id);
    Optional<TrustedKey> holder = now.trust().key(decision.holder());
    Optional<Policy> policy = // mostly that in force, which need not be read again
        now.policy()
            .filter(inForce -> inForce.digest().equals(decision.policy()))
            .or(() ->
                ledger
                    .document(decision.policy())
                    .map(document -> Policy.ofCanonical(document.document())));
    if (signed.isEmpty() || holder.isEmpty() || policy.isEmpty()) {
      return Optional.empty();
    }
    Request request = Request.read(signed.get().document());
    JudgeInputs inputs = JudgeInputs.read(decision.inputs());
    return Optional.of(
        new Recorded(
            new Admitted(
                signed.get(), request, id, holder.get(), inputs.charged(), inputs.receivedAt()),
            tools.circumstances(request.effect(), policy.get()).manifest(),
            policy.get()));
  }
}
