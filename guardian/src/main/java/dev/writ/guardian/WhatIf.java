package dev.writ.guardian;

import dev.writ.guardian.JudgeInputs.Balance;
import dev.writ.guardian.JudgeInputs.Ran;
import dev.writ.guardian.JudgeInputs.RateCount;
import dev.writ.guardian.JudgeInputs.SeenApproval;
import dev.writ.guardian.document.CheckOutcome;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.mandate.SeenMandate;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.limit.Rate;
import dev.writ.guardian.policy.mandate.MandateIssuer;
import dev.writ.guardian.policy.mandate.MandateTrust;
import dev.writ.guardian.policy.rule.EffectPattern;
import dev.writ.guardian.policy.rule.Order;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The inputs that a past judgement would have had under another policy. Recorded balances and
 * counts are used if that policy counts the same thing under the same name. Any other was not
 * recorded, so its state is UNKNOWN, not zero (protocol rule 6).
 */
public final class WhatIf {
  private WhatIf() {}

  /**
   * @param a the request as that policy admits it
   * @param then the policy that it was judged under
   * @param p the other policy
   * @param history the effects that had succeeded in the run by then
   */
  public static JudgeInputs inputs(
      Admitted a, Policy then, Policy p, JudgeInputs recorded, Circumstances.RunHistory history) {
    String tenant = a.request().scope().tenant();
    return new JudgeInputs(
        recorded.time(),
        recorded.receivedAt(),
        recorded.step(),
        a.charged(),
        p.rolesOf(tenant, a.request().scope().subject()),
        balances(a, then, p, recorded),
        rates(a, then, p, recorded),
        recorded.nonceSeen(),
        approvals(tenant, p, recorded),
        recorded.ignored(),
        recorded.artifacts(),
        history(a, p, history),
        recorded.validUntil(),
        recorded.profile(), // the raw request is not kept
        // Another policy may list the tool, or not govern it; the tool's recorded state is kept.
        recorded
            .governed()
            .filter(_ -> p.governs(a.request().effect().tool(), a.request().effect().version())),
        recorded.owner(),
        mandates(tenant, then, p, recorded));
  }

  /**
   * Those whose issuer is under both policies the same, and those that were refused where all of
   * the trust is; others were not verified for that policy. One that is bound to another audience
   * is refused by it.
   */
  private static List<SeenMandate> mandates(
      String tenant, Policy then, Policy p, JudgeInputs recorded) {
    boolean isSameAudience = audience(then).equals(audience(p));
    boolean isSameTrust = isSameAudience && issuers(then, tenant).equals(issuers(p, tenant));
    List<SeenMandate> counted = new ArrayList<>();
    for (SeenMandate seen : recorded.mandates()) {
      if (!(seen instanceof SeenMandate.Terms terms)) {
        if (isSameTrust) {
          counted.add(seen);
        }
      } else if (issuer(then, tenant, terms.issuer()).equals(issuer(p, tenant, terms.issuer()))) {
        counted.add(
            isSameAudience
                ? seen
                : new SeenMandate.Refused(seen.id(), GuardianError.MANDATE_BINDING.code()));
      }
    }
    return counted;
  }

  private static Optional<String> audience(Policy policy) {
    return policy.mandates().map(MandateTrust::audience);
  }

  private static List<MandateIssuer> issuers(Policy policy, String tenant) {
    return policy.mandates().map(trust -> trust.of(tenant)).orElse(List.of());
  }

  private static Optional<MandateIssuer> issuer(Policy policy, String tenant, String name) {
    return issuers(policy, tenant).stream().filter(i -> i.name().equals(name)).findFirst();
  }

  /**
   * The approvals that would count if they had been given under that policy, by approvers who may
   * approve under it.
   */
  private static List<SeenApproval> approvals(String tenant, Policy p, JudgeInputs recorded) {
    return recorded.approvals().stream()
        .filter(seen -> !p.revokes(seen.id()))
        .filter(seen -> p.approverRoles(tenant, seen.approver()).contains(seen.role()))
        .toList();
  }

