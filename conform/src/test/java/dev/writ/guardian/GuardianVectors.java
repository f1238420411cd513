package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.fixture.TestMandate;
import dev.writ.guardian.World.RequestBuilder;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Delegation;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.governance.Canary;
import dev.writ.guardian.policy.governance.GovernedTool;
import dev.writ.guardian.policy.governance.RolloutStage;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Makes the vectors of golden-vectors/guardian: one file, one reason. The expected verdict or code
 * is written here by hand; the rest of the outcome is what the code gave when it was made.
 */
final class GuardianVectors {
  private static final List<String> NO = List.of();

  /**
   * @param expect {@code ok}, a verdict, a code, or a verdict and a code
   */
  record Vector(String name, String about, String op, String expect, JsonValue.Obj input) {}

  private final List<Vector> vectors = new ArrayList<>();

  static List<Vector> all() {
    GuardianVectors factory = new GuardianVectors();
    factory.admission();
    factory.ownership();
    factory.delegation();
    factory.observing();
    factory.proof();
    factory.budget();
    factory.temporal();
    factory.envelope();
    factory.flags();
    factory.governance();
    factory.approval();
    factory.accounts();
    factory.mandates();
    factory.policyFiles();
    factory.manifests();
    return factory.vectors;
  }

  private void add(String name, String about, String expect, String op, ObjectBuilder input) {
    vectors.add(new Vector(name, about, op, expect, input.build()));
  }

  // ---- admission

  private void admit(
      String name, String reason, String expect, Policy policy, Consumer<RequestBuilder> change) {
    RequestBuilder request = World.request();
    change.accept(request);
    admit(name, reason, expect, policy, request.sign().toJson(), World.keys());
  }

  private void admit(
      String name,
      String reason,
      String expect,
      Policy policy,
      JsonValue envelope,
      List<TrustedKey> keys) {
    readmit(name, reason, expect, policy, envelope, keys, World.NOW);
  }

  private void readmit(
      String name,
      String reason,
      String expect,
      Policy policy,
      JsonValue envelope,
      List<TrustedKey> keys,
      Instant now) {
    add(
        name,
        reason,
        expect,
        "guardian.admit",
        JsonValue.object()
            .put("policy", policy.toJson())
            .putList("keys", keys, TrustedKey::toJson)
            .put("envelope", envelope)
            .put("received_at", World.NOW)
            .put("now", now));
  }

  private static Origin origin(String surface) {
    return new Origin(surface, "tools/call", "alice", World.SNAPSHOT);
  }

  private void admission() {
    Policy policy = World.policy();
    admit("admit-plain", "a fresh request of an enrolled agent", "ok", policy, _ -> {});
    admit(
        "admit-surface",
        "a surface vouches for a subject that policy lets it vouch for",
        "ok",
        policy,
        r -> {
          r.signer = World.SURFACE;
          r.origin = Optional.of(origin("mcp"));
        });
    admit(
        "admit-age-edge",
        "as old as may be",
        "ok",
        policy,
        r -> r.at = World.NOW.minusSeconds(300));
    admit(
        "admit-skew-edge",
        "as far ahead as may be",
        "ok",
        policy,
        r -> r.at = World.NOW.plusSeconds(2));
    admit(
        "admit-too-large",
        "one byte cap below the envelope",
        "GRD-002",
        World.policy(World.POLICY.replace("100000 }", "500 }")),
        _ -> {});
    admit(
        "admit-other-subject",
        "the key is of another subject",
        "GRD-003",
        policy,
        r -> r.subject = "owner");
    admit(
        "admit-other-tenant",
        "the key is of another tenant",
        "GRD-003",
        policy,
        r -> r.tenant = "globex");
    admit(
        "admit-future",
        "one millisecond beyond the skew",
        "GRD-004",
        policy,
        r -> r.at = World.NOW.plusMillis(2001));
    admit(
        "admit-too-old",
        "one millisecond beyond the age",
        "GRD-005",
        policy,
        r -> r.at = World.NOW.minusMillis(300_001));
    admit(
        "admit-no-principal",
        "the subject is not in the policy",
        "GRD-006",
        World.policy(World.POLICY.replace("subject: researcher,", "subject: someone,")),
        _ -> {});
    admit(
        "admit-agent-with-origin",
        "an agent's own request has no origin",
        "GRD-008",
        policy,
        r -> r.origin = Optional.of(origin("mcp")));
    admit(
        "admit-surface-without-origin",
        "a surface must say for whom",
        "GRD-008",
        policy,
        r -> r.signer = World.SURFACE);
    admit(
        "admit-surface-not-in-policy",
        "policy does not let the surface vouch",
        "GRD-008",
        World.policy(World.POLICY.replace("surfaces: [mcp]", "surfaces: [http]")),
        r -> {
          r.signer = World.SURFACE;
          r.origin = Optional.of(origin("mcp"));
        });
    admit(
        "admit-unknown-key",
        "the key is not enrolled",
        "CAN-052",
        policy,
        r -> r.signer = World.key("stranger"));
    admit(
        "admit-approver-key",
        "an approver's key signs no requests",
        "CAN-053",
        policy,
        r -> r.signer = World.REVIEWER);
    keyStates(policy);
    JsonValue tampered =
        new JsonValue.Obj(
            new TreeMap<>(
                withPayload(World.request().sign(), World.request().nonce("other").sign())));
    admit(
        "admit-tampered",
        "the payload was changed under the signature",
        "CAN-060",
        policy,
        tampered,
        World.keys());
  }

  private static TreeMap<String, JsonValue> withPayload(Envelope signed, Envelope other) {
    TreeMap<String, JsonValue> members = new TreeMap<>(signed.toJson().members());
    members.put("payload", other.toJson().get("payload"));
    return members;
  }

  private void keyStates(Policy policy) {
    TrustedKey agent = World.keys().getFirst();
    TrustedKey ended =
        new TrustedKey(
            agent.key(),
            agent.role(),
            agent.tenant(),
            agent.subject(),
            agent.notBefore(),
            Optional.of(World.NOW),
            Optional.empty());
    TrustedKey revoked =
        new TrustedKey(
            agent.key(),
            agent.role(),
            agent.tenant(),
            agent.subject(),
            agent.notBefore(),
            agent.notAfter(),
            Optional.of(World.NOW.minusSeconds(1)));
    JsonValue envelope = World.request().sign().toJson();
    admit(
        "admit-key-ended",
        "the key's window ends now",
        "CAN-054",
        policy,
        envelope,
        List.of(ended));
    admit("admit-key-revoked", "the key is revoked", "CAN-055", policy, envelope, List.of(revoked));
    Instant later = World.NOW.plusSeconds(3600);
    readmit(
        "admit-again-later",
        "its age counts from when it was received first",
        "ok",
        policy,
        envelope,
        List.of(agent),
        later);
    readmit(
        "admit-again-key-ended",
        "the key was valid when the request was received, and is not any more",
        "CAN-054",
        policy,
        envelope,
        List.of(
            new TrustedKey(
                agent.key(),
                agent.role(),
                agent.tenant(),
                agent.subject(),
                agent.notBefore(),
                Optional.of(later),
                Optional.empty())),
        later);
  }

  // ---- delegation

  private void delegated(String name, String reason, String expect, Envelope... links) {
    admit(name, reason, expect, World.policy(), r -> r.delegations = List.of(links));
  }

  private static Delegation change(
      Delegation d, String tenant, List<String> tools, Instant notBefore, Instant expiresAt) {
    return new Delegation(tenant, d.from(), d.to(), tools, notBefore, expiresAt, d.depth());
  }

