package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.mandate.SeenMandate;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.Role;
import dev.writ.guardian.policy.governance.GovernedTool;
import dev.writ.guardian.policy.limit.Rate;
import dev.writ.guardian.profile.Finding;
import dev.writ.guardian.profile.Profiles;
import dev.writ.guardian.yaml.Section;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;

/**
 * The request and the state of one case of a policy's tests. Everything that is not stated is zero
 * or false.
 */
record PolicyCase(Admitted admitted, JudgeInputs inputs) {

  /** The key that signs requests of cases; it is public and enrolled nowhere. */
  private static final SigningKey NOBODY =
      SigningKey.ed25519(
          Digest.sha256("writ policy test".getBytes(StandardCharsets.UTF_8)).bytes());

  static PolicyCase read(
      Section request,
      Section state,
      ToolRef tool,
      Optional<GovernedTool> governed,
      Policy policy) {
    Instant time = state.time("time");
    Instant receivedAt = state.optional("received_at", state::time).orElse(time);
    Admitted admitted = admitted(request, tool, receivedAt);
    List<JudgeInputs.SeenApproval> approvals =
        state.listOrNone("approvals", item -> approval(item.itemSection(), admitted, policy, time));
    List<JudgeInputs.SeenArtifact> artifacts =
        state.listOrNone("artifacts", item -> artifact(item.itemSection()));
    List<SeenMandate> mandates =
        state.listOrNone("mandates", item -> mandate(item.itemSection(), admitted, policy, time));
    JudgeInputs inputs =
        new JudgeInputs(
            time,
            receivedAt,
            0,
            admitted.charged(),
            policy.rolesOf(
                admitted.request().scope().tenant(), admitted.request().scope().subject()),
            balances(state, admitted, policy, mandates, time),
            rates(state, admitted, policy),
            state.optional("nonce_seen", state::bool).orElse(false),
            approvals,
            List.of(),
            artifacts,
            history(state, policy),
            Optional.empty(),
            Profiles.of(admitted.request()).map(Finding::accepted),
            governed,
            owner(state, admitted),
            mandates);
    state.end();
    return new PolicyCase(admitted, inputs);
  }

  private static Admitted admitted(Section section, ToolRef tool, Instant receivedAt) {
    Scope scope =
        new Scope(
            section.name("tenant"),
            section.optional("run", section::name).orElse("run"),
            section.name("subject"));
    Effect effect =
        new Effect(
            tool.name(),
            tool.version(),
            section.name("operation"),
            section.object("params"),
            section.listOrNone("inputs", item -> input(item.itemSection())),
            Role.resources(section.section("resources")),
            section.name("sandbox"),
            section.optional("workspace_before", section::digest));
    Request request =
        new Request(
            scope,
            effect,
            section.listOrNone("consumes", Section.Item::digest),
            Optional.empty(),
            section.optional("nonce", section::name).orElse("nonce"),
            section.optional("requested_at", section::time).orElse(receivedAt),
            "keep",
            JsonValue.object().build(),
            section.optional("surface", section::name).map(PolicyCase::vouched),
            section.listOrNone("evidence", Section.Item::digest),
            List.of());
    LinkedHashSet<String> charged = new LinkedHashSet<>();
    charged.add(scope.subject());
    charged.addAll(section.listOrNone("delegators", Section.Item::name));
    section.end();
    Envelope envelope = Envelope.sign(Request.TYPE, request.toJson(), NOBODY);
    TrustedKey holder =
        new TrustedKey(
            NOBODY.verifyingKey(),
            KeyRole.AGENT,
            Optional.of(scope.tenant()),
            scope.subject(),
            receivedAt,
            Optional.empty(),
            Optional.empty());
    return new Admitted(envelope, request, envelope.id(), holder, List.copyOf(charged), receivedAt);
  }

  private static Origin vouched(String surface) {
    return new Origin(surface, "bearer", "case", Digest.sha256(new byte[0]));
  }

  /** If the case does not state the owner, a surface vouches in a run of the subject's own. */
  private static Optional<String> owner(Section state, Admitted admitted) {
    Optional<String> stated = state.optional("owner", state::name);
    boolean vouched = admitted.request().origin().isPresent();
    state.require(
        "owner", vouched || stated.isEmpty(), "runs have owners where the request has a surface");
    return stated.or(() -> Optional.of(admitted.request().scope().subject()).filter(_ -> vouched));
  }

  private static Input input(Section section) {
    Input input =
        new Input(
            section.name("name"),
            section.digest("digest"),
            section.count("size"),
            section.name("media_type"));
    section.end();
    return input;
  }

  /** Refuses an approver who may not approve: a case that relies on one would prove nothing. */
  private static JudgeInputs.SeenApproval approval(
      Section section, Admitted admitted, Policy policy, Instant time) {
    String approver = section.name("approver");
    String role = section.name("role");
    section.require(
        "approver",
        policy.approverRoles(admitted.request().scope().tenant(), approver).contains(role)
            && !admitted.charged().contains(approver),
        approver + " may not approve this as " + role);
    Approval.Verdict verdict =
        section
            .optional(
                "verdict",
                key -> section.oneOf(key, List.of(Approval.Verdict.values()), v -> v.name()))
            .orElse(Approval.Verdict.APPROVE);
    section.end();
    return new JudgeInputs.SeenApproval(
        Digest.sha256((role + "\u0000" + approver).getBytes(StandardCharsets.UTF_8)),
        NOBODY.kid(),
        approver,
        role,
        verdict,
        time.plusSeconds(1));
  }