  private static List<Balance> balances(Admitted a, Policy then, Policy p, JudgeInputs recorded) {
    List<Balance> balances = new ArrayList<>();
    for (Charges.Due due :
        Charges.dues(
            p,
            a.request(),
            a.charged(),
            mandates(a.request().scope().tenant(), then, p, recorded))) {
      Budget budget = due.budget();
      var start = budget.windowStart(recorded.time());
      Optional<Balance> same =
          countsTheSame(then, p, budget)
              ? recorded.balance(budget.name(), due.key(), start)
              : Optional.empty();
      if (same.isPresent() || budget.limit().isEmpty()) { // without a limit the balance is not used
        balances.add(
            new Balance(
                budget.name(),
                due.key(),
                start,
                same.map(Balance::used).orElse(0L),
                same.map(Balance::reserved).orElse(0L),
                budget.limit()));
      }
    }
    return balances;
  }

  /**
   * Whether two budgets count the same: only their limits may differ, and for costs the prices must
   * be equal.
   */
  private static boolean countsTheSame(Policy then, Policy p, Budget budget) {
    Budget before = then.budgets().get(budget.name());
    return before != null
        && before.scope() == budget.scope()
        && before.unit() == budget.unit()
        && before.windowS() == budget.windowS()
        && before.match().equals(budget.match())
        && (budget.unit() != Budget.Unit.COST || samePrices(then, p));
  }

  private static boolean samePrices(Policy then, Policy p) {
    return Objects.equals(then.toJson().get("prices"), p.toJson().get("prices"));
  }

  private static List<RateCount> rates(Admitted a, Policy then, Policy p, JudgeInputs recorded) {
    List<RateCount> rates = new ArrayList<>();
    for (Rate rate : p.rates().values()) {
      Rate before = then.rates().get(rate.name());
      boolean same =
          before != null
              && before.scope() == rate.scope()
              && before.perS() == rate.perS()
              && before.match().equals(rate.match());
      for (String key :
          p.accountsOf(
              rate, a.request().scope().tenant(), a.charged(), a.request().effect().tool())) {
        if (same) {
          recorded.rate(rate.name(), key).ifPresent(rates::add);
        }
      }
    }
    return rates;
  }

  private static List<Ran> history(Admitted a, Policy p, Circumstances.RunHistory history) {
    TreeMap<String, Ran> asked = new TreeMap<>();
    for (Order order : p.orders()) {
      if (order.effect().applies(a.request().effect().tool(), a.request().effect().operation())) {
        EffectPattern after = order.after();
        String operation = after.operation().orElseThrow();
        asked.put(
            after.tool() + "\u0000" + operation,
            new Ran(after.tool(), operation, history.succeeded(after.tool(), operation)));
      }
    }
    return List.copyOf(asked.values());
  }

  /** Whether a decision rests on state that is not known. */
  public static boolean isUnknown(Decision decision) {
    return decision
        .code()
        .filter(code ->
            code.equals(GuardianError.BUDGET_UNKNOWN.code())
                || code.equals(GuardianError.TEMPORAL_RATE_UNKNOWN.code())
                || code.equals(GuardianError.TEMPORAL_ORDER_UNKNOWN.code()))
        .isPresent();
  }

  /** The check that decided: the first that did not pass, or the last if all passed. */
  public static CheckOutcome deciding(Decision decision) {
    return decision.checks().stream()
        .filter(check -> check.outcome() != CheckOutcome.Outcome.PASS)
        .findFirst()
        .orElse(decision.checks().getLast());
  }

  /** The last check, which is the only one that reads the tool's manifest. */
  public static boolean restsOnTheTool(Decision decision) {
    return deciding(decision).check().equals(EnvelopeCheck.NAME);
  }
}
