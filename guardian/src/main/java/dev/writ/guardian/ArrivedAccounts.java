package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.AccountEntry.Charge;
import dev.writ.guardian.AccountEntry.Mark;
import dev.writ.guardian.AccountEntry.State;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.limit.Rate;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Carries the accounts of a tenant from one cell's to another's (spec/cells.md, "Moving"). */
public final class ArrivedAccounts {
  /** No step of a judgement has this number. */
  private static final long STEP = 0;

  private final AccountTotals inMemory;
  private final AccountTotals folded;

  ArrivedAccounts(AccountTotals inMemory, AccountTotals folded) {
    this.inMemory = inMemory;
    this.folded = folded;
  }

  private record Account(String name, String key) implements Comparable<Account> {
    @Override
    public int compareTo(Account other) {
      int byName = name.compareTo(other.name);
      return byName != 0 ? byName : key.compareTo(other.key);
    }
  }

  /**
   * In place of the nonce of a request: nobody's nonce, which is a list of three.
   *
   * @param document the id of the document that says what arrived
   */
  public static String nonce(Digest document) {
    return new String(
        Jcs.write(JsonValue.of(List.of(JsonValue.of(document.toString())))),
        StandardCharsets.UTF_8);
  }

  CarriedAccounts held(String tenant, Instant at) {
    return new CarriedAccounts(
        amounts(tenant, at).entrySet().stream()
            .map(each ->
                new CarriedAccounts.Amount(
                    each.getKey().name(), each.getKey().key(), each.getValue()))
            .toList(),
        times(tenant, at).entrySet().stream()
            .map(each ->
                new CarriedAccounts.Use(each.getKey().name(), each.getKey().key(), each.getValue()))
            .toList());
  }

  private TreeMap<Account, Long> amounts(String tenant, Instant at) {
    Policy policy = folded.policy();
    TreeMap<Account, Long> all = new TreeMap<>();
    for (AccountTotals totals : List.of(inMemory, folded)) {
      for (AccountSummary.Sum sum : totals.sums()) {
        Budget budget = policy.budgets().get(sum.budget());
        long amount = sum.used() + sum.reserved();
        boolean isNow = sum.start() == budget.windowStart(at).getEpochSecond();
        if (isNow && amount > 0 && CarriedAccounts.isOf(tenant, sum.key())) {
          all.merge(new Account(sum.budget(), sum.key()), amount, Long::sum);
        }
      }
    }
    return all;
  }

  private TreeMap<Account, List<Long>> times(String tenant, Instant at) {
    Policy policy = folded.policy();
    TreeMap<Account, List<Long>> all = new TreeMap<>();
    for (AccountTotals totals : List.of(inMemory, folded)) {
      for (AccountSummary.Uses uses : totals.uses()) {
        Rate rate = policy.rates().get(uses.rate());
        long since = rate.spanStart(at).toEpochMilli();
        if (CarriedAccounts.isOf(tenant, uses.key())) {
          uses.times().stream()
              .filter(time -> time > since)
              .forEach(time ->
                  all.computeIfAbsent(new Account(uses.rate(), uses.key()), _ -> new ArrayList<>())
                      .add(time));
        }
      }
    }
    all.values().forEach(list -> list.sort(null));
    return all;
  }

  /** The entry that has what arrived, less what is here already. */
  AccountEntry entry(Digest document, String tenant, CarriedAccounts carried, Instant at) {
    Map<Account, Long> here = amounts(tenant, at);
    List<Charge> charges = new ArrayList<>();
    for (CarriedAccounts.Amount amount : carried.amounts()) {
      long known = here.getOrDefault(new Account(amount.budget(), amount.key()), 0L);
      if (amount.amount() > known) {
        charges.add(new Charge(amount.budget(), amount.key(), amount.amount() - known));
      }
    }
    Map<Account, List<Long>> used = times(tenant, at);
    List<Mark> marks = new ArrayList<>();
    for (CarriedAccounts.Use use : carried.uses()) {
      TreeMap<Long, Long> known = new TreeMap<>();
      used.getOrDefault(new Account(use.rate(), use.key()), List.of())
          .forEach(time -> known.merge(time, 1L, Long::sum));
      for (Long time : use.times()) {
        if (known.merge(time, -1L, Long::sum) < 0) {
          marks.add(new Mark(use.rate(), use.key(), Instant.ofEpochMilli(time)));
        }
      }
    }
    return new AccountEntry(document, at, STEP, State.SETTLED, nonce(document), at, charges, marks);
  }
}
