package dev.writ.verify.audit;

import static dev.writ.verify.error.AuditError.ROW;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.Accounts;
import dev.writ.guardian.ArrivedAccounts;
import dev.writ.guardian.CarriedAccounts;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.limit.Rate;
import dev.writ.ledger.LedgerView;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.TreeMap;

/** Recomputes, from documents, the rows with which the accounts begin at the next start. */
final class AccountRows {
  private final LedgerView ledger;
  private final Findings findings;
  private final TreeMap<Digest, Policy> policies;
  private final TreeMap<Digest, Instant> redated;
  private final TreeMap<Digest, CarriedAccountsCheck.Arrival> arrivals;
  private final Fates fates;

  /** A row, as the accounts write it. */
  private record Row(
      Instant at,
      long step,
      String state,
      String nonce,
      Instant keptUntil,
      JsonValue charges,
      List<JsonValue> marks) {
    static Row parse(byte[] row) {
      Fields fields = Fields.of("account", Jcs.parseCanonical(row, Limits.DEFAULT));
      Row read =
          new Row(
              fields.time("at"),
              fields.count("step"),
              fields.name("state"),
              fields.string("nonce"),
              fields.time("kept_until"),
              fields.value("charges"),
              fields.list("marks", (_, value) -> value));
      fields.end();
      return read;
    }
  }

  /**
   * @param redated decisions that are later than a restart of time, with the time that their
   *     charges have since
   * @param arrivals what arrived with tenants, by the documents that say it
   */
  AccountRows(
      LedgerView ledger,
      Findings findings,
      TreeMap<Digest, Policy> policies,
      TreeMap<Digest, Instant> redated,
      TreeMap<Digest, CarriedAccountsCheck.Arrival> arrivals) {
    this.arrivals = arrivals;
    this.redated = redated;
    this.ledger = ledger;
    this.findings = findings;
    this.policies = policies;
    this.fates = new Fates(ledger, ledger);
  }

  void check() {
    ledger.scan(
        Tables.ACCOUNT,
        "",
        (key, value) -> {
          findings.rows++;
          String place = Findings.row(Tables.ACCOUNT, key);
          try {
            Digest request = Digest.parse("sha256:" + key.substring(Accounts.ROW_PREFIX.length()));
            CarriedAccountsCheck.Arrival arrival = arrivals.get(request);
            if (arrival == null) {
              check(place, request, Row.parse(value));
            } else {
              arrived(place, request, Row.parse(value), arrival);
            }
          } catch (WritException | NoSuchElementException | IndexOutOfBoundsException e) {
            findings.problem(ROW, place, e, "the row of a judged request");
          }
          return true;
        });
  }

  /** The row with which the accounts of a tenant begin that was moved here. */
  private void arrived(String place, Digest id, Row row, CarriedAccountsCheck.Arrival arrival) {
    findings.same(ROW, place + " /at", row.at(), arrival.at());
    findings.same(ROW, place + " /step", row.step(), 0L);
    findings.same(ROW, place + " /state", row.state(), "settled");
    findings.same(ROW, place + " /nonce", row.nonce(), ArrivedAccounts.nonce(id));
    TreeMap<String, Long> had = new TreeMap<>();
    for (JsonValue charge : ((JsonValue.Arr) row.charges()).items()) {
      Fields fields = Fields.of(place + " /charges", charge);
      had.merge(
          Tables.key(fields.name("budget"), fields.string("key")),
          fields.count("amount"),
          Long::sum);
    }
    for (AccountSums.Charge due : arrival.charges()) {
      String name = Tables.key(due.account().budget(), due.account().key());
      long amount = Optional.ofNullable(had.remove(name)).orElse(0L);
      if (amount < due.least() || amount > due.most()) {
        findings.problem(
            ROW,
            place + " /charges " + due.account().budget() + " " + due.account().key(),
            amount,
            due.least() + " to " + due.most());
      }
    }
    for (CarriedAccounts.Amount amount : arrival.said().accounts().amounts()) {
      String name = Tables.key(amount.budget(), amount.key()); // of a budget that policy lacks
      had.computeIfPresent(name, (_, kept) -> kept > amount.amount() ? kept : null);
    }
    had.forEach((name, kept) ->
        findings.problem(ROW, place + " /charges " + name, kept, "no more than arrived"));
    long most =
        arrival.said().accounts().uses().stream().mapToLong(use -> use.times().size()).sum();
    if (row.marks().size() < arrival.marksLeast() || row.marks().size() > most) {
      findings.problem(
          ROW, place + " /marks", row.marks().size(), arrival.marksLeast() + " to " + most);
    }
  }

