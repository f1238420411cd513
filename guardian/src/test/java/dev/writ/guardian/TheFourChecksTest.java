package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.CheckOutcome.Outcome;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Four checks in order, up to the first that does not pass; every one recorded. */
class TheFourChecksTest {
  private static final ToolManifest PRIVILEGED =
      World.manifest(World.manifest().capabilities(), "other", "privileged", "wasm");

  /**
   * Otherwise whoever strips a signature that trust does not require would change what is recorded.
   */
  @Test
  void anApproversFurtherSignatureChangesNoDecision() {
    // Signatures stand in the order of their key ids; this one comes before the reviewer's.
    SigningKey second =
        IntStream.range(0, 100)
            .mapToObj(i -> SigningKey.mlDsa65(Digest.sha256(new byte[] {(byte) i}).bytes()))
            .filter(key -> key.kid().compareTo(World.REVIEWER.kid()) < 0)
            .findFirst()
            .orElseThrow();
    Trust trust = World.trustWith(World.trusted(second, KeyRole.APPROVER, World.TENANT, "rita"));
    Policy policy = World.policyRequiring("{ approvals: { role: reviewer, count: 1 } }");
    Admitted a = World.request().admit(policy);
    JsonValue approval =
        World.approval(World.REVIEWER, "rita", a, policy, Approval.Verdict.APPROVE).document();
    Function<Envelope, Decision> judge =
        envelope ->
            World.accounts(policy)
                .judge(a, World.circumstances(envelope), policy, trust, World.NOW)
                .decision();
    Decision one = judge.apply(Envelope.sign(Approval.TYPE, approval, World.REVIEWER));
    Decision two = judge.apply(Envelope.sign(Approval.TYPE, approval, second, World.REVIEWER));
    assertThat(one.verdict()).isEqualTo(Verdict.ALLOW);
    assertThat(two).isEqualTo(one);
  }

  @Test
  void allowsWhatPassesAllFour() {
    Decision decision = World.judge(World.policy(), World.request());
    assertThat(decision.verdict()).isEqualTo(Verdict.ALLOW);
    assertThat(decision.code()).isEmpty();
    assertThat(decision.checks()).extracting(c -> c.outcome()).containsOnly(Outcome.PASS);
  }

  @Test
  void stopsAtTheFirstThatRefusesAndRecordsTheRestAsNotReached() {
    Decision decision =
        World.judge(World.policyRequiring("{ cel: 'params.source == \"x\"' }"), World.request());
    assertThat(decision.verdict()).isEqualTo(Verdict.DENY);
    assertThat(decision.code()).contains("GRD-102");
    assertThat(decision.checks())
        .extracting(c -> c.outcome())
        .containsExactly(
            Outcome.REFUSE, Outcome.NOT_REACHED, Outcome.NOT_REACHED, Outcome.NOT_REACHED);
    assertThat(JudgeInputs.read(decision.inputs()).balances()).hasSize(1);
  }

  @Test
  void escalatesWhenNothingButApprovalsIsMissingAndAllowsOnceTheyAreThere() {
    Policy policy = World.policyRequiring("{ approvals: { role: reviewer, count: 2 } }");
    Admitted a = World.request().admit(policy);
    Accounts accounts = World.accounts(policy);
    Decision first =
        accounts.judge(a, World.circumstances(), policy, World.trust(), World.NOW).decision();
    assertThat(first.verdict()).isEqualTo(Verdict.ESCALATE);
    assertThat(first.code()).contains("GRD-104");
    var one = World.approval(World.REVIEWER, "rita", a, policy, Approval.Verdict.APPROVE);
    var two = World.approval(World.REVIEWER2, "roy", a, policy, Approval.Verdict.APPROVE);
    assertThat(
            accounts
                .judge(a, World.circumstances(one, one), policy, World.trust(), World.NOW)
                .decision()
                .verdict())
        .isEqualTo(Verdict.ESCALATE);
    Decision last =
        accounts
            .judge(a, World.circumstances(one, two), policy, World.trust(), World.NOW)
            .decision();
    assertThat(last.verdict()).isEqualTo(Verdict.ALLOW);
  }

  @Test
  void thePrivilegedProfileTakesAnApprovalWhateverPolicyAsks() {
    String yaml = World.POLICY.replace("sandboxes: [wasm]", "sandboxes: [privileged, wasm]");
    Policy free = World.policy(yaml, PRIVILEGED);
    Decision denied = privileged(free);
    assertThat(denied.verdict()).isEqualTo(Verdict.DENY);
    assertThat(denied.code()).contains("GRD-414");

    Policy asks =
        World.policy(
            yaml.replace(
                "{ cel: 'size(params.source) < 20000' }",
                "{ any: [ { cel: 'true' }, { approvals: { role: reviewer, count: 1 } } ] }"),
            PRIVILEGED);
    assertThat(privileged(asks).code()).contains("GRD-414");
    World.RequestBuilder request = World.request();
    request.sandbox = "privileged";
    Admitted a = request.admit(asks);
    Decision allowed =
        privileged(asks, World.approval(World.REVIEWER, "rita", a, asks, Approval.Verdict.APPROVE));
    assertThat(allowed.verdict()).isEqualTo(Verdict.ALLOW);
  }

  private static Decision privileged(Policy policy, Envelope... approvals) {
    World.RequestBuilder request = World.request();
    request.sandbox = "privileged";
    return World.accounts(policy)
        .judge(
            request.admit(policy),
            World.circumstances(PRIVILEGED, approvals),
            policy,
            World.trust(),
            World.NOW)
        .decision();
  }

  @Test
  void judgesAgainFromTheSignedDocumentsAlone() {
    Policy policy = World.policy();
    Decision decision = World.judge(policy, World.request());
    Decision again =
        Judge.judge(
            World.request().admit(policy),
            World.manifest(),
            Policy.ofCanonical(policy.toJson()),
            JudgeInputs.read(Decision.read(decision.toJson()).inputs()),
            decision.snapshot(),
            Optional.empty());
    assertThat(again.toJson()).isEqualTo(decision.toJson());
  }

  @Test
  void aDelegatorCannotApproveWhatIsAskedForIt() {
    Policy policy =
        World.policy(
            World.POLICY.replace(
                    "{ cel: 'size(params.source) < 20000' }",
                    "{ approvals: { role: reviewer, count: 1 } }")
                + "  - { tenant: acme, subject: owner, roles: [reviewer] }\n");
    World.RequestBuilder request = World.request();
    request.delegations =
        List.of(World.signed(World.delegation(World.OWNER, World.AGENT, 0), World.OWNER));
    Admitted a = request.admit(policy);
    SigningKey other = World.key("owner as approver");
    Trust trust = World.trustWith(World.trusted(other, KeyRole.APPROVER, World.TENANT, "owner"));
    Envelope approval = World.approval(other, "owner", a, policy, Approval.Verdict.APPROVE);
    Decision decision =
        World.accounts(policy)
            .judge(a, World.circumstances(approval), policy, trust, World.NOW)
            .decision();
    assertThat(decision.verdict()).isEqualTo(Verdict.ESCALATE);
    assertThat(JudgeInputs.read(decision.inputs()).ignored())
        .containsExactly(new JudgeInputs.Ignored(approval.id(), "GRD-612"));
  }
}
