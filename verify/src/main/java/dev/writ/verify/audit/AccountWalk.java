package dev.writ.verify.audit;

import static dev.writ.verify.error.AuditError.ACCOUNT;
import static dev.writ.verify.error.AuditError.ROW;
import static dev.writ.verify.error.AuditError.TWICE;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.document.TenantDeparted;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.Accounts;
import dev.writ.guardian.Admission;
import dev.writ.guardian.ArrivedAccounts;
import dev.writ.guardian.CarriedAccounts;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.limit.Rate;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.audit.AccountSums.Account;
import dev.writ.verify.audit.AccountSums.Bounds;
import dev.writ.verify.audit.AccountSums.Charge;
import dev.writ.verify.audit.AccountSums.Counter;
import dev.writ.verify.audit.AccountSums.Mark;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

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
  private final AccountSums sums = new AccountSums();
  private final AccountSums.Definitions definitions = new AccountSums.Definitions();
  private final AccountSums.Gaps gaps = new AccountSums.Gaps();
  private final TreeMap<Long, Judged> waiting = new TreeMap<>();
  private final TreeMap<Digest, Entry> entries = new TreeMap<>();
  private final TreeMap<String, Digest> nonces = new TreeMap<>();
  private final TreeMap<Instant, TreeSet<Digest>> expiries = new TreeMap<>();
  private final SettledEntries settled = new SettledEntries();
  private final ArrayDeque<Instant> restarts;
  private final TreeMap<Digest, Instant> ahead = new TreeMap<>();
  private final TreeMap<Digest, Instant> redated = new TreeMap<>();

  /** Fates of decisions that wait, by their receipts. */
  private final TreeMap<Digest, Fates.Fate> ends = new TreeMap<>();

  private final TreeSet<Digest> endless = new TreeSet<>();

  /** What arrived with tenants, by the documents that say it; a part of {@link #entries}. */
  private final TreeMap<Digest, Arrival> arrivals = new TreeMap<>();

  private final ArrayDeque<Departure> departures = new ArrayDeque<>();
  private Optional<Policy> inForce = Optional.empty();
  private boolean mistaken;
  private Optional<Judged> last = Optional.empty();
  private Optional<Instant> latest = Optional.empty();

  /** When a tenant came or left last: policies are in use then, too. */
  private Optional<Instant> lastMove = Optional.empty();

  private Optional<Digest> inUse = Optional.empty();
  private long nextStep = 1;

  /** A departure that waits until every step before it was taken. */
  private record Departure(
      String place, TenantDeparted said, Policy policy, Instant at, long lastStep) {}

  /**
   * What arrived with a tenant.
   *
   * @param charges what its row must have, within bounds
   * @param marksLeast how many uses of rates its row must have at least; at most all that arrived
   */
  record Arrival(TenantDeparted said, Instant at, List<Charge> charges, long marksLeast) {}

  /** A decision that waits for its step. */
  private record Judged(
      String place,
      RunId run,
      Digest id,
      Decision decision,
      Request request,
      JudgeInputs inputs,
      Policy policy,
      Optional<Instant> issuedAt) {
    Judged issuedAt(Instant at) {
      return new Judged(place, run, id, decision, request, inputs, policy, Optional.of(at));
    }
  }

  /**
   * The record of a request.
   *
   * @param at when it was last judged, or the restart of time since then, if that is earlier
   * @param nonceUntil until then another request with its nonce is certainly refused, by the
   *     shortest freshness window since
   * @param keptUntil until then it may be counted
   * @param rowUntil until then its row exists; a released reservation needs none for its windows
   */
  private record Entry(
      Policy policy,
      Instant at,
      String nonce,
      Instant nonceUntil,
      Instant keptUntil,
      Instant rowUntil,
      List<Charge> charges,
      List<Mark> marks) {
    Entry under(Policy inUse) {
      Instant until = AccountWalk.nonceUntil(inUse, at);
      return until.isBefore(nonceUntil)
          ? new Entry(policy, at, nonce, until, keptUntil, rowUntil, charges, marks)
          : this;
    }
  }

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
  private Optional<Judged> judged(Event event) {
    try {
      Decision decision = documents.require(event.body(), Decision.TYPE, Decision::read);
      Policy policy = policies.get(decision.policy());
      if (policy == null) {
        mistaken = steps.isEmpty(); // it may come into force later
        return Optional.empty();
      }
      return Optional.of(
          new Judged(
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

  private void offer(Judged judged) {
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
      gaps.add(first - nextStep);
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
        arrive(event.body(), said, policy, event.at());
      } else {
        long lastStep = waiting.isEmpty() ? nextStep - 1 : waiting.lastKey();
        departures.add(new Departure(Findings.place(event), said, policy, event.at(), lastStep));
        departures();
      }
    } catch (WritException | NoSuchElementException e) {
      return;
    }
  }

  /** Looks at what was said of departures, as soon as every step before them was taken. */
  private void departures() {
    while (!departures.isEmpty() && departures.getFirst().lastStep() < nextStep) {
      departed(departures.removeFirst());
    }
  }

  private void use(Policy policy) {
    Optional<Instant> now =
        latest.flatMap(l -> lastMove.filter(l::isBefore)).or(() -> latest).or(() -> lastMove);
    definitions.use(policy, now);
  }

  private void departed(Departure departure) {
    use(departure.policy());
    lastMove = Optional.of(departure.at());
    CarriedAccounts said = departure.said().accounts();
    Instant at = departure.said().departedAt();
    String tenant = departure.said().move().tenant();
    TreeMap<Account, Long> amounts = new TreeMap<>();
    here(departure.policy(), tenant, at).forEach(account -> amounts.put(account, 0L));
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
      if (definitions.holdsSince(budget, account.windowStart())) {
        carried(departure.place(), account, budget, amount);
      } else {
        findings.loose++;
      }
    });
    TreeMap<Counter, Long> counts = new TreeMap<>();
    for (AccountSums all : List.of(sums, settled.sums())) {
      all.counters().stream()
          .filter(counter -> CarriedAccounts.isOf(tenant, counter.key()))
          .forEach(counter -> counts.put(counter, 0L));
    }
    said.uses()
        .forEach(use -> counts.put(new Counter(use.rate(), use.key()), (long) use.times().size()));
    counts.forEach((counter, count) -> used(departure, counter, count, at));
  }

  private static Account account(Budget budget, String key, Instant at) {
    return new Account(budget.name(), key, budget.windowStart(at));
  }

  /** The accounts of a tenant that hold something in the windows of that time. */
  private List<Account> here(Policy policy, String tenant, Instant at) {
    return Stream.of(sums, settled.sums())
        .flatMap(all -> all.accounts().stream())
        .filter(account -> CarriedAccounts.isOf(tenant, account.key()))
        .filter(account -> {
          Budget budget = policy.budgets().get(account.budget());
          return budget != null && account.windowStart().equals(budget.windowStart(at));
        })
        .distinct()
        .toList();
  }

  private void carried(String place, Account account, Budget budget, long amount) {
    Bounds bounds = sums.bounds(account).plus(settled.bounds(account));
    long lost = gaps.since(account.windowStart());
    boolean calls = budget.unit() == Budget.Unit.CALLS;
    boolean open = bounds.unknown() > 0 || lost > 0 && !calls;
    long least = lost > 0 ? calls ? Math.max(0, bounds.least() - lost) : 0 : bounds.least();
    long most = open ? AccountSums.UNKNOWN : bounds.most() + lost;
    if (amount < least || amount > most) {
      findings.problem(
          ACCOUNT,
          place + " budget " + account.budget() + " " + account.key(),
          amount,
          range(least, most));
    }
    findings.balances++;
  }

  private void used(Departure departure, Counter counter, long count, Instant at) {
    Rate rate = departure.policy().rates().get(counter.rate());
    Instant start = rate == null ? at : rate.spanStart(at);
    if (rate != null && !definitions.holdsSince(rate, start)) {
      findings.loose++;
      return;
    }
    long all = sums.count(counter, start) + settled.count(counter, start);
    long least = all - sums.forgotten(counter, start) - settled.forgotten(counter, start);
    long most = all + gaps.since(start);
    if (rate == null ? count > 0 : count < least || count > most) {
      findings.problem(
          ACCOUNT,
          departure.place() + " rate " + counter.rate() + " " + counter.key(),
          count,
          range(least, most));
    }
    findings.rates++;
  }

  /**
   * The tenant's accounts hold from here on what those of its former cell held, less what these
   * hold already. Windows and uses that are over by then may be forgotten here, and count for
   * nothing: a row may have them or not.
   */
  private void arrive(Digest id, TenantDeparted said, Policy policy, Instant now) {
    use(policy);
    lastMove = Optional.of(now);
    Instant at = said.departedAt();
    List<Charge> charges = new ArrayList<>();
    for (CarriedAccounts.Amount amount : said.accounts().amounts()) {
      Budget budget = policy.budgets().get(amount.budget());
      if (budget != null) {
        Account account = account(budget, amount.key(), at);
        Bounds known = sums.bounds(account).plus(settled.bounds(account));
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
      TreeMap<Instant, Long> known = new TreeMap<>();
      for (AccountSums all : List.of(sums, settled.sums())) {
        all.uses(counter).forEach((time, times) -> known.merge(time, times, Long::sum));
      }
      for (Long ms : use.times()) {
        Instant time = Instant.ofEpochMilli(ms);
        if (known.merge(time, -1L, Long::sum) < 0) {
          marks.add(new Mark(counter, time, true));
          counting += rate != null && time.isAfter(rate.spanStart(now)) ? 1 : 0;
        }
      }
    }
    Instant keptUntil = KeptUntil.of(policy, at, charges, marks);
    add(
        id,
        new Entry(
            policy,
            at,
            ArrivedAccounts.nonce(id),
            nonceUntil(policy, at),
            keptUntil,
            rowOfArrivalUntil(policy, at, charges, marks),
            charges,
            marks));
    arrivals.put(id, new Arrival(said, at, charges, counting));
  }

  /** What arrived with tenants, by the documents that say it. */
  TreeMap<Digest, Arrival> arrivals() {
    return arrivals;
  }

  void end() {
    last.ifPresent(this::offer);
    flush(true);
    departures();
    entries.forEach(this::requireRow);
  }

  private void requireRow(Digest request, Entry entry) {
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
    new TreeMap<>(entries)
        .forEach((request, entry) -> {
          drop(request, entry);
          add(request, redated(entry, now, arrivals.containsKey(request)));
        });
    ahead.forEach((decision, at) -> {
      if (at.isAfter(now)) {
        redated.put(decision, now);
      }
    });
    ahead.replaceAll((_, at) -> earlier(at, now));
    arrivals.replaceAll((_, arrival) ->
        new Arrival(
            arrival.said(), earlier(arrival.at(), now), arrival.charges(), arrival.marksLeast()));
    definitions.restart(now);
    lastMove = lastMove.map(at -> earlier(at, now));
    gaps.restart(now);
    latest = Optional.of(now);
  }

  private static Entry redated(Entry entry, Instant now, boolean arrived) {
    Policy policy = entry.policy();
    Instant at = earlier(entry.at(), now);
    List<Charge> charges =
        entry.charges().stream()
            .map(charge -> {
              Account account = charge.account();
              Instant start = policy.budgets().get(account.budget()).windowStart(at);
              return new Charge(
                  new Account(account.budget(), account.key(), start),
                  charge.least(),
                  charge.most(),
                  charge.usedMost());
            })
            .toList();
    List<Mark> marks =
        entry.marks().stream()
            .map(mark -> new Mark(mark.counter(), earlier(mark.at(), now), mark.sure()))
            .toList();
    return new Entry(
        policy,
        at,
        entry.nonce(),
        at.plus(Duration.between(entry.at(), entry.nonceUntil())),
        KeptUntil.of(policy, at, charges, marks),
        arrived
            ? rowOfArrivalUntil(policy, at, charges, marks)
            : rowUntil(policy, at, charges, marks),
        charges,
        marks);
  }

  /** Where perhaps nothing had to be carried, there may be no row for it. */
  private static Instant rowOfArrivalUntil(
      Policy policy, Instant at, List<Charge> charges, List<Mark> marks) {
    return rowUntil(
        policy, at, charges.stream().filter(charge -> charge.least() > 0).toList(), marks);
  }

  /** A released reservation settles nothing, so its windows need no row. */
  private static Instant rowUntil(
      Policy policy, Instant at, List<Charge> charges, List<Mark> marks) {
    return KeptUntil.of(
        policy,
        at,
        charges.stream().filter(charge -> charge.usedMost() > 0).toList(),
        marks.stream().filter(Mark::sure).toList());
  }

  private static Instant earlier(Instant a, Instant b) {
    return a.isBefore(b) ? a : b;
  }

  /**
   * Decisions that are later than a restart of time, with the time that their charges and marks
   * have since.
   */
  TreeMap<Digest, Instant> redated() {
    return redated;
  }

  /** One step of the accounts, as {@link Accounts} takes it. */
  private void take(Judged judged) {
    Instant time = judged.inputs().time();
    use(judged.policy());
    if (!inUse.equals(Optional.of(judged.policy().digest()))) {
      inUse = Optional.of(judged.policy().digest());
      entries.replaceAll((_, entry) -> entry.under(judged.policy()));
      settled.under(judged.policy(), judged.inputs().step());
    }
    nonce(judged, time);
    Optional<Entry> before = Optional.ofNullable(entries.get(judged.decision().request()));
    before.ifPresent(entry -> drop(judged.decision().request(), entry));
    balances(judged);
    rates(judged);
    put(judged, before);
    judged.issuedAt().ifPresent(gaps::before);
    latest = latest.filter(l -> l.isAfter(time)).or(() -> Optional.of(time));
    expire(latest.get());
  }

  private void nonce(Judged judged, Instant time) {
    Request request = judged.request();
    String nonce = Tables.key(request.scope().tenant(), request.scope().subject(), request.nonce());
    Optional.ofNullable(nonces.get(nonce))
        .map(owner -> new SettledEntries.Taken(owner, entries.get(owner).nonceUntil()))
        .or(() -> settled.nonce(nonce))
        .filter(use -> !use.owner().equals(judged.decision().request()))
        .filter(use -> time.isBefore(use.until()))
        .ifPresent(use ->
            findings.problem(
                TWICE,
                judged.place() + " request's nonce",
                "used by " + use.owner() + " and " + judged.decision().request(),
                "one request until " + use.until()));
  }

  private void balances(Judged judged) {
    Request request = judged.request();
    List<Account> accounts = new ArrayList<>();
    List<Budget> budgets = new ArrayList<>();
    for (AccountDue due : AccountDue.of(judged.policy(), request, judged.inputs())) {
      Budget budget = due.budget();
      accounts.add(
          new Account(budget.name(), due.key(), budget.windowStart(judged.inputs().time())));
      budgets.add(budget);
    }
    List<JudgeInputs.Balance> recorded = judged.inputs().balances();
    List<Account> named =
        recorded.stream().map(b -> new Account(b.budget(), b.key(), b.windowStart())).toList();
    if (!named.equals(accounts)) {
      findings.problem(ACCOUNT, judged.place() + " /inputs/balances", named, accounts);
      return;
    }
    for (int i = 0; i < recorded.size(); i++) {
      String place = judged.place() + " /inputs/balances/" + i;
      findings.same(ACCOUNT, place + "/limit", recorded.get(i).limit(), budgets.get(i).limit());
      balance(place, judged, budgets.get(i), accounts.get(i), recorded.get(i));
    }
  }

  /**
   * Whether entries that are old enough to matter are certainly kept, and the judgement is not too
   * late.
   */
  private boolean comparable(Judged judged, boolean defined) {
    Instant time = judged.inputs().time();
    boolean late =
        latest.filter(l -> l.isAfter(time.plus(SystemStateHistory.IN_FLIGHT))).isPresent();
    if (late || !defined) {
      findings.loose++;
      return false;
    }
    return true;
  }

  private void balance(
      String place, Judged judged, Budget budget, Account account, JudgeInputs.Balance recorded) {
    if (!comparable(judged, definitions.holdsSince(budget, account.windowStart()))) {
      return;
    }
    Bounds bounds = sums.bounds(account).plus(settled.bounds(account));
    long lost = gaps.since(account.windowStart());
    boolean calls = budget.unit() == Budget.Unit.CALLS;
    boolean open = bounds.unknown() > 0 || lost > 0 && !calls;
    long more = lost > 0 && calls ? lost : 0;
    long least = lost > 0 ? calls ? Math.max(0, bounds.least() - lost) : 0 : bounds.least();
    long most = open ? AccountSums.UNKNOWN : bounds.most() + more;
    long usedMost = open ? AccountSums.UNKNOWN : bounds.usedMost() + more;
    long taken = recorded.used() + recorded.reserved();
    if (lost > 0 || least != most) {
      findings.loose++;
    }
    if (taken < least || taken > most) {
      findings.problem(
          ACCOUNT,
          place,
          "used " + recorded.used() + " and reserved " + recorded.reserved(),
          "together " + range(least, most));
    } else if (recorded.used() > usedMost) {
      findings.problem(ACCOUNT, place + "/used", recorded.used(), range(0, usedMost));
    }
    findings.balances++;
  }

  private static String range(long least, long most) {
    return least == most
        ? String.valueOf(least)
        : most >= AccountSums.UNKNOWN ? least + " or more" : least + " to " + most;
  }

  private void rates(Judged judged) {
    Request request = judged.request();
    List<Counter> counters = new ArrayList<>();
    List<Rate> rates = new ArrayList<>();
    for (Rate rate : judged.policy().rates().values()) {
      for (String key : keys(rate, judged.policy(), request, judged.inputs())) {
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
      if (comparable(judged, definitions.holdsSince(rates.get(i), start))) {
        Counter counter = counters.get(i);
        long all = sums.count(counter, start) + settled.count(counter, start);
        long least = all - sums.forgotten(counter, start) - settled.forgotten(counter, start);
        long most = all + gaps.since(start);
        long count = recorded.get(i).count();
        if (count < least || count > most) {
          findings.problem(
              ACCOUNT,
              judged.place() + " /inputs/rates/" + i + "/count",
              count,
              range(least, most));
        }
        findings.rates++;
      }
    }
  }

  private static List<String> keys(Rate rate, Policy policy, Request request, JudgeInputs inputs) {
    return policy.accountsOf(
        rate, request.scope().tenant(), inputs.charged(), request.effect().tool());
  }

  private void put(Judged judged, Optional<Entry> before) {
    Request request = judged.request();
    Instant time = judged.inputs().time();
    Policy policy = judged.policy();
    List<Charge> charges = new ArrayList<>();
    List<Mark> marks = new ArrayList<>();
    before.ifPresent(entry -> {
      boolean kept = entry.rowUntil().isAfter(latest.orElse(time));
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
        for (String key : keys(rate, policy, request, judged.inputs())) {
          marks.add(new Mark(new Counter(rate.name(), key), time, true));
        }
      }
    }
    Instant keptUntil = KeptUntil.of(policy, time, charges, marks);
    Entry entry =
        new Entry(
            policy,
            time,
            Tables.key(request.scope().tenant(), request.scope().subject(), request.nonce()),
            nonceUntil(policy, time),
            keptUntil,
            rowUntil(policy, time, charges, marks),
            charges,
            marks);
    if (isSettled && restarts.isEmpty()) {
      settle(judged.decision().request(), entry, judged.inputs().step());
    } else {
      add(judged.decision().request(), entry);
    }
    if (restarts.stream().anyMatch(time::isAfter)) {
      ahead.put(judged.id(), time);
    }
  }

  /** Nothing changes a settled entry any more, so its row can be looked for at once. */
  private void settle(Digest id, Entry entry, long step) {
    nonces.remove(entry.nonce());
    settled.add(
        id, entry.policy(), entry.at(), step, entry.nonce(), entry.charges(), entry.marks());
    requireRow(id, entry);
  }

  private void add(Digest id, Entry entry) {
    entries.put(id, entry);
    nonces.put(entry.nonce(), id);
    sums.add(entry.charges(), entry.marks(), 1);
    expiries.computeIfAbsent(entry.keptUntil(), _ -> new TreeSet<>()).add(id);
  }

  static Instant nonceUntil(Policy policy, Instant at) {
    return at.plusSeconds(policy.limits().requestAgeMaxS()).plus(Admission.SKEW);
  }

  static long amount(Policy policy, Budget budget, Effect effect) {
    return switch (budget.unit()) {
      case CALLS -> 1;
      case CPU_MS -> effect.resources().cpuMs();
      case COST -> policy.price(effect.tool(), effect.operation()).orElse(0L);
    };
  }

  private void drop(Digest id, Entry entry) {
    entries.remove(id);
    nonces.remove(entry.nonce(), id);
    sums.add(entry.charges(), entry.marks(), -1);
    TreeSet<Digest> same = expiries.get(entry.keptUntil());
    same.remove(id);
    if (same.isEmpty()) {
      expiries.remove(entry.keptUntil());
    }
  }

  /** Drops entries that no compared judgement can count any more, even after a restart of time. */
  private void expire(Instant latestTime) {
    Instant now = restarts.stream().reduce(latestTime, AccountWalk::earlier);
    Instant end = now.minus(SystemStateHistory.IN_FLIGHT);
    while (!expiries.isEmpty() && expiries.firstKey().isBefore(end)) {
      for (Digest id : List.copyOf(expiries.firstEntry().getValue())) {
        drop(id, entries.get(id));
      }
    }
    settled.forget(end);
    gaps.forget(now);
  }
}