  private void check(String place, Digest id, Row row) {
    RequestRow stands =
        ledger.get(Tables.REQUEST, Tables.key(id)).map(RequestRow::parse).orElseThrow();
    Decision decision = Decision.read(ledger.document(stands.decision()).orElseThrow().document());
    Request request = Request.read(ledger.document(id).orElseThrow().document());
    Policy policy = policies.get(decision.policy());
    if (policy == null) {
      return; // found at the decision
    }
    JudgeInputs inputs = JudgeInputs.read(decision.inputs());
    Fates.Fate fate = fates.of(id, stands.decision());
    Instant time = redated.getOrDefault(stands.decision(), inputs.time());
    findings.same(ROW, place + " /at", row.at(), time);
    findings.same(ROW, place + " /step", row.step(), inputs.step());
    findings.same(ROW, place + " /nonce", row.nonce(), nonce(request));
    boolean allowed = decision.verdict() == Verdict.ALLOW;
    if (fate.end() == Fates.End.UNKNOWN && allowed) {
      return;
    }
    // After that time nothing reads the row, so a later settlement leaves it unchanged.
    boolean over = !row.keptUntil().isAfter(ledger.highWater());
    boolean leftReserved = over && allowed && row.state().equals("reserved");
    if (!leftReserved) {
      findings.same(ROW, place + " /state", row.state(), state(allowed, fate));
    }
    List<AccountSums.Charge> charges = new ArrayList<>();
    List<AccountSums.Mark> marks = new ArrayList<>();
    JsonValue declared = JsonValue.of(List.of());
    JsonValue settled = declared;
    if (allowed) {
      List<JsonValue> asDeclared = new ArrayList<>();
      List<JsonValue> asSettled = new ArrayList<>();
      for (AccountDue due : AccountDue.of(policy, request, inputs)) {
        Budget budget = due.budget();
        AccountSums.Account account =
            new AccountSums.Account(budget.name(), due.key(), budget.windowStart(time));
        charges.add(fate.charge(account, budget.unit(), due.amount()));
        boolean measured = budget.unit() == Budget.Unit.CPU_MS && fate.cpuMs().isPresent();
        asDeclared.add(charge(account, due.amount()));
        asSettled.add(charge(account, measured ? fate.cpuMs().getAsLong() : due.amount()));
      }
      for (Rate rate : policy.rates().values()) {
        for (String key : keys(rate, policy, request, inputs)) {
          marks.add(new AccountSums.Mark(new AccountSums.Counter(rate.name(), key), time, true));
        }
      }
      declared = JsonValue.of(asDeclared);
      settled = JsonValue.of(asSettled);
    }
    charges(place, row, leftReserved ? fate.left() : fate, declared, settled);
    marks(place, row, id, stands.decision());
    boolean gone = fate.end() == Fates.End.GONE; // a corrected row then has no charges
    Instant keptUntil = KeptUntil.of(policy, time, gone ? List.of() : charges, marks);
    if (row.keptUntil().isBefore(keptUntil)) {
      findings.problem(ROW, place + " /kept_until", row.keptUntil(), keptUntil + " or later");
    }
  }

  private static String state(boolean allowed, Fates.Fate fate) {
    if (!allowed) {
      return "judged";
    }
    return switch (fate.end()) {
      case SETTLED -> "settled";
      case IN_DOUBT, OPEN, UNKNOWN -> "reserved";
      case GONE -> "released";
    };
  }

  private void charges(
      String place, Row row, Fates.Fate fate, JsonValue declared, JsonValue settled) {
    JsonValue wanted =
        switch (fate.end()) {
          case SETTLED -> settled;
          case IN_DOUBT, OPEN, UNKNOWN -> declared;
          case GONE -> JsonValue.of(List.of());
        };
    boolean unmeasured = fate.end() == Fates.End.SETTLED && fate.cpuMs().isEmpty();
    // If a later policy has no such budget, or one in another unit, the declared amount is settled.
    if (!row.charges().equals(wanted)
        && !(fate.end() == Fates.End.SETTLED && row.charges().equals(declared))
        && !unmeasured) {
      findings.problem(ROW, place + " /charges", text(row.charges()), text(wanted));
    }
  }

  /** The marks of all its ALLOWs; marks from before the accounts dropped the entry are missing. */
  private void marks(String place, Row row, Digest id, Digest last) {
    List<JsonValue> all = new ArrayList<>();
    Optional<Envelope> envelope = ledger.document(last);
    while (envelope.isPresent()) {
      Decision decision = Decision.read(envelope.get().document());
      all.addAll(0, marks(decision, envelope.get().id(), id));
      envelope = decision.supersedes().flatMap(ledger::document);
    }
    int kept = row.marks().size();
    if (kept > all.size() || !all.subList(all.size() - kept, all.size()).equals(row.marks())) {
      findings.problem(
          ROW, place + " /marks", text(JsonValue.of(row.marks())), text(JsonValue.of(all)));
    }
  }

  private List<JsonValue> marks(Decision decision, Digest decisionId, Digest id) {
    Policy policy = policies.get(decision.policy());
    if (decision.verdict() != Verdict.ALLOW || policy == null) {
      return List.of();
    }
    Request request = Request.read(ledger.document(id).orElseThrow().document());
    JudgeInputs inputs = JudgeInputs.read(decision.inputs());
    List<JsonValue> marks = new ArrayList<>();
    for (Rate rate : policy.rates().values()) {
      for (String key : keys(rate, policy, request, inputs)) {
        marks.add(
            JsonValue.object()
                .put("rate", rate.name())
                .put("key", key)
                .put("at", redated.getOrDefault(decisionId, Timestamps.truncate(inputs.time())))
                .build());
      }
    }
    return marks;
  }

  private static List<String> keys(Rate rate, Policy policy, Request request, JudgeInputs inputs) {
    return policy.accountsOf(
        rate, request.scope().tenant(), inputs.charged(), request.effect().tool());
  }

  private static JsonValue charge(AccountSums.Account account, long amount) {
    return JsonValue.object()
        .put("budget", account.budget())
        .put("key", account.key())
        .put("amount", amount)
        .build();
  }

  private static String nonce(Request request) {
    return text(
        JsonValue.of(
            List.of(
                JsonValue.of(request.scope().tenant()),
                JsonValue.of(request.scope().subject()),
                JsonValue.of(request.nonce()))));
  }

  private static String text(JsonValue value) {
    return new String(Jcs.write(value), StandardCharsets.UTF_8);
  }
}
