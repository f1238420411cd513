package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.guardian.JudgeInputs.Ignored;
import dev.writ.guardian.JudgeInputs.Ran;
import dev.writ.guardian.JudgeInputs.SeenApproval;
import dev.writ.guardian.JudgeInputs.SeenArtifact;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Delegation;
import dev.writ.guardian.document.MandateDocument;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.mandate.Mandates;
import dev.writ.guardian.mandate.SeenMandate;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.governance.GovernedTool;
import dev.writ.guardian.policy.rule.EffectPattern;
import dev.writ.guardian.policy.rule.Order;
import dev.writ.guardian.profile.Finding;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The inputs that need no account, gathered before the lock is taken: signatures are verified, and
 * the run's history is read. An invalid document does not count, and is recorded with its code.
 */
record Gathered(
    Admitted admitted,
    Instant time,
    List<String> roles,
    List<SeenApproval> approvals,
    List<Ignored> ignored,
    List<SeenArtifact> artifacts,
    List<Ran> history,
    Optional<Finding> profile,
    Optional<GovernedTool> governed,
    Optional<String> owner,
    List<SeenMandate> mandates) {

  static Gathered of(Admitted a, Circumstances c, Policy p, Trust trust, Instant time) {
    TreeMap<Digest, SeenApproval> approvals = new TreeMap<>();
    TreeMap<Digest, SeenArtifact> artifacts = new TreeMap<>();
    TreeMap<Digest, Ignored> ignored = new TreeMap<>();
    TreeMap<Digest, SeenMandate> mandates = new TreeMap<>();
    for (Envelope envelope : c.approvals()) {
      try {
        approvals.put(envelope.id(), approval(envelope, a, p, trust, time));
      } catch (WritException e) {
        ignored.put(envelope.id(), new Ignored(envelope.id(), e.code().code()));
      }
    }
    for (Circumstances.Evidence evidence : c.evidence()) {
      Envelope envelope = evidence.envelope();
      if (!a.request().evidence().contains(envelope.id())) {
        throw new WritException(GuardianError.EVIDENCE_FOREIGN, envelope.id().toString());
      }
      try {
        artifacts.put(envelope.id(), artifact(envelope, a, trust, time));
        if (envelope.payloadType().equals(MandateDocument.TYPE)) {
          mandates.put(envelope.id(), Mandates.see(envelope, a.request(), p.mandates(), time));
        }
      } catch (WritException e) {
        ignored.put(envelope.id(), new Ignored(envelope.id(), e.code().code()));
      }
    }
    return new Gathered(
        a,
        time,
        p.rolesOf(a.request().scope().tenant(), a.request().scope().subject()),
        List.copyOf(approvals.values()),
        List.copyOf(ignored.values()),
        List.copyOf(artifacts.values()),
        history(a, c, p),
        c.profile(),
        p.governed(a.request().effect().tool(), a.request().effect().version()),
        c.owner(),
        List.copyOf(mandates.values()));
  }

  private static SeenApproval approval(
      Envelope envelope, Admitted a, Policy p, Trust trust, Instant time) {
    ApprovalVerification.Verified verified =
        ApprovalVerification.verified(envelope, a, p, trust, time);
    Approval approval = verified.approval();
    return new SeenApproval(
        envelope.id(),
        verified.signer().kid(),
        approval.approver(),
        approval.role(),
        approval.verdict(),
        approval.expiresAt());
  }

  private static SeenArtifact artifact(Envelope envelope, Admitted a, Trust trust, Instant time) {
    requireSameTenant(envelope, a);
    List<JudgeInputs.Signer> signers =
        trust.verify(envelope, envelope.payloadType(), time).stream()
            .peek(key -> requireTenant(key, a))
            .map(key -> new JudgeInputs.Signer(key.kid(), key.role().text(), key.subject()))
            .toList();
    return new SeenArtifact(envelope.id(), envelope.payloadType(), signers);
  }

  /** A document of ours that names a tenant counts as evidence in that tenant only. */
  private static void requireSameTenant(Envelope envelope, Admitted a) {
    if (envelope.payloadType().startsWith("application/vnd.writ.")
        && envelope.document() instanceof JsonValue.Obj document
        && document.get("tenant") instanceof JsonValue.Str tenant
        && !tenant.value().equals(a.request().scope().tenant())) {
      throw new WritException(GuardianError.EVIDENCE_FOREIGN, envelope.id().toString());
    }
  }

  /** The signer of evidence must belong to the tenant or to the installation. */
  private static void requireTenant(TrustedKey key, Admitted a) {
    if (key.tenant().filter(t -> !t.equals(a.request().scope().tenant())).isPresent()) {
      throw new WritException(GuardianError.SIGNER_MISMATCH, "key " + key.kid());
    }
  }

  private static List<Ran> history(Admitted a, Circumstances c, Policy p) {
    if (p.orders().isEmpty()) {
      return List.of();
    }
    TreeMap<String, Ran> asked = new TreeMap<>();
    for (Order order : p.orders()) {
      if (order.effect().applies(a.request().effect().tool(), a.request().effect().operation())) {
        EffectPattern after = order.after();
        String operation = after.operation().orElseThrow();
        asked.computeIfAbsent(
            after.tool() + "\u0000" + operation,
            _ -> new Ran(after.tool(), operation, c.history().succeeded(after.tool(), operation)));
      }
    }
    return List.copyOf(asked.values());
  }

  JudgeInputs inputs(
      long step,
      List<JudgeInputs.Balance> balances,
      List<JudgeInputs.RateCount> rates,
      boolean nonceSeen) {
    return new JudgeInputs(
        time,
        admitted.receivedAt(),
        step,
        admitted.charged(),
        roles,
        balances,
        rates,
        nonceSeen,
        approvals,
        ignored,
        artifacts,
        history,
        validUntil(),
        profile,
        governed,
        owner,
        mandates);
  }

  private Optional<Instant> validUntil() {
    if (admitted.request().delegations().isEmpty() && approvals.isEmpty() && mandates.isEmpty()) {
      return Optional.empty();
    }
    return Stream.of(
            DelegationChain.read(admitted.request().delegations()).stream()
                .map(Delegation::expiresAt),
            approvals.stream()
                .filter(seen -> seen.verdict() == Approval.Verdict.APPROVE)
                .map(SeenApproval::expiresAt),
            mandates.stream()
                .filter(SeenMandate.Terms.class::isInstance)
                .map(seen -> ((SeenMandate.Terms) seen).expiresAt()))
        .flatMap(ends -> ends)
        .min(Comparator.naturalOrder());
  }
}