  private static JudgeInputs.SeenArtifact artifact(Section section) {
    String type = section.name("type");
    JudgeInputs.Signer signer =
        new JudgeInputs.Signer(
            NOBODY.kid(),
            section.oneOf("role", List.of(KeyRole.values()), KeyRole::text).text(),
            section.name("subject"));
    section.end();
    return new JudgeInputs.SeenArtifact(
        Digest.sha256(type.getBytes(StandardCharsets.UTF_8)), type, List.of(signer));
  }

  /**
   * Refuses an issuer whom policy does not trust: a case that relies on one would prove nothing.
   */
  private static SeenMandate mandate(
      Section section, Admitted admitted, Policy policy, Instant time) {
    String issuer = section.name("issuer");
    section.require(
        "issuer",
        policy
            .mandates()
            .filter(trust ->
                trust.of(admitted.request().scope().tenant()).stream()
                    .anyMatch(one -> one.name().equals(issuer)))
            .isPresent(),
        "policy trusts no mandates of " + issuer);
    Digest id = Digest.sha256(("mandate " + issuer).getBytes(StandardCharsets.UTF_8));
    SeenMandate.Terms terms =
        new SeenMandate.Terms(
            id,
            id,
            issuer,
            section.name("vct"),
            section.name("currency"),
            section.optional("amount_min", section::count),
            section.optional("amount_max", section::count),
            section.names("payees"),
            section.optional("total", section::count),
            section.optional("uses", section::count),
            time.plusSeconds(1));
    section.require(
        "amount_max",
        terms.most().or(terms::total).isPresent(),
        "a mandate has amount_max, total or both");
    section.end();
    return terms;
  }

  /** The accounts that the effect is charged to: those stated, the rest empty. */
  private static List<JudgeInputs.Balance> balances(
      Section state, Admitted a, Policy policy, List<SeenMandate> mandates, Instant time) {
    List<JudgeInputs.Balance> balances = new ArrayList<>();
    record Stated(String budget, Optional<String> key, long used, long reserved) {}
    List<Stated> stated =
        state.listOrNone(
            "balances",
            item -> {
              Section section = item.itemSection();
              String budget = section.name("budget");
              section.require("budget", policy.budgets().containsKey(budget), "no such budget");
              Stated one =
                  new Stated(
                      budget,
                      section.optional("key", section::text),
                      section.optional("used", section::count).orElse(0L),
                      section.optional("reserved", section::count).orElse(0L));
              section.end();
              return one;
            });
    for (Charges.Due due : Charges.dues(policy, a.request(), a.charged(), mandates)) {
      Optional<Stated> known =
          stated.stream()
              .filter(s -> s.budget.equals(due.budget().name()))
              .filter(s -> s.key.filter(k -> !k.equals(due.key())).isEmpty())
              .findFirst();
      balances.add(
          new JudgeInputs.Balance(
              due.budget().name(),
              due.key(),
              due.budget().windowStart(time),
              known.map(s -> s.used).orElse(0L),
              known.map(s -> s.reserved).orElse(0L),
              due.budget().limit()));
    }
    return balances;
  }

  private static List<JudgeInputs.RateCount> rates(Section state, Admitted a, Policy policy) {
    record Stated(String rate, long count) {}
    List<Stated> stated =
        state.listOrNone(
            "rates",
            item -> {
              Section section = item.itemSection();
              String rate = section.name("rate");
              section.require("rate", policy.rates().containsKey(rate), "no such rate");
              Stated one = new Stated(rate, section.count("count"));
              section.end();
              return one;
            });
    List<JudgeInputs.RateCount> counts = new ArrayList<>();
    for (Rate rate : policy.rates().values()) {
      long count =
          stated.stream()
              .filter(s -> s.rate.equals(rate.name()))
              .mapToLong(Stated::count)
              .findFirst()
              .orElse(0);
      policy
          .accountsOf(rate, a.request().scope().tenant(), a.charged(), a.request().effect().tool())
          .forEach(key -> counts.add(new JudgeInputs.RateCount(rate.name(), key, count)));
    }
    return counts;
  }

  private static List<JudgeInputs.Ran> history(Section state, Policy policy) {
    List<String> succeeded =
        state.listOrNone(
            "succeeded",
            item -> {
              Section section = item.itemSection();
              String ran = section.name("tool") + "\u0000" + section.name("operation");
              section.end();
              return ran;
            });
    return policy.orders().stream()
        .map(order -> order.after())
        .distinct()
        .map(after -> {
          String operation = after.operation().orElseThrow();
          return new JudgeInputs.Ran(
              after.tool(), operation, succeeded.contains(after.tool() + "\u0000" + operation));
        })
        .toList();
  }
}
