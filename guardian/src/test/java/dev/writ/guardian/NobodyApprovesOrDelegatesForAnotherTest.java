package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Delegation;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.Policy;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** An approval or a delegation counts for whoever its key is of, in that tenant, and no further. */
class NobodyApprovesOrDelegatesForAnotherTest {
  private static final String NEEDS_ONE = "{ approvals: { role: reviewer, count: 1 } }";
  private static final SigningKey OTHER = World.key("another one");

  private static void refused(GuardianError code, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(WritException.class, e -> assertThat(e.code()).isEqualTo(code));
  }

  private static Policy policy(String... approvers) {
    StringBuilder yaml =
        new StringBuilder(
            World.POLICY.replace("{ cel: 'size(params.source) < 20000' }", NEEDS_ONE));
    for (String approver : approvers) {
      yaml.append("  - { tenant: acme, subject: ")
          .append(approver)
          .append(", roles: [reviewer] }\n");
    }
    return World.policy(yaml.toString());
  }

  private static void verify(Envelope approval, Admitted a, Policy policy, Trust trust) {
    ApprovalVerification.verify(approval, a, policy, trust, World.NOW);
  }

  // Approvals.

  @Test
  void a_key_of_another_tenant_or_of_another_subject() {
    Policy policy = policy();
    Admitted a = World.request().admit(policy);
    Envelope approval = World.approval(OTHER, "rita", a, policy, Approval.Verdict.APPROVE);
    refused(
        GuardianError.APPROVAL_SIGNER,
        () ->
            verify(
                approval,
                a,
                policy,
                World.trustWith(World.trusted(OTHER, KeyRole.APPROVER, "other", "rita"))));
    refused(
        GuardianError.APPROVAL_SIGNER,
        () ->
            verify(
                approval,
                a,
                policy,
                World.trustWith(World.trusted(OTHER, KeyRole.APPROVER, World.TENANT, "roy"))));
    verify(
        approval,
        a,
        policy,
        World.trustWith(World.trusted(OTHER, KeyRole.APPROVER, World.TENANT, "rita")));
  }

  /** The surface that vouches, and the person whom it vouches for, have a part in the request. */
  @Test
  void neither_the_surface_nor_whom_it_vouches_for() {
    World.RequestBuilder request = World.request();
    request.signer = World.SURFACE;
    request.origin =
        Optional.of(new Origin("mcp", "bearer", "person-7", Digest.sha256(new byte[] {1})));
    for (String approver : List.of("mcp", "person-7", World.SUBJECT)) {
      Policy policy = policy(approver);
      Admitted a = request.admit(policy);
      Envelope approval = World.approval(OTHER, approver, a, policy, Approval.Verdict.APPROVE);
      refused(
          GuardianError.APPROVAL_SELF,
          () ->
              verify(
                  approval,
                  a,
                  policy,
                  World.trustWith(World.trusted(OTHER, KeyRole.APPROVER, World.TENANT, approver))));
    }
  }

  /** Of two roles that an approver has, the one that the approval is given in counts. */
  @Test
  void an_approval_in_another_role_does_not_count() {
    Policy policy =
        World.policy(
            World.POLICY
                .replace(
                    "{ cel: 'size(params.source) < 20000' }",
                    "{ approvals: { role: auditor, count: 1 } }")
                .replace(
                    "subject: rita, roles: [reviewer]",
                    "subject: rita, roles: [auditor, reviewer]"));
    World.RequestBuilder request = World.request();
    Admitted a = request.admit(policy);
    Envelope approval = World.approval(World.REVIEWER, "rita", a, policy, Approval.Verdict.APPROVE);
    Decision decision = World.judge(policy, request, approval);
    assertThat(decision.verdict()).isEqualTo(Verdict.ESCALATE);
  }

  // Artifacts.

  @Test
  void an_artifact_is_of_the_subject_that_policy_names() {
    String type = "application/vnd.example.report+json";
    Envelope report = Envelope.sign(type, JsonValue.object().put("passed", true).build(), World.CI);
    World.RequestBuilder request = World.request();
    request.evidence = List.of(report.id());
    for (String subject : List.of("ci", "somebody")) {
      Policy policy =
          World.policyRequiring(
              "{ artifact: { type: " + type + ", role: attestor, subject: " + subject + " } }");
      Decision decision =
          World.accounts(policy)
              .judge(
                  request.admit(policy),
                  new Circumstances(
                      World.manifest(),
                      World.SNAPSHOT,
                      List.of(),
                      List.of(new Circumstances.Evidence(report)),
                      (_, _) -> false,
                      Optional.empty()),
                  policy,
                  World.trust(),
                  World.NOW)
              .decision();
      assertThat(decision.verdict()).isEqualTo(subject.equals("ci") ? Verdict.ALLOW : Verdict.DENY);
    }
  }

  // Delegations.

  private static void admit(Trust trust, Envelope... delegations) {
    World.RequestBuilder request = World.request();
    request.delegations = List.of(delegations);
    Admission.admit(request.sign(), trust, World.policy(), World.NOW);
  }

  private static Delegation of(String tenant, SigningKey from, SigningKey to, long depth) {
    Delegation d = World.delegation(from, to, depth);
    return new Delegation(
        tenant, d.from(), d.to(), d.tools(), d.notBefore(), d.expiresAt(), d.depth());
  }

  @Test
  void a_delegation_is_of_one_subject_in_its_tenant() {
    Delegation link = World.delegation(World.OWNER, World.AGENT, 0);
    JsonValue document = link.toJson();
    admit(World.trust(), World.signed(link, World.OWNER));
    assertThatThrownBy(() ->
            admit(World.trust(), Envelope.sign(Delegation.TYPE, document, World.OWNER, World.LEAD)))
        .isInstanceOfSatisfying(
            WritException.class,
            e -> assertThat(e.code()).isEqualTo(CanonicalizeError.SIGNERS_DIFFER));
    refused(
        GuardianError.DELEGATION_SIGNER,
        () ->
            admit(
                World.trustWith(World.trusted(World.OWNER, KeyRole.PRINCIPAL, "other", "owner")),
                World.signed(link, World.OWNER)));
    refused(
        GuardianError.DELEGATION_SIGNER,
        () -> admit(World.trust(), World.signed(link, World.LEAD)));
  }

  @Test
  void a_chain_stays_in_its_tenant_and_ends() {
    Envelope first = World.signed(of("other", World.OWNER, World.LEAD, 1), World.OWNER);
    Envelope second = World.signed(World.delegation(World.LEAD, World.AGENT, 0), World.LEAD);
    refused(GuardianError.DELEGATION_SCOPE, () -> admit(World.trust(), first, second));
    Envelope link = World.signed(World.delegation(World.OWNER, World.AGENT, 0), World.OWNER);
    refused(
        GuardianError.DELEGATION_COUNT,
        () -> admit(World.trust(), Collections.nCopies(9, link).toArray(Envelope[]::new)));
  }
}
