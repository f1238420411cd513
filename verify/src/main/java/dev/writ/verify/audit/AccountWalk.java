package dev.writ.verify.audit;

import static dev.writ.verify.error.AuditError.ROW;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.document.TenantDeparted;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.Accounts;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.limit.Rate;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.verify.audit.AccountSums.Account;
import dev.writ.verify.audit.AccountSums.Charge;
import dev.writ.verify.audit.AccountSums.Counter;
import dev.writ.verify.audit.AccountSums.Mark;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Adds up balances, rates and nonces over all runs, in the order of the steps that the decisions
 * record. Decisions arrive in the order of the log, which is almost that of the steps; one that
 * arrives early waits.
 *
 * <p>A walk <em>ahead</em> goes along with the first walk over the log, whose documents it shares,
 * and spares the second. It does not know what comes later, so it assumes that the log is sound,
 * that time never restarts, and that a step is missing for good when {@link #WAITING_MAX} later
 * ones came. Where one of these shows to be wrong it {@linkplain #holds does not hold}, and another
 * walk, which knows, is made instead; nothing that this one found is then looked at.
 */
final class AccountWalk {
  /** How many decisions a walk ahead keeps back for a missing step, or for their receipts. */
  static final int WAITING_MAX = 512;

  private final LedgerView ledger;
  private final Documents documents;
  private final Findings findings;
  private final TreeMap<Digest, Policy> policies;

  /** Those of the whole log; a walk ahead does not know them. */
  private final Optional<Steps> steps;

  private final Fates fates;
  private final AuditedAccounts accounts = new AuditedAccounts();
  private final AccountInputsCheck inputs;
  private final CarriedAccountsCheck carried;
  private final TreeMap<Long, JudgedStep> waiting = new TreeMap<>();
  private final ArrayDeque<Instant> restarts;
  private final TreeMap<Digest, Instant> ahead = new TreeMap<>();
  private final TreeMap<Digest, Instant> redated = new TreeMap<>();

  /** Fates of decisions that wait, by their receipts. */
  private final TreeMap<Digest, Fates.Fate> ends = new TreeMap<>();

  private final TreeSet<Digest> endless = new TreeSet<>();

  private final ArrayDeque<CarriedAccountsCheck.Departure> departures = new ArrayDeque<>();
  private Optional<Policy> inForce = Optional.empty();
  private boolean mistaken;
  private Optional<JudgedStep> last = Optional.empty();
  private long nextStep = 1;

  private AccountWalk(
      LedgerView ledger,
      Documents documents,
      TreeMap<Digest, Policy> policies,
      Optional<Steps> steps,
      List<Instant> restarts) {
    this.restarts = new ArrayDeque<>(restarts);
    this.ledger = ledger;
    this.findings = documents.findings();
    this.policies = policies;
    this.steps = steps;
    this.documents = documents;
    this.fates = new Fates(ledger, documents.source());
    this.inputs = new AccountInputsCheck(accounts, findings);
    this.carried = new CarriedAccountsCheck(accounts, findings);
  }

  /**
   * A walk that knows what the walk over the runs has found.
   *
   * @param documents those of the ledger, perhaps read ahead, and where problems are reported
   * @param steps those of all decisions
   * @param restarts times at which time restarts, in the order of the log
   */
  static AccountWalk knowing(
      LedgerView ledger,
      Documents documents,
      TreeMap<Digest, Policy> policies,
      Steps steps,
      List<Instant> restarts) {
    return new AccountWalk(ledger, documents, policies, Optional.of(steps), restarts);
  }

  /**
   * A walk ahead.
   *
   * @param documents shared with the walk over the runs, but for the findings
   * @param policies that were in force up to the event that it is at
   */
  static AccountWalk ahead(
      LedgerView ledger, Documents documents, TreeMap<Digest, Policy> policies) {
    return new AccountWalk(ledger, documents, policies, Optional.empty(), List.of());
  }

  /** Whether what a walk ahead assumed is true, and it found no problem. */
  boolean holds() {
    return !mistaken && findings.problemsTotal() == 0;
  }

  Findings findings() {
    return findings;
  }

  void event(Event event) {
    if (mistaken) {
      return;
    }
    if (last.isPresent()) {
      boolean itsIntent =
          event.kind().equals(EventKind.INTENT_ISSUED) && event.runId().equals(last.get().run());
      offer(itsIntent ? last.get().issuedAt(event.at()) : last.get());
      last = Optional.empty();
    }
    switch (event.kind()) {
      case EventKind.DECISION_MADE -> last = judged(event);
      case EventKind.RECEIPT_SIGNED -> ended(event);
      case EventKind.POLICY_ACTIVATED -> inForce = Optional.ofNullable(policies.get(event.body()));
      case EventKind.TENANT_DEPARTED, EventKind.TENANT_ARRIVED -> moved(event);
      default -> {
        // nothing that the accounts count
      }
    }
  }

  /**
   * What became of a decision that waits. The walk over the runs holds the receipt's bindings and
   * its row against the events, so this is what the rows would say.
   */
  private void ended(Event event) {
    if (endless.isEmpty()) {
      return;
    }
    try {
      Receipt receipt = documents.require(event.body(), Receipt.TYPE, Receipt::read);
      if (endless.remove(receipt.decision())) {
        ends.put(receipt.decision(), fates.ended(receipt));
        flush(false);
      }
    } catch (WritException | NoSuchElementException e) {
      mistaken = true; // the walk over the runs reports it
    }
  }

  /** The decision of an event; one that cannot be read is reported by the walk over the runs. */
  private Optional<JudgedStep> judged(Event event) {
    try {
      Decision decision = documents.require(event.body(), Decision.TYPE, Decision::read);
      Policy policy = policies.get(decision.policy());
      if (policy == null) {
        mistaken = steps.isEmpty(); // it may come into force later
        return Optional.empty();
      }
      return Optional.of(
          new JudgedStep(
              Findings.place(event),
              event.runId(),
              event.body(),
              decision,
              documents.require(decision.request(), Request.TYPE, Request::read),
              documents.inputs(event.body(), decision),
              policy,
              Optional.empty()));
    } catch (WritException | NoSuchElementException e) {
      mistaken = steps.isEmpty();
      return Optional.empty();
    }
  }

  private void offer(JudgedStep judged) {
    if (judged.inputs().step() < nextStep || waiting.containsKey(judged.inputs().step())) {
      mistaken = steps.isEmpty(); // perhaps it was taken for missing
      return; // a step twice, found before
    }
    waiting.put(judged.inputs().step(), judged);
    if (steps.isEmpty() && judged.decision().verdict() == Verdict.ALLOW) {
      endless.add(judged.id());
    }
    flush(false);
  }

  /** Processes waiting decisions, as long as no step of the log is missing before them. */
  private void flush(boolean all) {
    while (!waiting.isEmpty()) {
      long first = waiting.firstKey();
      if (!all && !isNext(first)) {
        return;
      }
      accounts.skip(first - nextStep);
      findings.gaps += first - nextStep;
      nextStep = first + 1;
      take(waiting.remove(first));
      departures();
    }
  }

  private boolean isNext(long first) {
    return steps
        .map(all -> all.next(nextStep) == first)
        .orElseGet(() ->
            waiting.size() > WAITING_MAX
                || first == nextStep && !endless.contains(waiting.get(first).id()));
  }

  /** One that cannot be read is reported by the walk over the runs. */
  private void moved(Event event) {
    if (steps.isEmpty()) {
      mistaken = true; // it does not know which steps there are before it
      return;
    }
    Policy policy = inForce.orElse(null);
    if (policy == null) {
      return;
    }
    try {
      TenantDeparted said =
          documents.require(event.body(), TenantDeparted.TYPE, TenantDeparted::read);
      if (event.kind().equals(EventKind.TENANT_ARRIVED)) {
        carried.arrive(event.body(), said, policy, event.at());
      } else {
        long lastStep = waiting.isEmpty() ? nextStep - 1 : waiting.lastKey();
        departures.add(
            new CarriedAccountsCheck.Departure(
                Findings.place(event), said, policy, event.at(), lastStep));
        departures();
      }
    } catch (WritException | NoSuchElementException e) {
      return;
    }
  }

  /** Looks at what was said of departures, as soon as every step before them was taken. */
  private void departures() {
    while (!departures.isEmpty() && departures.getFirst().lastStep() < nextStep) {
      carried.departed(departures.removeFirst());
    }
  }

  /** What arrived with tenants, by the documents that say it. */
  TreeMap<Digest, CarriedAccountsCheck.Arrival> arrivals() {
    return carried.arrivals();
  }

  void end() {
    last.ifPresent(this::offer);
    flush(true);
    departures();
    accounts.entries().forEach(this::requireRow);
  }

  private void requireRow(Digest request, AuditedEntry entry) {
    if (entry.rowUntil().isAfter(ledger.highWater())) {
      String key = Accounts.ROW_PREFIX + request.hex();
      findings.rows++;
      if (ledger.get(Tables.ACCOUNT, key).isEmpty()) {
        findings.problem(
            ROW, Findings.row(Tables.ACCOUNT, key), "no row", "a row, until " + entry.rowUntil());
      }
    }
  }

  /**
   * Time restarts at an earlier one. No work is in flight, and charges and counts at later times
   * count as made now, so that no window is spent twice.
   */
  void restart() {
    last.ifPresent(this::offer);
    last = Optional.empty();
    flush(true);
    Instant now = restarts.removeFirst();
    accounts.restart(now, carried.arrivals().keySet());
    carried.restart(now);
    ahead.forEach((decision, at) -> {
      if (at.isAfter(now)) {
        redated.put(decision, now);
      }
    });
    ahead.replaceAll((_, at) -> AuditedEntry.earlier(at, now));
  }

  /**
   * Decisions that are later than a restart of time, with the time that their charges and marks
   * have since.
   */
  TreeMap<Digest, Instant> redated() {
    return redated;
  }

  /** One step of the accounts, as {@link Accounts} takes it. */
  private void take(JudgedStep judged) {
    Instant time = judged.inputs().time();
    accounts.judgeUnder(judged.policy(), judged.inputs().step());
    inputs.nonce(judged);
    Optional<AuditedEntry> before = accounts.take(judged.decision().request());
    inputs.balances(judged);
    inputs.rates(judged);
    put(judged, before);
    judged.issuedAt().ifPresent(accounts::skippedBefore);
    accounts.judgedAt(time);
    // An entry stays for as long as a judgement may count it, even after a restart of time.
    accounts.expire(
        restarts.stream().reduce(accounts.latest().orElse(time), AuditedEntry::earlier));
  }

  private void put(JudgedStep judged, Optional<AuditedEntry> before) {
    Request request = judged.request();
    Instant time = judged.inputs().time();
    Policy policy = judged.policy();
    List<Charge> charges = new ArrayList<>();
    List<Mark> marks = new ArrayList<>();
    before.ifPresent(entry -> {
      boolean kept = entry.rowUntil().isAfter(accounts.latest().orElse(time));
      entry
          .marks()
          .forEach(mark -> marks.add(new Mark(mark.counter(), mark.at(), mark.sure() && kept)));
    });
    boolean isSettled = false;
    if (judged.decision().verdict() == Verdict.ALLOW) {
      endless.remove(judged.id());
      Fates.Fate fate =
          Optional.ofNullable(ends.remove(judged.id()))
              .orElseGet(() -> fates.of(judged.decision().request(), judged.id()));
      isSettled = fate.end() == Fates.End.SETTLED;
      for (AccountDue due : AccountDue.of(policy, request, judged.inputs())) {
        Budget budget = due.budget();
        charges.add(
            fate.charge(
                new Account(budget.name(), due.key(), budget.windowStart(time)),
                budget.unit(),
                due.amount()));
      }
      for (Rate rate : policy.rates().values()) {
        for (String key : judged.keys(rate)) {
          marks.add(new Mark(new Counter(rate.name(), key), time, true));
        }
      }
    }
    AuditedEntry entry = AuditedEntry.judged(policy, time, judged.nonce(), charges, marks);
    if (isSettled && restarts.isEmpty()) {
      // Nothing changes it any more, so its row can be looked for at once.
      accounts.addSettled(judged.decision().request(), entry, judged.inputs().step());
      requireRow(judged.decision().request(), entry);
    } else {
      accounts.add(judged.decision().request(), entry);
    }
    if (restarts.stream().anyMatch(time::isAfter)) {
      ahead.put(judged.id(), time);
    }
  }
}