  private void delegation() {
    Delegation ownerToAgent = World.delegation(World.OWNER, World.AGENT, 0);
    Delegation ownerToLead = World.delegation(World.OWNER, World.LEAD, 1);
    Delegation leadToAgent = World.delegation(World.LEAD, World.AGENT, 0);
    delegated(
        "delegation-one",
        "the principal lets the agent act",
        "ok",
        World.signed(ownerToAgent, World.OWNER));
    delegated(
        "delegation-two",
        "a chain of two",
        "ok",
        World.signed(ownerToLead, World.OWNER),
        World.signed(leadToAgent, World.LEAD));
    Envelope one = World.signed(ownerToAgent, World.OWNER);
    delegated("delegation-five", "five links", "GRD-601", one, one, one, one, one);
    delegated(
        "delegation-gap",
        "the second link is not from whom the first is to",
        "GRD-602",
        World.signed(World.delegation(World.OWNER, World.CI, 1), World.OWNER),
        World.signed(leadToAgent, World.LEAD));
    delegated(
        "delegation-wrong-end",
        "the last link is not to the signer",
        "GRD-602",
        World.signed(ownerToLead, World.OWNER));
    delegated(
        "delegation-loop",
        "a key stands in the chain twice",
        "GRD-602",
        World.signed(World.delegation(World.OWNER, World.LEAD, 3), World.OWNER),
        World.signed(World.delegation(World.LEAD, World.OWNER, 2), World.LEAD),
        World.signed(World.delegation(World.OWNER, World.AGENT, 1), World.OWNER));
    delegated(
        "delegation-wider-tools",
        "the second link adds a tool",
        "GRD-603",
        World.signed(ownerToLead, World.OWNER),
        World.signed(
            change(
                leadToAgent,
                "acme",
                List.of("js", "sql"),
                leadToAgent.notBefore(),
                leadToAgent.expiresAt()),
            World.LEAD));
    delegated(
        "delegation-other-tool",
        "the request's tool is not among the tools",
        "GRD-603",
        World.signed(
            change(
                ownerToAgent,
                "acme",
                List.of("sql"),
                ownerToAgent.notBefore(),
                ownerToAgent.expiresAt()),
            World.OWNER));
    delegated(
        "delegation-other-tenant",
        "a link for another tenant",
        "GRD-603",
        World.signed(
            change(
                ownerToAgent,
                "globex",
                List.of("js"),
                ownerToAgent.notBefore(),
                ownerToAgent.expiresAt()),
            World.OWNER));
    delegated(
        "delegation-expired",
        "it ends now",
        "GRD-604",
        World.signed(
            change(ownerToAgent, "acme", List.of("js"), ownerToAgent.notBefore(), World.NOW),
            World.OWNER));
    delegated(
        "delegation-early",
        "it begins in a millisecond",
        "GRD-604",
        World.signed(
            change(
                ownerToAgent,
                "acme",
                List.of("js"),
                World.NOW.plusMillis(1),
                ownerToAgent.expiresAt()),
            World.OWNER));
    delegated(
        "delegation-longer",
        "the second link ends after the first",
        "GRD-604",
        World.signed(ownerToLead, World.OWNER),
        World.signed(
            change(
                leadToAgent,
                "acme",
                List.of("js"),
                leadToAgent.notBefore(),
                ownerToLead.expiresAt().plusMillis(1)),
            World.LEAD));
    delegated(
        "delegation-depth",
        "the depth does not fall",
        "GRD-605",
        World.signed(ownerToLead, World.OWNER),
        World.signed(World.delegation(World.LEAD, World.AGENT, 1), World.LEAD));
    delegated(
        "delegation-wrong-signer",
        "another principal signed it",
        "GRD-606",
        World.signed(ownerToAgent, World.LEAD));
    delegated(
        "delegation-agent-signs",
        "an agent's key signs no delegation",
        "CAN-053",
        World.signed(ownerToAgent, World.AGENT));
    Envelope revoked = World.signed(ownerToAgent, World.OWNER);
    admit(
        "delegation-revoked",
        "policy takes it back",
        "GRD-607",
        World.policy(World.POLICY + "revoked: [\"" + revoked.id() + "\"]\n"),
        r -> r.delegations = List.of(revoked));
  }

  // ---- whose a run is that a surface opened

  private void ownership() {
    run(
        "run-own",
        "for whom the run was opened",
        "ALLOW",
        "",
        Optional.of(World.SUBJECT),
        origin("mcp"));
    run(
        "run-unrecorded",
        "a decision from before runs had owners",
        "ALLOW",
        "",
        Optional.empty(),
        origin("mcp"));
    run(
        "run-foreign",
        "it was opened for another subject",
        "DENY GRD-721",
        "",
        Optional.of("owner"),
        origin("mcp"));
    run(
        "run-named",
        "the run that the caller named is somebody else's",
        "DENY GRD-721",
        "",
        Optional.of(World.SUBJECT),
        new Origin(
            "mcp",
            "tools/call",
            "alice",
            World.SNAPSHOT,
            Optional.empty(),
            Optional.of("case-7"),
            Optional.empty()));
    String both = "subjects: [owner, " + World.SUBJECT + "]";
    run("run-shared", "policy names both", "ALLOW", both, Optional.of("owner"), origin("mcp"));
    run(
        "run-shared-with-everybody",
        "the whole tenant shares it",
        "ALLOW",
        "everybody: true",
        Optional.of("owner"),
        origin("mcp"));
    run(
        "run-shared-by-prefix",
        "the run's name begins so",
        "ALLOW",
        "runs: \"run-*\", " + both,
        Optional.of("owner"),
        origin("mcp"));
    run(
        "run-shared-another-name",
        "the share is about other runs",
        "DENY GRD-721",
        "runs: \"run-\", " + both,
        Optional.of("owner"),
        origin("mcp"));
    run(
        "run-shared-another-surface",
        "the share is about another surface's",
        "DENY GRD-721",
        "surfaces: [engine], " + both,
        Optional.of("owner"),
        origin("mcp"));
    run(
        "run-shared-not-by-its-owner",
        "only who asks is of the share",
        "DENY GRD-721",
        "roles: [analyst]",
        Optional.of("owner"),
        origin("mcp"));
  }

  private void run(
      String name,
      String reason,
      String expect,
      String share,
      Optional<String> owner,
      Origin origin) {
    String yaml =
        World.POLICY
            + (share.isEmpty()
                ? ""
                : "runs: { idle_max_s: 60, shared_by: [ { tenant: "
                    + World.TENANT
                    + ", "
                    + share
                    + " } ] }\n");
    judge(
        name,
        reason,
        expect,
        World.policy(yaml),
        r -> {
          r.signer = World.SURFACE;
          r.origin = Optional.of(origin);
        },
        i ->
            new JudgeInputs(
                i.time(),
                i.receivedAt(),
                i.step(),
                i.charged(),
                i.roles(),
                i.balances(),
                i.rates(),
                i.nonceSeen(),
                i.approvals(),
                i.ignored(),
                i.artifacts(),
                i.history(),
                i.validUntil(),
                i.profile(),
                i.governed(),
                owner,
                i.mandates()),
        World.manifest());
  }

  // ---- the four checks

  private void judge(String name, String reason, String expect, Policy policy) {
    judge(name, reason, expect, policy, _ -> {}, i -> i, World.manifest());
  }

  private void judge(
      String name,
      String reason,
      String expect,
      Policy policy,
      Consumer<RequestBuilder> change,
      UnaryOperator<JudgeInputs> inputs,
      ToolManifest manifest) {
    RequestBuilder request = World.request();
    change.accept(request);
    Envelope envelope = request.sign();
    Admitted a =
        new Admitted(
            envelope,
            Request.read(envelope.document()),
            envelope.id(),
            World.keys().getFirst(),
            List.of(World.SUBJECT),
            World.NOW);
    JudgeInputs gathered =
        World.accounts(policy)
            .look(
                a,
                new Circumstances(
                    manifest,
                    World.SNAPSHOT,
                    List.of(),
                    List.of(),
                    (_, _) -> false,
                    Optional.empty()),
                policy,
                World.trust(),
                World.NOW);
    add(
        name,
        reason,
        expect,
        "guardian.judge",
        JsonValue.object()
            .put("policy", policy.toJson())
            .put("manifest", manifest.toJson())
            .put("envelope", envelope.toJson())
            .put("holder", a.holder().toJson())
            .put("inputs", inputs.apply(gathered).toJson())
            .put("snapshot", World.SNAPSHOT));
  }

  private static JudgeInputs with(
      JudgeInputs i,
      List<JudgeInputs.Balance> balances,
      List<JudgeInputs.RateCount> rates,
      boolean nonceSeen,
      List<JudgeInputs.SeenApproval> approvals,
      List<JudgeInputs.Ran> history) {
    return new JudgeInputs(
        i.time(),
        i.receivedAt(),
        i.step(),
        i.charged(),
        i.roles(),
        balances,
        rates,
        nonceSeen,
        approvals,
        i.ignored(),
        i.artifacts(),
        history,
        i.validUntil(),
        i.profile(),
        i.governed(),
        i.owner(),
        i.mandates());
  }

