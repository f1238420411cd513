package dev.writ.verify.audit;

import static dev.writ.verify.error.AuditError.ACCOUNT;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.document.TenantDeparted;
import dev.writ.guardian.ArrivedAccounts;
import dev.writ.guardian.CarriedAccounts;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.limit.Rate;
import dev.writ.verify.audit.AccountSums.Account;
import dev.writ.verify.audit.AccountSums.Bounds;
import dev.writ.verify.audit.AccountSums.Charge;
import dev.writ.verify.audit.AccountSums.Counter;
import dev.writ.verify.audit.AccountSums.Mark;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * Compares what a cell states of the accounts of a tenant that leaves with what they hold, and adds
 * what arrives with a tenant.
 */
final class CarriedAccountsCheck {
  private final AuditedAccounts accounts;
  private final Findings findings;

  /** What arrived with tenants, by the documents that say it; a part of the accounts' entries. */
  private final TreeMap<Digest, Arrival> arrivals = new TreeMap<>();

  /** A departure that waits until every step before it was taken. */
  record Departure(String place, TenantDeparted said, Policy policy, Instant at, long lastStep) {}

  /**
   * What arrived with a tenant.
   *
   * @param charges what its row must have, within bounds
   * @param marksLeast how many uses of rates its row must have at least; at most all that arrived
   */
  record Arrival(TenantDeparted said, Instant at, List<Charge> charges, long marksLeast) {}

  CarriedAccountsCheck(AuditedAccounts accounts, Findings findings) {
    this.accounts = accounts;
    this.findings = findings;
  }

  /** What arrived with tenants, by the documents that say it. */
  TreeMap<Digest, Arrival> arrivals() {
    return arrivals;
  }

  /** Looks at what was said of a departure, once every step before it was taken. */
  void departed(Departure departure) {
    accounts.moved(departure.policy(), departure.at());
    CarriedAccounts said = departure.said().accounts();
    Instant at = departure.said().departedAt();
    String tenant = departure.said().move().tenant();
    TreeMap<Account, Long> amounts = new TreeMap<>();
    accounts
        .accountsOf(tenant, departure.policy(), at)
        .forEach(account -> amounts.put(account, 0L));
    for (CarriedAccounts.Amount amount : said.amounts()) {
      Budget budget = departure.policy().budgets().get(amount.budget());
      if (budget == null) {
        findings.problem(ACCOUNT, departure.place(), "budget " + amount.budget(), "no such budget");
        continue;
      }
      amounts.put(account(budget, amount.key(), at), amount.amount());
    }
    amounts.forEach((account, amount) -> {
      Budget budget = departure.policy().budgets().get(account.budget());
      if (accounts.holdsSince(budget, account.windowStart())) {
        carried(departure.place(), account, budget, amount);
      } else {
        findings.loose++;
      }
    });
    TreeMap<Counter, Long> counts = new TreeMap<>();
    accounts.countersOf(tenant).forEach(counter -> counts.put(counter, 0L));
    said.uses()
        .forEach(use -> counts.put(new Counter(use.rate(), use.key()), (long) use.times().size()));
    counts.forEach((counter, count) -> used(departure, counter, count, at));
  }

  private static Account account(Budget budget, String key, Instant at) {
    return new Account(budget.name(), key, budget.windowStart(at));
  }

  private void carried(String place, Account account, Budget budget, long amount) {
    AuditedAccounts.Range held = accounts.held(account, budget).taken();
    if (!held.has(amount)) {
      findings.problem(
          ACCOUNT,
          place + " budget " + account.budget() + " " + account.key(),
          amount,
          held.text());
    }
    findings.balances++;
  }

  private void used(Departure departure, Counter counter, long count, Instant at) {
    Rate rate = departure.policy().rates().get(counter.rate());
    Instant start = rate == null ? at : rate.spanStart(at);
    if (rate != null && !accounts.holdsSince(rate, start)) {
      findings.loose++;
      return;
    }
    AuditedAccounts.Range used = accounts.used(counter, start);
    if (rate == null ? count > 0 : !used.has(count)) {
      findings.problem(
          ACCOUNT,
          departure.place() + " rate " + counter.rate() + " " + counter.key(),
          count,
          used.text());
    }
    findings.rates++;
  }

  /**
   * The tenant's accounts hold from here on what those of its former cell held, less what these
   * hold already. Windows and uses that are over by then may be forgotten here, and count for
   * nothing: a row may have them or not.
   */
  void arrive(Digest id, TenantDeparted said, Policy policy, Instant now) {
    accounts.moved(policy, now);
    Instant at = said.departedAt();
    List<Charge> charges = new ArrayList<>();
    for (CarriedAccounts.Amount amount : said.accounts().amounts()) {
      Budget budget = policy.budgets().get(amount.budget());
      if (budget != null) {
        Account account = account(budget, amount.key(), at);
        Bounds known = accounts.bounds(account);
        long most = Math.max(0, amount.amount() - known.least());
        boolean isOpen = known.unknown() > 0 || !budget.windowEnd(at).isAfter(now);
        if (!budget.windowEnd(at).isAfter(now)) {
          most = amount.amount();
        }
        long least = isOpen ? 0 : Math.max(0, amount.amount() - known.most());
        charges.add(new Charge(account, least, most, most));
      }
    }
    List<Mark> marks = new ArrayList<>();
    long counting = 0;
    for (CarriedAccounts.Use use : said.accounts().uses()) {
      Rate rate = policy.rates().get(use.rate());
      Counter counter = new Counter(use.rate(), use.key());
      TreeMap<Instant, Long> known = accounts.uses(counter);
      for (Long ms : use.times()) {
        Instant time = Instant.ofEpochMilli(ms);
        if (known.merge(time, -1L, Long::sum) < 0) {
          marks.add(new Mark(counter, time, true));
          counting += rate != null && time.isAfter(rate.spanStart(now)) ? 1 : 0;
        }
      }
    }
    accounts.add(id, AuditedEntry.arrived(policy, at, ArrivedAccounts.nonce(id), charges, marks));
    arrivals.put(id, new Arrival(said, at, charges, counting));
  }

  /** Time restarts at an earlier one: what arrived later counts as having arrived now. */
  void restart(Instant now) {
    arrivals.replaceAll((_, arrival) ->
        new Arrival(
            arrival.said(),
            AuditedEntry.earlier(arrival.at(), now),
            arrival.charges(),
            arrival.marksLeast()));
  }
}
