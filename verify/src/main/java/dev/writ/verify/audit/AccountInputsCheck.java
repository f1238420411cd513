package dev.writ.verify.audit;

import static dev.writ.verify.error.AuditError.ACCOUNT;
import static dev.writ.verify.error.AuditError.TWICE;

import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.limit.Rate;
import dev.writ.verify.audit.AccountSums.Account;
import dev.writ.verify.audit.AccountSums.Counter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Compares what a decision records of the accounts with what they hold: its nonce, its balances and
 * its rates.
 */
final class AccountInputsCheck {
  private final AuditedAccounts accounts;
  private final Findings findings;

  AccountInputsCheck(AuditedAccounts accounts, Findings findings) {
    this.accounts = accounts;
    this.findings = findings;
  }

  /** No other request may have taken the nonce. */
  void nonce(JudgedStep judged) {
    accounts
        .nonce(judged.nonce())
        .filter(use -> !use.owner().equals(judged.decision().request()))
        .filter(use -> judged.inputs().time().isBefore(use.until()))
        .ifPresent(use ->
            findings.problem(
                TWICE,
                judged.place() + " request's nonce",
                "used by " + use.owner() + " and " + judged.decision().request(),
                "one request until " + use.until()));
  }

  /** The balances are those of all accounts that the request is charged in, in their order. */
  void balances(JudgedStep judged) {
    Request request = judged.request();
    List<Account> charged = new ArrayList<>();
    List<Budget> budgets = new ArrayList<>();
    for (AccountDue due : AccountDue.of(judged.policy(), request, judged.inputs())) {
      Budget budget = due.budget();
      charged.add(
          new Account(budget.name(), due.key(), budget.windowStart(judged.inputs().time())));
      budgets.add(budget);
    }
    List<JudgeInputs.Balance> recorded = judged.inputs().balances();
    List<Account> named =
        recorded.stream().map(b -> new Account(b.budget(), b.key(), b.windowStart())).toList();
    if (!named.equals(charged)) {
      findings.problem(ACCOUNT, judged.place() + " /inputs/balances", named, charged);
      return;
    }
    for (int i = 0; i < recorded.size(); i++) {
      String place = judged.place() + " /inputs/balances/" + i;
      findings.same(ACCOUNT, place + "/limit", recorded.get(i).limit(), budgets.get(i).limit());
      balance(place, judged, budgets.get(i), charged.get(i), recorded.get(i));
    }
  }

  /**
   * Whether entries that are old enough to matter are certainly kept, and the judgement is not too
   * late.
   */
  private boolean comparable(JudgedStep judged, boolean defined) {
    Instant time = judged.inputs().time();
    boolean late =
        accounts
            .latest()
            .filter(l -> l.isAfter(time.plus(SystemStateHistory.IN_FLIGHT)))
            .isPresent();
    if (late || !defined) {
      findings.loose++;
      return false;
    }
    return true;
  }

  private void balance(
      String place,
      JudgedStep judged,
      Budget budget,
      Account account,
      JudgeInputs.Balance recorded) {
    if (!comparable(judged, accounts.holdsSince(budget, account.windowStart()))) {
      return;
    }
    AuditedAccounts.Held held = accounts.held(account, budget);
    if (!held.isExact()) {
      findings.loose++;
    }
    if (!held.taken().has(recorded.used() + recorded.reserved())) {
      findings.problem(
          ACCOUNT,
          place,
          "used " + recorded.used() + " and reserved " + recorded.reserved(),
          "together " + held.taken().text());
    } else if (recorded.used() > held.usedMost()) {
      findings.problem(
          ACCOUNT,
          place + "/used",
          recorded.used(),
          new AuditedAccounts.Range(0, held.usedMost()).text());
    }
    findings.balances++;
  }

  /** The rates are those of all counters in which the request counts, in their order. */
  void rates(JudgedStep judged) {
    List<Counter> counters = new ArrayList<>();
    List<Rate> rates = new ArrayList<>();
    for (Rate rate : judged.policy().rates().values()) {
      for (String key : judged.keys(rate)) {
        counters.add(new Counter(rate.name(), key));
        rates.add(rate);
      }
    }
    List<JudgeInputs.RateCount> recorded = judged.inputs().rates();
    List<Counter> named = recorded.stream().map(r -> new Counter(r.rate(), r.key())).toList();
    if (!named.equals(counters)) {
      findings.problem(ACCOUNT, judged.place() + " /inputs/rates", named, counters);
      return;
    }
    for (int i = 0; i < recorded.size(); i++) {
      Instant start = rates.get(i).spanStart(judged.inputs().time());
      if (comparable(judged, accounts.holdsSince(rates.get(i), start))) {
        Counter counter = counters.get(i);
        AuditedAccounts.Range used = accounts.used(counter, start);
        long count = recorded.get(i).count();
        if (!used.has(count)) {
          findings.problem(
              ACCOUNT, judged.place() + " /inputs/rates/" + i + "/count", count, used.text());
        }
        findings.rates++;
      }
    }
  }
}