  private static UnaryOperator<JudgeInputs> approved(Approval.Verdict verdict, String... names) {
    return i -> {
      List<JudgeInputs.SeenApproval> seen = new ArrayList<>();
      for (String name : names) {
        seen.add(
            new JudgeInputs.SeenApproval(
                Digest.sha256(name.getBytes(StandardCharsets.UTF_8)),
                World.REVIEWER.kid(),
                name,
                "reviewer",
                verdict,
                World.NOW.plusSeconds(60)));
      }
      return with(i, i.balances(), i.rates(), i.nonceSeen(), seen, i.history());
    };
  }

  private static Policy observing(Policy policy) {
    ObjectBuilder document = JsonValue.object();
    policy.toJson().members().forEach(document::put);
    return Policy.ofCanonical(document.put("mode", "observe").build());
  }

  private void observing() {
    judge("observe-allow", "it observes what it would allow", "ALLOW", observing(World.policy()));
    judge(
        "observe-no-rule",
        "it observes what no requirement covers",
        "ALLOW",
        observing(World.policy()),
        r -> r.operation = "lint",
        i -> i,
        World.manifest());
    judge(
        "observe-unmet",
        "it observes what a requirement would deny",
        "ALLOW",
        observing(World.policyRequiring("{ cel: 'size(params.source) > 3' }")));
    judge(
        "observe-escalate",
        "it observes what would wait for an approval",
        "ALLOW",
        observing(World.policyRequiring("{ approvals: { role: reviewer, count: 1 } }")));
    judge(
        "observe-rejected",
        "an approver's no is no rule",
        "DENY GRD-105",
        observing(World.policyRequiring("{ approvals: { role: reviewer, count: 1 } }")),
        _ -> {},
        approved(Approval.Verdict.REJECT, "rita"),
        World.manifest());
    judge(
        "observe-params",
        "params outside of the tool's schema are denied all the same",
        "DENY GRD-403",
        observing(World.policy()),
        r -> r.params = "{}",
        i -> i,
        World.manifest());
    judge(
        "observe-sandbox",
        "a sandbox that the role lacks, and the tool has",
        "ALLOW",
        observing(World.policy()),
        r -> r.sandbox = "other",
        i -> i,
        World.manifest());
  }

  private void proof() {
    judge("allow", "all four checks pass", "ALLOW", World.policy());
    judge(
        "prg-no-rule",
        "no requirement covers the operation",
        "DENY GRD-101",
        World.policy(),
        r -> r.operation = "lint",
        i -> i,
        World.manifest());
    judge(
        "prg-unmet",
        "the expression is false",
        "DENY GRD-102",
        World.policyRequiring("{ cel: 'size(params.source) > 3' }"));
    judge(
        "prg-unmet-message",
        "the expression is false; what the requirement says is in no decision",
        "DENY GRD-102",
        World.policyRequiring(
            "{ cel: 'size(params.source) > 3' }\n    message: Send a longer program."));
    judge(
        "prg-error",
        "a missing key is an error, whatever stands beside it",
        "DENY GRD-103",
        World.policyRequiring("{ cel: 'params.missing == 1 && false' }"));
    judge(
        "prg-error-below-none",
        "an error below none is no yes",
        "DENY GRD-103",
        World.policyRequiring("{ none: [ { cel: 'params.missing == 1 && false' } ] }"));
    judge(
        "prg-cost",
        "an expression that costs too much",
        "DENY GRD-103",
        World.policyRequiring(
            "{ cel: '[[1,1].map(x,[x,x,x,x,x,x,x,x])].map(x,[x,x,x,x,x,x,x,x])"
                + ".map(x,[x,x,x,x,x,x,x,x]).map(x,[x,x,x,x,x,x,x,x]).map(x,[x,x,x,x,x,x,x,x])"
                + ".map(x,[x,x,x,x,x,x,x,x]).map(x,[x,x,x,x,x,x,x,x]).size() == 1' }"));
    judge(
        "prg-escalate",
        "nothing but an approval is missing",
        "ESCALATE GRD-104",
        World.policyRequiring(
            "{ all: [ { cel: 'true' }, { approvals: { role: reviewer, count: 1 } } ] }"));
    judge(
        "prg-no-escalation-in-vain",
        "an approval could not help",
        "DENY GRD-102",
        World.policyRequiring(
            "{ all: [ { cel: 'false' }, { approvals: { role: reviewer, count: 1 } } ] }"));
    String two = "{ approvals: { role: reviewer, count: 2 } }";
    judge(
        "prg-approved",
        "two approvers",
        "ALLOW",
        World.policyRequiring(two),
        _ -> {},
        approved(Approval.Verdict.APPROVE, "rita", "roy"),
        World.manifest());
    judge(
        "prg-same-approver-twice",
        "one approver counts once",
        "ESCALATE GRD-104",
        World.policyRequiring(two),
        _ -> {},
        approved(Approval.Verdict.APPROVE, "rita", "rita"),
        World.manifest());
    judge(
        "prg-rejected",
        "a rejection is final",
        "DENY GRD-105",
        World.policyRequiring(two),
        _ -> {},
        approved(Approval.Verdict.REJECT, "rita"),
        World.manifest());
    judge(
        "prg-artifact-missing",
        "the artifact was not brought",
        "DENY GRD-102",
        World.policyRequiring(
            "{ artifact: { type: application/vnd.example.report+json, role: attestor } }"));
  }

  private static Policy withBudget(String line) {
    return World.policy(World.POLICY.replace("requirements:", "  - " + line + "\nrequirements:"));
  }

  private static final String PY =
      World.POLICY
          .replace(
              "stage: active }",
              "stage: active }\n  - { name: py, version: 1.0.0, package: \"PACKAGE\" }")
          .replace(
              "  - effect: { tool: js, operation: eval }",
              "  - effect: { tool: py }\n"
                  + "    require: { cel: 'true' }\n"
                  + "  - effect: { tool: js, operation: eval }");

  private void budget() {
    judge(
        "budget-last",
        "the last of the budget",
        "ALLOW",
        World.policy(),
        _ -> {},
        balance(998, 1),
        World.manifest());
    judge(
        "budget-exhausted",
        "what is reserved counts as taken",
        "DENY GRD-201",
        World.policy(),
        _ -> {},
        balance(998, 2),
        World.manifest());
    judge(
        "budget-cpu-ceiling",
        "the declared ceiling does not fit",
        "DENY GRD-201",
        withBudget("{ name: cpu, scope: tenant, unit: cpu_ms, limit: 999, window_s: 60 }"));
    judge(
        "budget-unknown",
        "the balance was not recorded",
        "DENY GRD-202",
        World.policy(),
        _ -> {},
        i -> with(i, List.of(), i.rates(), false, i.approvals(), i.history()),
        World.manifest());
    judge(
        "budget-other-window",
        "the balance is of another window",
        "DENY GRD-202",
        World.policy(),
        _ -> {},
        i ->
            with(
                i,
                i.balances().stream()
                    .map(b ->
                        new JudgeInputs.Balance(
                            b.budget(),
                            b.key(),
                            b.windowStart().minusSeconds(86_400),
                            0,
                            0,
                            b.limit()))
                    .toList(),
                i.rates(),
                false,
                i.approvals(),
                i.history()),
        World.manifest());
    judge(
        "budget-none",
        "no calls budget covers the tool",
        "DENY GRD-203",
        World.policy(PY.replace("window_s: 86400 }", "window_s: 86400, match: { tool: js } }")),
        r -> r.tool = "py",
        i -> i,
        World.manifest());
    judge(
        "budget-no-price",
        "a cost budget covers a tool without a price",
        "DENY GRD-204",
        World.policy(
            PY.replace(
                "requirements:",
                "  - { name: cost, scope: tenant, unit: cost, limit: 10, window_s: 60 }\n"
                    + "prices: { js: 5 }\n"
                    + "requirements:")),
        r -> r.tool = "py",
        i -> i,
        World.manifest());
  }

  private static UnaryOperator<JudgeInputs> balance(long used, long reserved) {
    return i ->
        with(
            i,
            i.balances().stream()
                .map(b ->
                    new JudgeInputs.Balance(
                        b.budget(), b.key(), b.windowStart(), used, reserved, b.limit()))
                .toList(),
            i.rates(),
            i.nonceSeen(),
            i.approvals(),
            i.history());
  }

