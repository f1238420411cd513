package dev.writ.verify.audit;

import dev.writ.guardian.Admission;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.limit.Rate;
import dev.writ.verify.audit.AccountSums.Charge;
import dev.writ.verify.audit.AccountSums.Mark;
import java.time.Instant;
import java.util.List;

/** Computes until when the accounts must keep a request (spec/audit.md). */
final class KeptUntil {
  private KeptUntil() {}

  static Instant of(Policy policy, Instant at, List<Charge> charges, List<Mark> marks) {
    Instant until = at.plusSeconds(policy.limits().requestAgeMaxS()).plus(Admission.SKEW);
    for (Charge charge : charges) {
      Budget budget = policy.budgets().get(charge.account().budget());
      until = later(until, budget.windowEnd(at));
    }
    for (Mark mark : marks) {
      Rate rate = policy.rates().get(mark.counter().rate());
      until = rate == null ? until : later(until, mark.at().plusSeconds(rate.perS()));
    }
    return until.plus(SystemStateHistory.IN_FLIGHT);
  }

  private static Instant later(Instant a, Instant b) {
    return a.isAfter(b) ? a : b;
  }
}
