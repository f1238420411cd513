package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.guardian.AccountEntry.Charge;
import dev.writ.guardian.AccountEntry.Mark;
import dev.writ.guardian.AccountEntry.State;
import dev.writ.guardian.document.CheckOutcome;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Budget;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.Rate;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * The one owner of budgets, rates and nonces (PROTOCOL 7), in memory. Judging gathers the inputs,
 * asks {@link Judge} and reserves the declared ceiling in one step under one lock, so that no two
 * requests can spend the same rest. What is remembered of a request is one row, which the caller
 * stores in the batch of the document that caused it; {@link #restore} reads them again. Since each
 * row stands for itself, batches may be committed in any order.
 */
public final class Accounts implements Accounting {
  /** What the key of every row begins with. */
  public static final String ROW_PREFIX = "account/";

  private static final int FORGOTTEN_AT_ONCE_MAX = 16;

  private final ReentrantLock lock = new ReentrantLock();
  private final TreeMap<Digest, AccountEntry.Versions> entries = new TreeMap<>();
  private final TreeMap<String, Digest> nonces = new TreeMap<>();
  private final TreeSet<Expiry> expiries = new TreeSet<>();
  private AccountTotals totals;
  private long nextStep = 1;

  private record Expiry(Instant keptUntil, Digest request) implements Comparable<Expiry> {
    private static final Comparator<Expiry> ORDER =
        Comparator.comparing(Expiry::keptUntil).thenComparing(Expiry::request);

    @Override
    public int compareTo(Expiry other) {
      return ORDER.compare(this, other);
    }
  }

  /**
   * A row to be stored, or deleted where it has no value.
   *
   * @param value canonical JSON
   */
  public record Row(String key, Optional<byte[]> value) {}

  /** A decision, and the rows to be committed with it. */
  public record Judged(Decision decision, List<Row> rows) {
    public Judged {
      rows = List.copyOf(rows);
    }
  }

  private Accounts(Policy policy) {
    totals = new AccountTotals(policy);
  }

  /**
   * @param rows all rows whose keys begin with {@link #ROW_PREFIX}, in the order of their keys
   * @param now not used: see {@link #expire}
   * @throws WritException {@code CAN-0xx} where a row is damaged
   */
  public static Accounts restore(Iterable<Row> rows, Policy p, Instant now) {
    Accounts accounts = new Accounts(p);
    for (Row row : rows) {
      Digest request = Digest.parse("sha256:" + row.key().substring(ROW_PREFIX.length()));
      JsonValue value = Jcs.parseCanonical(row.value().orElseThrow(), Limits.DEFAULT);
      AccountEntry entry = AccountEntry.read(request, value);
      accounts.put(entry, Optional.empty());
      accounts.nextStep = Math.max(accounts.nextStep, entry.step() + 1);
    }
    return accounts;
  }

  /**
   * Judges a request and takes what it needs. A request that holds a reservation from an earlier
   * judgement (its intent lapsed, or it waited) gives it back first.
   *
   * @throws WritException {@code GRD-007} where another request used the nonce, {@code GRD-010} for
   *     evidence that the request does not name, {@code GRD-011} for what was settled already
   */
  @Override
  public Judged judge(Admitted a, Circumstances c, Policy p, Trust trust, Instant now) {
    Instant time = Timestamps.truncate(now);
    Gathered gathered = Gathered.of(a, c, p, trust, time);
    Matter ahead = matter(a, c, p, gathered.inputs(0, List.of(), List.of(), false));
    Taken taken = take(ahead, Judge.Ahead.of(ahead), gathered, nonceKey(a.request()));
    Decision decision = Judge.decision(taken.matter, taken.outcomes, c.snapshot(), c.supersedes());
    return new Judged(decision, List.of(row(taken.entry)));
  }

  private static Matter matter(Admitted a, Circumstances c, Policy p, JudgeInputs inputs) {
    return new Matter(a, c.manifest(), p, inputs);
  }

  /** What one step gave; documents and rows are written outside the lock. */
  private record Taken(Matter matter, List<CheckOutcome> outcomes, AccountEntry entry) {}

  private Taken take(Matter ahead, Judge.Ahead checks, Gathered gathered, String nonce) {
    Admitted a = ahead.admitted();
    Instant time = gathered.time();
    lock.lock();
    try {
      usePolicy(ahead.policy());
      requireNonce(nonce, a);
      Optional<AccountEntry.Versions> versions = Optional.ofNullable(entries.get(a.id()));
      Optional<AccountEntry> before = versions.map(AccountEntry.Versions::now);
      if (before.filter(entry -> entry.state() == State.SETTLED).isPresent()) {
        throw new WritException(GuardianError.REQUEST_SETTLED, a.id().toString());
      }
      before.ifPresent(this::drop);
      boolean stored = false;
      try {
        JudgeInputs inputs = inputs(a, ahead.policy(), gathered, nonce, time);
        Matter matter = new Matter(a, ahead.manifest(), ahead.policy(), inputs);
        List<CheckOutcome> outcomes = Judge.outcomes(matter, checks);
        boolean allowed = Judge.verdict(outcomes) == Verdict.ALLOW;
        AccountEntry entry = entryOf(a, allowed, nonce, before, time);
        put(entry, versions);
        stored = true;
        nextStep++;
        forgetExpired(time, FORGOTTEN_AT_ONCE_MAX);
        return new Taken(matter, outcomes, entry);
      } finally {
        if (!stored) {
          versions.ifPresent(v -> put(v.now(), v.before()));
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** What {@link #judge} would be given now, without taking anything: for explanations. */
  @Override
  public JudgeInputs look(Admitted a, Circumstances c, Policy p, Trust trust, Instant now) {
    Instant time = Timestamps.truncate(now);
    Gathered gathered = Gathered.of(a, c, p, trust, time);
    lock.lock();
    try {
      usePolicy(p);
      return inputs(a, p, gathered, nonceKey(a.request()), time);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Replaces the reservation by what was measured, once the effect has its receipt.
   *
   * @param cpuMsMeasured a recorded input, see the receipt
   */
  @Override
  public List<Row> settle(Digest request, long cpuMsMeasured) {
    return close(
        request,
        State.SETTLED,
        charge -> {
          Budget budget = totals.policy().budgets().get(charge.budget());
          boolean measured = budget != null && budget.unit() == Budget.Unit.CPU_MS;
          return Optional.of(
              measured ? new Charge(charge.budget(), charge.key(), cpuMsMeasured) : charge);
        });
  }

  /** Gives the reservation back: the effect failed before its dispatch. Its rate marks stay. */
  @Override
  public List<Row> release(Digest request) {
    return close(request, State.RELEASED, _ -> Optional.empty());
  }

  private List<Row> close(Digest request, State state, Function<Charge, Optional<Charge>> settled) {
    lock.lock();
    try {
      AccountEntry.Versions versions = entries.get(request);
      if (versions == null || versions.now().state() != State.RESERVED) {
        return List.of();
      }
      AccountEntry before = versions.now();
      AccountEntry after =
          before.with(
              state, before.charges().stream().map(settled).flatMap(Optional::stream).toList());
      drop(before);
      put(after, Optional.of(versions));
      return List.of(row(after));
    } finally {
      lock.unlock();
    }
  }

  /** Undoes the last step on a request: the batch that carried its rows was never committed. */
  @Override
  public void forget(Digest request) {
    lock.lock();
    try {
      AccountEntry.Versions versions = entries.get(request);
      if (versions != null) {
        drop(versions.now());
        versions.before().ifPresent(before -> put(before.now(), before.before()));
      }
    } finally {
      lock.unlock();
    }
  }

  /** All rows as they should be stored now, in the order of their keys. */
  public List<Row> rows() {
    lock.lock();
    try {
      return entries.values().stream().map(v -> row(v.now())).toList();
    } finally {
      lock.unlock();
    }
  }

  private JudgeInputs inputs(Admitted a, Policy p, Gathered gathered, String nonce, Instant time) {
    String tenant = a.request().scope().tenant();
    String tool = a.request().effect().tool();
    List<JudgeInputs.Balance> balances = new ArrayList<>();
    for (Charges.Due due : Charges.of(p, tenant, a.charged(), a.request().effect())) {
      balances.add(totals.balance(due.budget(), due.key(), time));
    }
    List<JudgeInputs.RateCount> rates = new ArrayList<>();
    for (Rate rate : p.rates().values()) {
      for (String key : p.accountsOf(rate, tenant, a.charged(), tool)) {
        rates.add(totals.count(rate, key, time));
      }
    }
    Digest nonceOwner = nonces.get(nonce);
    return gathered.inputs(
        nextStep, balances, rates, nonceOwner != null && !nonceOwner.equals(a.id()));
  }

  private AccountEntry entryOf(
      Admitted a, boolean allowed, String nonce, Optional<AccountEntry> before, Instant time) {
    List<Charge> charges = new ArrayList<>();
    List<Mark> marks = new ArrayList<>(before.map(AccountEntry::marks).orElse(List.of()));
    if (allowed) {
      String tenant = a.request().scope().tenant();
      for (Charges.Due due :
          Charges.of(totals.policy(), tenant, a.charged(), a.request().effect())) {
        charges.add(new Charge(due.budget().name(), due.key(), due.amount().orElseThrow()));
      }
      for (Rate rate : totals.policy().rates().values()) {
        for (String key :
            totals.policy().accountsOf(rate, tenant, a.charged(), a.request().effect().tool())) {
          marks.add(new Mark(rate.name(), key, time));
        }
      }
    }
    AccountEntry entry =
        new AccountEntry(
            a.id(),
            time,
            nextStep,
            allowed ? State.RESERVED : State.JUDGED,
            nonce,
            time,
            charges,
            marks);
    return entry.keptUntil(totals.neededUntil(entry));
  }

  private void requireNonce(String nonce, Admitted a) {
    Digest owner = nonces.get(nonce);
    if (owner != null && !owner.equals(a.id())) {
      throw new WritException(
          GuardianError.NONCE_REUSED, "request " + owner + " used it, not " + a.id());
    }
  }

  private static String nonceKey(Request request) {
    return new String(
        Jcs.write(
            JsonValue.of(
                List.of(
                    JsonValue.of(request.scope().tenant()),
                    JsonValue.of(request.scope().subject()),
                    JsonValue.of(request.nonce())))),
        StandardCharsets.UTF_8);
  }

  /** A new policy may have other windows: all sums are made again. */
  private void usePolicy(Policy policy) {
    if (policy.digest().equals(totals.policy().digest())) {
      return;
    }
    totals = new AccountTotals(policy);
    List<AccountEntry.Versions> all = List.copyOf(entries.values());
    entries.clear();
    nonces.clear();
    expiries.clear();
    for (AccountEntry.Versions versions : all) {
      AccountEntry entry = versions.now();
      put(
          entry.keptUntil(AccountEntry.later(entry.keptUntil(), totals.neededUntil(entry))),
          versions.before());
    }
  }

  private void put(AccountEntry entry, Optional<AccountEntry.Versions> before) {
    entries.put(entry.request(), new AccountEntry.Versions(entry, before));
    nonces.put(entry.nonce(), entry.request());
    expiries.add(new Expiry(entry.keptUntil(), entry.request()));
    totals.add(entry);
  }

  private void drop(AccountEntry entry) {
    entries.remove(entry.request());
    nonces.remove(entry.nonce(), entry.request());
    expiries.remove(new Expiry(entry.keptUntil(), entry.request()));
    totals.remove(entry);
  }

  /**
   * Forgets what is past every window and says which rows to delete. For the start, when nothing is
   * under way: a deletion that rode in some later batch could come after a new judgement of the
   * same request, and take its row along. Until then what {@link #judge} forgets stays stored,
   * unused.
   */
  public List<Row> expire(Instant now) {
    lock.lock();
    try {
      return forgetExpired(Timestamps.truncate(now), Integer.MAX_VALUE).stream()
          .map(request -> new Row(ROW_PREFIX + request.hex(), Optional.empty()))
          .toList();
    } finally {
      lock.unlock();
    }
  }

  /** Forgets entries that nothing needs; never the newest, which holds the step number. */
  private List<Digest> forgetExpired(Instant now, int most) {
    List<Digest> forgotten = new ArrayList<>();
    while (forgotten.size() < most
        && !expiries.isEmpty()
        && !expiries.first().keptUntil().isAfter(now)) {
      AccountEntry entry = entries.get(expiries.first().request()).now();
      if (entry.step() == nextStep - 1) {
        break;
      }
      drop(entry);
      forgotten.add(entry.request());
    }
    return forgotten;
  }

  private static Row row(AccountEntry entry) {
    return new Row(ROW_PREFIX + entry.request().hex(), Optional.of(Jcs.write(entry.toJson())));
  }
}