  private static Policy withTemporal(String line) {
    return World.policy(
        World.POLICY.replace("requirements:", "temporal:\n  " + line + "\nrequirements:"));
  }

  private void temporal() {
    judge(
        "temporal-age",
        "under another policy it was too old when received",
        "DENY GRD-301",
        World.policy(World.POLICY.replace("request_age_max_s: 300", "request_age_max_s: 10")),
        r -> r.at = World.NOW.minusMillis(10_001),
        i -> i,
        World.manifest());
    String hours = "hours: [ { days: [DAY], from: \"FROM\", to: \"TO\", offset: \"+00:00\" } ]";
    judge(
        "temporal-hours",
        "the minute after",
        "DENY GRD-302",
        withTemporal(hours.replace("DAY", "sat").replace("FROM", "08:00").replace("TO", "12:00")));
    judge(
        "temporal-hours-edge",
        "the first minute",
        "ALLOW",
        withTemporal(hours.replace("DAY", "sat").replace("FROM", "12:00").replace("TO", "12:01")));
    judge(
        "temporal-hours-day",
        "another day",
        "DENY GRD-302",
        withTemporal(hours.replace("DAY", "sun").replace("FROM", "00:00").replace("TO", "24:00")));
    Policy rate = withTemporal("rates: [ { name: burst, scope: subject, limit: 2, per_s: 10 } ]");
    judge(
        "temporal-rate",
        "the third within the span",
        "DENY GRD-303",
        rate,
        _ -> {},
        count(2),
        World.manifest());
    judge(
        "temporal-rate-edge",
        "the second within the span",
        "ALLOW",
        rate,
        _ -> {},
        count(1),
        World.manifest());
    judge(
        "temporal-rate-unknown",
        "the count was not recorded",
        "DENY GRD-304",
        rate,
        _ -> {},
        i -> with(i, i.balances(), List.of(), false, i.approvals(), i.history()),
        World.manifest());
    Policy order =
        withTemporal(
            "order: [ { effect: { tool: js, operation: eval }, after: { tool: js, operation: lint }"
                + " } ]");
    judge("temporal-order", "the other effect did not come first", "DENY GRD-305", order);
    judge(
        "temporal-order-unknown",
        "the run's history was not recorded",
        "DENY GRD-306",
        order,
        _ -> {},
        i -> with(i, i.balances(), i.rates(), false, i.approvals(), List.of()),
        World.manifest());
    judge(
        "temporal-nonce",
        "the nonce had been used",
        "DENY GRD-307",
        World.policy(),
        _ -> {},
        i -> with(i, i.balances(), i.rates(), true, i.approvals(), i.history()),
        World.manifest());
    judge(
        "temporal-pending",
        "it waited a millisecond too long",
        "DENY GRD-308",
        World.policy(World.POLICY.replace("pending_max_s: 86400", "pending_max_s: 10")),
        r -> r.at = World.NOW.minusSeconds(11),
        i ->
            new JudgeInputs(
                i.time(),
                i.time().minusMillis(10_001),
                i.step(),
                i.charged(),
                i.roles(),
                i.balances(),
                i.rates(),
                false,
                i.approvals(),
                i.ignored(),
                i.artifacts(),
                i.history(),
                i.validUntil(),
                i.profile(),
                i.governed(),
                i.owner(),
                i.mandates()),
        World.manifest());
  }

  private static UnaryOperator<JudgeInputs> count(long count) {
    return i ->
        with(
            i,
            i.balances(),
            i.rates().stream()
                .map(r -> new JudgeInputs.RateCount(r.rate(), r.key(), count))
                .toList(),
            false,
            i.approvals(),
            i.history());
  }

  private void envelope() {
    Policy policy = World.policy();
    judge(
        "envelope-tool",
        "the manifest is of another package",
        "DENY GRD-401",
        policy,
        _ -> {},
        i -> i,
        World.manifest("{\"type\":\"object\"}"));
    judge(
        "envelope-operation",
        "the manifest has no such operation",
        "DENY GRD-402",
        World.policy(World.POLICY.replace("{ tool: js, operation: eval }", "{ tool: js }")),
        r -> r.operation = "run",
        i -> i,
        World.manifest());
    refused(
        "envelope-params",
        "an unknown param",
        "GRD-403",
        r -> r.params("{\"source\":\"1\",\"more\":1}"));
    refused(
        "envelope-params-type",
        "a param of another type",
        "GRD-403",
        r -> r.params("{\"source\":\"1\",\"n\":1.5}"));
    refused(
        "envelope-manifest-resources",
        "more than the tool may use",
        "GRD-404",
        r -> r.resources = new Resources(10_001, 1, 1, 1));
    judge(
        "envelope-role-tool",
        "no role may use the operation",
        "DENY GRD-405",
        World.policy(World.POLICY.replace("tools: [js]", "tools: [js/lint]")));
    refused(
        "envelope-role-resources",
        "more than the role may use",
        "GRD-406",
        r -> r.resources = new Resources(5_001, 1, 1, 1));
    refused(
        "envelope-sandbox-tool", "the tool cannot run there", "GRD-407", r -> r.sandbox = "none");
    refused(
        "envelope-sandbox-role", "the role may not run there", "GRD-407", r -> r.sandbox = "other");
    refused(
        "envelope-path-parent",
        "a path that leaves the root",
        "GRD-408",
        r -> r.params("{\"source\":\"1\",\"file\":\"data/../../etc/passwd\"}"));
    refused(
        "envelope-path-absolute",
        "an absolute path",
        "GRD-408",
        r -> r.params("{\"source\":\"1\",\"file\":\"/etc/passwd\"}"));
    refused(
        "envelope-path-sibling",
        "a directory whose name only begins alike",
        "GRD-408",
        r -> r.params("{\"source\":\"1\",\"file\":\"database/x\"}"));
    refused(
        "envelope-environment",
        "a variable that the role has not",
        "GRD-409",
        r -> r.params("{\"source\":\"1\",\"env\":{\"LANG\":\"C\",\"LD_PRELOAD\":\"x\"}}"));
    refused(
        "envelope-network",
        "a host that only ends alike",
        "GRD-410",
        r -> r.params("{\"source\":\"1\",\"url\":\"https://evilexample.com/\"}"));
    refused(
        "envelope-network-userinfo",
        "user information in the URL",
        "GRD-410",
        r -> r.params("{\"source\":\"1\",\"url\":\"https://api.example.org@evil.test/\"}"));
    refused(
        "envelope-network-port",
        "another port",
        "GRD-410",
        r -> r.params("{\"source\":\"1\",\"url\":\"http://api.example.org/\"}"));
    judge(
        "envelope-capabilities",
        "path, variable and host within the role",
        "ALLOW",
        policy,
        r ->
            r.params(
                "{\"source\":\"1\",\"file\":\"data/a.txt\",\"env\":{\"LANG\":\"C\"},"
                    + "\"url\":\"https://a.b.example.com/x?y=1\"}"),
        i -> i,
        World.manifest());
    refused(
        "envelope-workspace-unused",
        "it pins a workspace that the tool does not use",
        "GRD-411",
        r -> r.workspaceBefore = Optional.of(World.SNAPSHOT));
    grants();
    workspace("", "a reproducible tool must pin its workspace", Determinism.REPRODUCIBLE, false);
    workspace("-pure", "so must one that says it is pure", Determinism.PURE, false);
    workspace("-recorded", "what is recorded need not", Determinism.RECORDED, true);
  }

  private static final String GOVERNANCE =
      """
      governance:
        tools: [js]
        approvals: { tool-reviewer: 1 }
        approvers: { ada: [tool-reviewer] }
      """;

  /** A policy that does not list the tool and lets govern it. */
  private static final String GOVERNED =
      World.POLICY.replaceAll("(?m)^tools:\\n.*\\n", "tools: []\n") + GOVERNANCE;

  private void governed(
      String name, String reason, String expect, String yaml, Optional<GovernedTool> governed) {
    governed(name, reason, expect, yaml, governed, Optional.empty(), _ -> {});
  }

