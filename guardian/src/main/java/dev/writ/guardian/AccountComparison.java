package dev.writ.guardian;

import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.limit.Rate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Whether accounts hold all that others do: the same accounts, restored in another way.
 *
 * @param at the latest time in both
 */
record AccountComparison(Parts ours, Parts theirs, Instant at) {

  /** What accounts hold, of entries in memory and of those that they let go of. */
  record Parts(AccountTotals totals, AccountTotals folded, UsedNonces nonces) {
    long held(Budget budget, String key, Instant start) {
      JudgeInputs.Balance all =
          totals.balance(budget, key, start).plus(folded.balance(budget, key, start));
      return all.used() + all.reserved();
    }

    long counted(Rate rate, String key, Instant at) {
      return totals.count(rate, key, at).plus(folded.count(rate, key, at)).count();
    }
  }

  List<String> lacking() {
    List<String> places = new ArrayList<>();
    for (AccountTotals all : List.of(theirs.totals, theirs.folded)) {
      for (AccountSummary.Sum sum : all.sums()) {
        Budget budget = all.policy().budgets().get(sum.budget());
        Instant start = Instant.ofEpochSecond(sum.start());
        if (budget.windowEnd(start).isAfter(at)
            && ours.held(budget, sum.key(), start) < theirs.held(budget, sum.key(), start)) {
          places.add("budget " + sum.budget() + " " + sum.key());
        }
      }
      for (AccountSummary.Uses uses : all.uses()) {
        Rate rate = all.policy().rates().get(uses.rate());
        if (ours.counted(rate, uses.key(), at) < theirs.counted(rate, uses.key(), at)) {
          places.add("rate " + uses.rate() + " " + uses.key());
        }
      }
    }
    theirs.nonces.forEach((nonce, use) -> {
      boolean isFresh = theirs.totals.freshUntil(use.atMs()) > at.toEpochMilli();
      boolean isKnown =
          ours.nonces
              .find(nonce)
              .filter(known -> known.request().equals(use.request()))
              .isPresent();
      if (isFresh && !isKnown) {
        places.add("nonce of " + use.request());
      }
    });
    return places;
  }
}