  private void governed(
      String name,
      String reason,
      String expect,
      String yaml,
      Optional<GovernedTool> governed,
      Optional<String> owner,
      Consumer<RequestBuilder> change) {
    judge(
        "governed-" + name,
        reason,
        expect,
        World.policy(yaml),
        change,
        i ->
            new JudgeInputs(
                i.time(),
                i.receivedAt(),
                i.step(),
                i.charged(),
                i.roles(),
                i.balances(),
                i.rates(),
                i.nonceSeen(),
                i.approvals(),
                i.ignored(),
                i.artifacts(),
                i.history(),
                i.validUntil(),
                i.profile(),
                governed,
                owner,
                i.mandates()),
        World.manifest());
  }

  private static Optional<GovernedTool> in(RolloutStage stage) {
    return Optional.of(
        new GovernedTool(World.manifest().packageDigest(), stage, Optional.empty(), false));
  }

  /** From before shares went by subjects. */
  private static Optional<GovernedTool> canary(int percent, String... tenants) {
    return canary(new Canary(List.of(tenants), percent, false));
  }

  private static Optional<GovernedTool> canary(Canary canary) {
    return Optional.of(
        new GovernedTool(
            World.manifest().packageDigest(), RolloutStage.CANARY, Optional.of(canary), false));
  }

  /** A share of subjects, which run names and shared runs do not get around. */
  private void shares() {
    String outside = "DENY GRD-416";
    Function<Integer, Optional<GovernedTool>> share =
        percent -> canary(new Canary(List.of(), percent, true));
    governed(
        "canary-by-subject-at-share",
        "the subject's place is not below the share",
        outside,
        GOVERNED,
        share.apply(SUBJECT_PLACE));
    governed(
        "canary-by-subject-above-share",
        "it is below, in whatever run",
        "ALLOW",
        GOVERNED,
        share.apply(SUBJECT_PLACE + 1),
        Optional.empty(),
        r -> r.run = "any-run");
    String shared =
        GOVERNED
            + "runs: { idle_max_s: 60, shared_by: [ { tenant: "
            + World.TENANT
            + ", everybody: true } ] }\n";
    Consumer<RequestBuilder> vouched =
        r -> {
          r.signer = World.SURFACE;
          r.origin = Optional.of(origin("mcp"));
        };
    governed(
        "canary-by-owner-above-share",
        "of a shared run it is the owner's place that is below",
        "ALLOW",
        shared,
        share.apply(LEAD_PLACE + 1),
        Optional.of("lead"),
        vouched);
    governed(
        "canary-by-owner-at-share",
        "the owner's place is not below the share, whose place is below that asks",
        outside,
        shared,
        share.apply(LEAD_PLACE),
        Optional.of("lead"),
        vouched);
  }

  /** The places of acme's researcher and lead among a hundred, for js 1.0.0. */
  private static final int SUBJECT_PLACE = 52;

  private static final int LEAD_PLACE = 59;

  /** The stage that governance had it in, as the inputs record it. */
  private void governance() {
    String outside = "DENY GRD-416";
    governed("active", "an active version", "ALLOW", GOVERNED, in(RolloutStage.ACTIVE));
    governed(
        "deprecated", "a deprecated one, by name", "ALLOW", GOVERNED, in(RolloutStage.DEPRECATED));
    governed("draft", "a draft runs for nobody", outside, GOVERNED, in(RolloutStage.DRAFT));
    governed("retired", "a retired version", outside, GOVERNED, in(RolloutStage.RETIRED));
    governed("canary-tenant", "a canary of the tenant", "ALLOW", GOVERNED, canary(0, "acme"));
    governed("canary-other", "a canary of another tenant", outside, GOVERNED, canary(0, "other"));
    int place = RUN_PLACE;
    governed(
        "canary-at-share",
        "the run's place is not below the share",
        outside,
        GOVERNED,
        canary(place));
    governed("canary-above-share", "it is below", "ALLOW", GOVERNED, canary(place + 1));
    governed(
        "revoked",
        "an active version that an operator prohibited",
        outside,
        GOVERNED,
        in(RolloutStage.ACTIVE).map(GovernedTool::asRevoked));
    governed("nobody", "nobody submitted it", "DENY GRD-401", GOVERNED, Optional.empty());
    governed(
        "another-package",
        "another package was submitted",
        "DENY GRD-401",
        GOVERNED,
        Optional.of(
            new GovernedTool(World.SNAPSHOT, RolloutStage.ACTIVE, Optional.empty(), false)));
    governed(
        "not-covered",
        "policy lets govern another tool",
        "DENY GRD-401",
        World.POLICY.replace("name: js, version: 1.0.0", "name: js, version: 1.1.0")
            + GOVERNANCE.replace("[js]", "[other]"),
        in(RolloutStage.ACTIVE));
    shares();
  }

  /** The place of acme's run-1 among a hundred, for js 1.0.0: worked out beside the code. */
  private static final int RUN_PLACE = 61;

  /** What may exist beside a tool: secrets, programs, the privileged profile, its own hosts. */
  private void grants() {
    String file = "{\"source\":\"1\",\"file\":\"token\"}";
    grant(
        "secret",
        "a secret that policy does not grant",
        "GRD-412",
        new ToolManifest.Capabilities(NO, NO, NO, NO, List.of("/file"), false),
        r -> r.params(file));
    grant(
        "command",
        "a program that the role has not",
        "GRD-413",
        new ToolManifest.Capabilities(NO, NO, NO, List.of("/file"), NO, false),
        r -> r.params(file));
    grant(
        "host",
        "the tool's own host is none of the role's",
        "GRD-410",
        new ToolManifest.Capabilities(NO, NO, NO, NO, NO, List.of("evil.test:443"), false),
        _ -> {});
    grant(
        "own-secret",
        "a secret of the tool's own that policy does not grant",
        "GRD-412",
        new ToolManifest.Capabilities(NO, NO, NO, NO, NO, NO, List.of("token"), false),
        _ -> {});
    grant(
        "privileged",
        "the privileged profile without an approval",
        "GRD-414",
        ToolManifest.Capabilities.none(),
        r -> r.sandbox = "privileged");
  }

  private void grant(
      String name,
      String reason,
      String code,
      ToolManifest.Capabilities capabilities,
      Consumer<RequestBuilder> change) {
    ToolManifest tool = World.manifest(capabilities, "other", "privileged", "wasm");
    String yaml = World.POLICY.replace("sandboxes: [wasm]", "sandboxes: [privileged, wasm]");
    judge(
        "envelope-grant-" + name,
        reason,
        "DENY " + code,
        World.policy(yaml, tool),
        change,
        i -> i,
        tool);
  }

  /** Feature flags of policy's section engine, by tenant, tool and the manifest's category. */
  private void flags() {
    String text = "{ tenant: acme, tool: js, category: text }";
    flag("off", "a flag switches it off", "DENY GRD-415", "{ match: {}, enabled: false }");
    flag(
        "off-for-all-three",
        "a flag that names tenant, tool and category",
        "DENY GRD-415",
        "{ match: " + text + ", enabled: false }");
    flag(
        "first-decides",
        "the first flag that matches switches it on",
        "ALLOW",
        "{ match: " + text + ", enabled: true }, { match: {}, enabled: false }");
    flag(
        "other-category",
        "a flag about another category",
        "ALLOW",
        "{ match: { category: image }, enabled: false }");
  }

  private void flag(String name, String reason, String expect, String flags) {
    ToolManifest m = World.manifest();
    ToolManifest tool =
        new ToolManifest(
            m.name(),
            m.version(),
            m.driver(),
            m.determinism(),
            m.operations(),
            m.capabilities(),
            m.resourcesMax(),
            m.sandboxes(),
            m.files(),
            Optional.of("text"),
            Optional.empty());
    judge(
        "envelope-flag-" + name,
        reason,
        expect,
        World.policy(World.POLICY + "engine: { flags: [" + flags + "] }\n", tool),
        _ -> {},
        i -> i,
        tool);
  }

  private void workspace(String name, String reason, Determinism determinism, boolean allowed) {
    ToolManifest workspace = workspaceTool(determinism);
    judge(
        "envelope-workspace-unpinned" + name,
        reason,
        allowed ? "ALLOW" : "DENY GRD-411",
        Policy.parse(
            World.POLICY
                .replace("PACKAGE", workspace.packageDigest().toString())
                .getBytes(StandardCharsets.UTF_8),
            "policy.yaml"),
        _ -> {},
        i -> i,
        workspace);
  }

  static ToolManifest workspaceTool(Determinism determinism) {
    ToolManifest m = World.manifest();
    return new ToolManifest(
        m.name(),
        m.version(),
        m.driver(),
        determinism,
        m.operations(),
        new ToolManifest.Capabilities(List.of(), List.of(), List.of(), true),
        m.resourcesMax(),
        m.sandboxes(),
        m.files());
  }

  private void refused(String name, String reason, String code, Consumer<RequestBuilder> change) {
    judge(name, reason, "DENY " + code, World.policy(), change, i -> i, World.manifest());
  }

  // ---- approvals

  private void approval(
      String name,
      String reason,
      String expect,
      Function<Admitted, Approval> change,
      SigningKey key,
      List<TrustedKey> keys,
      Policy policy) {
    Admitted a = World.request().admit(policy);
    add(
        name,
        reason,
        expect,
        "guardian.approval",
        JsonValue.object()
            .put("policy", policy.toJson())
            .putList("keys", keys, TrustedKey::toJson)
            .put("envelope", a.envelope().toJson())
            .put("approval", Envelope.sign(Approval.TYPE, change.apply(a).toJson(), key).toJson())
            .put("now", World.NOW));
  }

  private static Approval approves(Admitted a, Policy policy, String approver) {
    return new Approval(
        World.TENANT,
        approver,
        "reviewer",
        a.id(),
        a.request().effect().digest(),
        policy.digest(),
        Approval.Verdict.APPROVE,
        World.NOW,
        World.NOW.plusSeconds(60));
  }

  private static Approval change(
      Approval x, String role, Digest request, Digest policy, Instant expiresAt) {
    return new Approval(
        x.tenant(),
        x.approver(),
        role,
        request,
        x.effect(),
        policy,
        x.verdict(),
        x.approvedAt(),
        expiresAt);
  }

  private void reason(String name, String about, String expect, String reason, Policy policy) {
    approval(
        name,
        about,
        expect,
        a -> {
          Approval x = approves(a, policy, "rita");
          return new Approval(
              x.tenant(),
              x.approver(),
              x.role(),
              x.request(),
              x.effect(),
              x.policy(),
              x.verdict(),
              x.approvedAt(),
              x.expiresAt(),
              Optional.of(reason));
        },
        World.REVIEWER,
        World.keys(),
        policy);
  }

  private void approval() {
    Policy policy = World.policyRequiring("{ approvals: { role: reviewer, count: 1 } }");
    List<TrustedKey> keys = World.keys();
    approval(
        "approval-holds",
        "by an approver, for this request",
        "ok",
        a -> approves(a, policy, "rita"),
        World.REVIEWER,
        keys,
        policy);
    reason("approval-reason", "with a reason", "ok", "The report needs it.", policy);
    reason("approval-reason-longest", "1000 characters", "ok", "x".repeat(1000), policy);
    String refused = "CAN-023";
    reason("approval-reason-too-long", "1001 characters", refused, "x".repeat(1001), policy);
    reason("approval-reason-empty", "an empty reason", refused, "", policy);
    reason("approval-reason-of-spaces", "a reason of spaces", refused, "  ", policy);
    reason("approval-reason-of-two-lines", "two lines", refused, "yes\nno", policy);
    reason("approval-reason-turned", "text that turns", refused, "yes \u202e on", policy);
    reason("approval-reason-unseen", "a character without width", refused, "o\u200bk", policy);
    reason("approval-reason-marked", "a byte order mark", refused, "ok\ufeff", policy);
    reason("approval-reason-deleted", "a control character", refused, "ok\u007f", policy);
    reason("approval-reason-tag", "HTML is text", "ok", "<b onclick='x()'>ok</b>", policy);
    approval(
        "approval-other-request",
        "for another request",
        "GRD-610",
        a -> {
          Approval x = approves(a, policy, "rita");
          return change(x, x.role(), World.SNAPSHOT, x.policy(), x.expiresAt());
        },
        World.REVIEWER,
        keys,
        policy);
    approval(
        "approval-other-policy",
        "under another policy",
        "GRD-610",
        a -> {
          Approval x = approves(a, policy, "rita");
          return change(x, x.role(), x.request(), World.SNAPSHOT, x.expiresAt());
        },
        World.REVIEWER,
        keys,
        policy);
    approval(
        "approval-expired",
        "it ends now",
        "GRD-611",
        a -> {
          Approval x = approves(a, policy, "rita");
          return change(x, x.role(), x.request(), x.policy(), World.NOW);
        },
        World.REVIEWER,
        keys,
        policy);
    List<TrustedKey> selfKeys = new ArrayList<>(keys);
    SigningKey self = World.key("self");
    selfKeys.add(World.trusted(self, KeyRole.APPROVER, World.TENANT, World.SUBJECT));
    Policy selfPolicy =
        World.policy(
            World.POLICY + "  - { tenant: acme, subject: researcher, roles: [reviewer] }\n");
    approval(
        "approval-self",
        "the subject approves its own request with another key",
        "GRD-612",
        a -> approves(a, selfPolicy, World.SUBJECT),
        self,
        selfKeys,
        selfPolicy);
    approval(
        "approval-role",
        "a role that the approver does not hold",
        "GRD-613",
        a -> {
          Approval x = approves(a, policy, "rita");
          return change(x, "security", x.request(), x.policy(), x.expiresAt());
        },
        World.REVIEWER,
        keys,
        policy);
    approval(
        "approval-signer",
        "signed by another approver",
        "GRD-614",
        a -> approves(a, policy, "rita"),
        World.REVIEWER2,
        keys,
        policy);
  }

  // ---- accounts

  private void steps(String name, String reason, String expect, JsonValue.Obj... steps) {
    steps(name, reason, expect, World.policy(), World.manifest(), steps);
  }

  private void steps(
      String name,
      String reason,
      String expect,
      Policy policy,
      ToolManifest manifest,
      JsonValue.Obj... steps) {
    add(
        name,
        reason,
        expect,
        "guardian.accounts",
        JsonValue.object()
            .put("policy", policy.toJson())
            .putList("keys", World.keys(), TrustedKey::toJson)
            .put("manifest", manifest.toJson())
            .put("snapshot", World.SNAPSHOT)
            .put("steps", JsonValue.of(List.of(steps))));
  }

  private static ObjectBuilder step(RequestBuilder request, List<Envelope> evidence) {
    return JsonValue.object()
        .put("envelope", request.sign().toJson())
        .put("now", World.NOW)
        .put("approvals", JsonValue.of(List.of()))
        .putList("evidence", evidence, Envelope::toJson);
  }

  private void accounts() {
    steps(
        "accounts-same-request",
        "the same request may be judged again",
        "ALLOW",
        step(World.request(), List.of()).build(),
        step(World.request(), List.of()).build());
    steps(
        "accounts-nonce",
        "another request with the same nonce",
        "GRD-007",
        step(World.request(), List.of()).build(),
        step(World.request().params("{\"source\":\"2\"}"), List.of()).build());
    steps(
        "accounts-evidence",
        "a document that the request does not name",
        "GRD-010",
        step(
                World.request(),
                List.of(
                    Envelope.sign("application/vnd.example.report+json", JsonValue.TRUE, World.CI)))
            .build());
    steps(
        "accounts-settled",
        "what was served is not judged again",
        "GRD-011",
        step(World.request(), List.of()).put("settle_cpu_ms", 5).build(),
        step(World.request(), List.of()).build());
  }

  // ---- mandates

  private static final String PAYMENT = "{\"amount\":2000,\"payee\":\"shop\",\"source\":\"pay()\"}";

  /** Judgements on payments, each with these mandates. */
  private void paid(String name, String reason, String expect, JsonValue.Obj... steps) {
    Policy policy =
        World.policy(
            World.POLICY.replace(
                    "{ cel: 'size(params.source) < 20000' }",
                    "{ mandate: { issuers: [bank], vct: mandate.payment.open.1, payee: /payee,"
                        + " amount: /amount, currency: EUR } }")
                + TestMandate.policySection(),
            payingTool());
    steps("mandate-" + name, reason, expect, policy, payingTool(), steps);
  }

  /** The tool with params of any names. */
  private static ToolManifest payingTool() {
    ToolManifest m = World.manifest();
    ToolManifest.Operation eval = m.operations().getFirst();
    return new ToolManifest(
        m.name(),
        m.version(),
        m.driver(),
        m.determinism(),
        List.of(
            new ToolManifest.Operation(
                eval.name(),
                (JsonValue.Obj) World.json("{\"type\":\"object\"}"),
                Optional.empty(),
                "application/json")),
        m.capabilities(),
        m.resourcesMax(),
        m.sandboxes(),
        m.files());
  }

  private static JsonValue.Obj payment(String nonce, String params, TestMandate... mandates) {
    RequestBuilder request = World.request().params(params);
    request.nonce = nonce;
    List<Envelope> brought =
        Stream.of(mandates)
            .map(mandate -> mandate.envelope(request.request(), World.AGENT))
            .toList();
    request.evidence = brought.stream().map(Envelope::id).sorted().toList();
    return step(request, brought).build();
  }

  private static TestMandate mandate() {
    return TestMandate.open(World.NOW, text -> text);
  }

  private void mandates() {
    paid("good", "a payment that its mandate covers", "ALLOW", payment("n-1", PAYMENT, mandate()));
    paid(
        "form",
        "base64url with padding",
        "DENY GRD-620",
        payment("n-1", PAYMENT, mandate().sent(text -> text.replace(".", "=."))));
    paid(
        "issuer",
        "an issuer whom policy does not trust",
        "DENY GRD-621",
        payment(
            "n-1", PAYMENT, mandate().by("mallory", "{\"alg\":\"ES256\",\"typ\":\"a+sd-jwt\"}")));
    paid(
        "over",
        "a mandate that ended",
        "DENY GRD-622",
        payment("n-1", PAYMENT, TestMandate.open(World.NOW.minusSeconds(3600), text -> text)));
    paid(
        "disclosure",
        "a disclosure that nothing names",
        "DENY GRD-623",
        payment("n-1", PAYMENT, mandate().disclose("[\"s\",\"a\",1]")));
    paid(
        "binding",
        "a mandate that was bound to another request",
        "DENY GRD-624",
        payment(
            "n-1",
            PAYMENT,
            mandate()
                .binding(text -> text.replaceFirst("\"nonce\":\"[^\"]*\"", "\"nonce\":\"n-2\""))));
    paid(
        "limit",
        "a limit that is not kept here",
        "DENY GRD-625",
        payment(
            "n-1",
            PAYMENT,
            TestMandate.open(World.NOW, text -> text.replace("ON_DEMAND", "MONTHLY"))));
    paid("missing", "no mandate", "DENY GRD-626", payment("n-1", PAYMENT));
    paid(
        "payee",
        "a payee that was not disclosed",
        "DENY GRD-627",
        payment("n-1", PAYMENT.replace("shop", "smith"), mandate()));
    paid(
        "amount",
        "more than the mandate is for",
        "DENY GRD-628",
        payment("n-1", PAYMENT.replace("2000", "5001"), mandate()));
    paid(
        "spent",
        "more than is left of the mandate's total",
        "DENY GRD-629",
        payment("n-1", PAYMENT.replace("2000", "5000"), mandate()),
        payment("n-2", PAYMENT.replace("2000", "4001"), mandate()));
    paid(
        "left",
        "what is left of it",
        "ALLOW",
        payment("n-1", PAYMENT.replace("2000", "5000"), mandate()),
        payment("n-2", PAYMENT.replace("2000", "4000"), mandate()));
  }

  // ---- policy files

  private void policyFile(String name, String reason, String expect, String text) {
    add(
        name,
        reason,
        expect,
        "guardian.policy",
        JsonValue.object()
            .put("text", text.replace("PACKAGE", World.manifest().packageDigest().toString())));
  }

  private void policyFiles() {
    String good = World.POLICY;
    policyFile("policy-plain", "a whole policy", "ok", good);
    policyFile("policy-syntax", "a bracket that is never closed", "GRD-501", good + "revoked: [\n");
    policyFile(
        "policy-unknown-key",
        "a key that nobody knows",
        "GRD-502",
        good.replace("version: 3", "version: 3\nversoin: 4"));
    policyFile(
        "policy-unknown-nested-key",
        "a key that nobody knows, further down",
        "GRD-502",
        good.replace("window_s: 86400", "window_s: 86400, burst: 3"));
    policyFile(
        "policy-missing-key",
        "a ceiling is left out",
        "GRD-503",
        good.replace("cpu_ms: 5000, ", ""));
    policyFile(
        "policy-type",
        "a text where a number must be",
        "GRD-504",
        good.replace("version: 3", "version: \"3\""));
    policyFile(
        "policy-value",
        "a window of no length",
        "GRD-505",
        good.replace("window_s: 86400", "window_s: 0"));
    String declared =
        "    declared: { cpu_ms: %d, memory_bytes: 1048576, output_bytes: 1024, wall_ms: 1000 }\n";
    policyFile(
        "policy-role-declared",
        "a role declares the resources of callers who state none, up to its ceiling",
        "ok",
        good.replace(
            "    sandboxes: [wasm]\n", declared.formatted(5000) + "    sandboxes: [wasm]\n"));
    policyFile(
        "policy-role-declared-beyond",
        "a role declares more than its ceiling, by one",
        "GRD-505",
        good.replace(
            "    sandboxes: [wasm]\n", declared.formatted(5001) + "    sandboxes: [wasm]\n"));
    policyFile(
        "policy-message",
        "a requirement says what callers are told where it is not met",
        "ok",
        good.replace("20000' }", "20000' }\n    message: Send a shorter program."));
    policyFile(
        "policy-message-empty",
        "a message that says nothing",
        "GRD-505",
        good.replace("20000' }", "20000' }\n    message: \"\""));
    policyFile(
        "policy-message-turned",
        "a message that turns the direction of text",
        "GRD-505",
        good.replace("20000' }", "20000' }\n    message: \"a\\u202eb\""));
    policyFile(
        "policy-message-lines",
        "a message of two lines",
        "GRD-505",
        good.replace("20000' }", "20000' }\n    message: \"a\\nb\""));
    policyFile(
        "policy-approvals-below-none",
        "approvals below none",
        "GRD-505",
        good.replace(
            "{ cel: 'size(params.source) < 20000' }",
            "{ none: [ { approvals: { role: reviewer, count: 1 } } ] }"));
    policyFile(
        "policy-duplicate-key",
        "a key twice",
        "GRD-506",
        good.replace("version: 3", "version: 3\nversion: 3"));
    policyFile(
        "policy-duplicate-principal",
        "a principal twice",
        "GRD-506",
        good.replace("subject: lead", "subject: owner"));
    policyFile(
        "policy-alias",
        "an alias",
        "GRD-507",
        good.replace("name: test", "name: &a test").replace("stage: active", "stage: *a"));
    policyFile("policy-tag", "a tag", "GRD-507", good.replace("name: test", "name: !!str test"));
    policyFile("policy-second-document", "a second document", "GRD-507", good + "---\na: 1\n");
    policyFile(
        "policy-deep",
        "nested too deeply",
        "GRD-508",
        "a: " + "[".repeat(60) + "]".repeat(60) + "\n");
    policyFile(
        "policy-cel-syntax",
        "an expression that does not parse",
        "GRD-509",
        good.replace("< 20000", "<"));
    policyFile(
        "policy-cel-type",
        "an expression that gives no bool",
        "GRD-509",
        good.replace("size(params.source) < 20000", "params.flag"));
    policyFile(
        "policy-cel-name",
        "a variable that there is not",
        "GRD-509",
        good.replace("params.source", "parms.source"));
    policyFile(
        "policy-cel-zone",
        "a time zone, whose rules change",
        "GRD-509",
        good.replace("size(params.source) < 20000", "time.getHours(\"Europe/Berlin\") == 1"));
    policyFile(
        "policy-role-undefined",
        "a role that is not defined",
        "GRD-510",
        good.replace("roles: [analyst]", "roles: [analist]"));
    policyFile(
        "policy-approver-nobody",
        "an approver role that nobody holds",
        "GRD-510",
        good.replace(
            "{ cel: 'size(params.source) < 20000' }",
            "{ approvals: { role: security, count: 1 } }"));
    policyFile(
        "policy-no-budget",
        "no calls budget",
        "GRD-511",
        good.replace("unit: calls", "unit: cpu_ms"));
    policyFile(
        "policy-unlimited",
        "no limit, written",
        "ok",
        good.replace("limit: 1000", "limit: unlimited"));
    governanceSections();
    TreeMap<String, JsonValue> members = new TreeMap<>(World.policy().toJson().members());
    members.remove("execute_for");
    add(
        "policy-not-canonical",
        "a default is left out of the canonical form",
        "GRD-512",
        "guardian.policy-canonical",
        JsonValue.object().put("document", new JsonValue.Obj(members)));
    add(
        "tool-unknown",
        "a version that policy does not approve",
        "GRD-009",
        "guardian.tool",
        JsonValue.object()
            .put("policy", World.policy().toJson())
            .put("name", "js")
            .put("version", "2.0.0"));
  }

  private void governanceSections() {
    policyFile("policy-governance", "a tool that governance may bring", "ok", GOVERNED);
    policyFile(
        "policy-governance-whole",
        "with runtimes and a ceiling",
        "ok",
        GOVERNED
            + """
              runtimes: true
              ceiling: { languages: [wasm, python], workspace: true, network: ["*.example.com:443"], spawn: false, resource_class: medium }
            """);
    policyFile(
        "policy-governance-pattern",
        "a star within a name",
        "GRD-505",
        GOVERNED.replace("tools: [js]\n  approvals", "tools: [\"j*s\", js]\n  approvals"));
    policyFile(
        "policy-governance-nobody",
        "fewer hold the role than it asks for",
        "GRD-510",
        GOVERNED.replace("tool-reviewer: 1", "tool-reviewer: 2"));
    policyFile(
        "policy-governance-none",
        "no approval at all",
        "GRD-505",
        GOVERNED.replace("{ tool-reviewer: 1 }", "{}"));
    policyFile(
        "policy-governance-zero",
        "a role of which none is asked",
        "GRD-505",
        GOVERNED.replace("tool-reviewer: 1", "tool-reviewer: 0"));
    policyFile(
        "policy-governance-uncovered",
        "a role names a tool that is neither listed nor covered",
        "GRD-510",
        GOVERNED.replace("tools: [js]\n  approvals", "tools: [other]\n  approvals"));
    policyFile(
        "policy-governance-uncounted",
        "no budget in calls covers a tool that governance may bring",
        "GRD-511",
        GOVERNED.replace("unit: calls", "unit: cpu_ms"));
    policyFile(
        "policy-governance-class",
        "a resource class that there is not",
        "GRD-505",
        GOVERNED
            + "  ceiling: { languages: [], workspace: true, network: [], spawn: false,"
            + " resource_class: huge }\n");
    policyFile(
        "policy-governance-libraries",
        "libraries and secrets that a package may have",
        "ok",
        GOVERNED
            + LIBRARIES.formatted(LIBRARY, "")
            + "  ceiling: { languages: [], workspace: true, network: [], spawn: false,"
            + " secrets: [billing], resource_class: small }\n");
    policyFile(
        "policy-governance-library-twice",
        "a library that is listed twice",
        "GRD-505",
        GOVERNED + LIBRARIES.formatted(LIBRARY, ", " + LIBRARY));
    policyFile(
        "policy-class-limits",
        "a class that limits artifacts, files and grace",
        "ok",
        World.POLICY + CLASS.formatted("artifacts: 0, tmp_bytes: 4096, grace_ms: 60000"));
    policyFile(
        "policy-class-limits-processes",
        "a class that limits processes and the size of a file",
        "ok",
        World.POLICY + CLASS.formatted("file_bytes: 1099511627776, pids: 4"));
    policyFile(
        "policy-class-limits-pids",
        "fewer processes than it takes to start one",
        "GRD-505",
        World.POLICY + CLASS.formatted("pids: 3"));
    policyFile(
        "policy-class-limits-range",
        "a grace of more than a minute",
        "GRD-505",
        World.POLICY + CLASS.formatted("grace_ms: 60001"));
  }

  private static final String LIBRARIES = "  libraries: [ %s%s ]\n";

  private static final String LIBRARY =
      "{ name: markdown, version: \"3.5\", digest:"
          + " \"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\" }";

  private static final String CLASS =
      "engine: { classes: { small: { cpu_ms: 1, memory_bytes: 1, output_bytes: 1, wall_ms: 1, %s }"
          + " } }\n";

  // ---- manifests and documents

  private void schema(String name, String reason, String expect, String schema) {
    add(
        name,
        reason,
        expect,
        "guardian.manifest",
        JsonValue.object().put("manifest", World.manifest(schema).toJson()));
  }

  private void manifests() {
    schema(
        "schema-plain",
        "references without a circle",
        "ok",
        "{\"$defs\":{\"a\":{\"type\":\"string\",\"pattern\":\"^[a-z]+$\"}},"
            + "\"properties\":{\"x\":{\"$ref\":\"#/$defs/a\"}}}");
    schema(
        "schema-remote",
        "a reference to elsewhere",
        "GRD-420",
        "{\"$ref\":\"https://example.org/schema.json\"}");
    schema(
        "schema-circle",
        "a reference to itself",
        "GRD-420",
        "{\"$defs\":{\"a\":{\"$ref\":\"#/$defs/a\"}},\"$ref\":\"#/$defs/a\"}");
    StringBuilder bomb = new StringBuilder("{\"$defs\":{\"a0\":true");
    for (int i = 1; i < 30; i++) {
      String ref = "{\"$ref\":\"#/$defs/a" + (i - 1) + "\"}";
      bomb.append(",\"a")
          .append(i)
          .append("\":{\"anyOf\":[")
          .append(ref)
          .append(',')
          .append(ref)
          .append("]}");
    }
    schema(
        "schema-bomb",
        "references that double thirty times",
        "GRD-420",
        bomb + "},\"$ref\":\"#/$defs/a29\"}");
    schema(
        "schema-pattern",
        "a pattern with a back reference",
        "GRD-420",
        "{\"properties\":{\"x\":{\"pattern\":\"(a)\\\\1\"}}}");
    schema("schema-keyword", "a misspelt keyword", "GRD-420", "{\"requierd\":[\"x\"]}");
    add(
        "output-unfit",
        "the output is a list",
        "GRD-421",
        "guardian.output",
        JsonValue.object()
            .put("manifest", World.manifest().toJson())
            .put("operation", "eval")
            .put("output", JsonValue.of(List.of())));
    add(
        "output-fits",
        "the output is an object, as the schema says",
        "ok",
        "guardian.output",
        JsonValue.object()
            .put("manifest", World.manifest().toJson())
            .put("operation", "eval")
            .put("output", JsonValue.object().build()));
    add(
        "policy-canonical",
        "a policy as the ledger holds it",
        "ok",
        "guardian.policy-canonical",
        JsonValue.object().put("document", World.policy().toJson()));
    add(
        "tool-known",
        "a tool that policy approves",
        "ok",
        "guardian.tool",
        JsonValue.object()
            .put("policy", World.policy().toJson())
            .put("name", "js")
            .put("version", "1.0.0"));
    document("request", World.request().request().toJson());
    document("delegation", World.delegation(World.OWNER, World.AGENT, 0).toJson());
    document("tool-manifest", World.manifest().toJson());
    TreeMap<String, JsonValue> members = new TreeMap<>(World.manifest().toJson().members());
    members.put("sandboxes", JsonValue.of(List.of(JsonValue.of("wasm"), JsonValue.of("other"))));
    add(
        "manifest-order",
        "a list that is not sorted",
        "GRD-001",
        "guardian.document",
        JsonValue.object()
            .put("type", "tool-manifest")
            .put("document", new JsonValue.Obj(members)));
  }

  private void document(String type, JsonValue.Obj document) {
    add(
        "document-" + type,
        "a " + type + ", whose id is its digest",
        "ok",
        "guardian.document",
        JsonValue.object().put("type", type).put("document", document));
    TreeMap<String, JsonValue> more = new TreeMap<>(document.members());
    more.put("more", JsonValue.TRUE);
    add(
        "document-" + type + "-more",
        "a " + type + " with a member that is not known",
        "CAN-021",
        "guardian.document",
        JsonValue.object().put("type", type).put("document", new JsonValue.Obj(more)));
  }

  /**
   * A vector as its file holds it.
   *
   * @param found what a policy's refusal says, with line and column; no part of conformance
   */
  static byte[] bytes(Vector vector, JsonValue.Obj expect, Optional<String> found) {
    return Jcs.write(
        JsonValue.object()
            .put("about", vector.about())
            .put("op", vector.op())
            .put("input", vector.input())
            .put("expect", expect)
            .putIfPresent("found", found, JsonValue::of)
            .build());
  }
}
