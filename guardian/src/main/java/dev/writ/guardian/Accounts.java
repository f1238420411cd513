package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.Limits;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.guardian.AccountEntry.Charge;
import dev.writ.guardian.AccountEntry.Mark;
import dev.writ.guardian.AccountEntry.State;
import dev.writ.guardian.document.CheckOutcome;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.limit.Budget;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * The one owner of budgets, rates and nonces (protocol rule 7), in memory. Judging gathers the
 * inputs, asks {@link Judge} and reserves the declared ceiling in one step under one lock, so that
 * no two requests can spend the same remainder. The record of a request is one row, which the
 * caller stores in the batch of the document that caused it; {@link #restore} reads the rows again.
 * Rows are independent of each other, so batches may be committed in any order.
 *
 * <p>If the stored rows can be read, entries are folded once their row is {@link #durable}, at the
 * latest past the freshness window: their amounts stay in the sums and the entry is dropped from
 * memory; it is read back from its row if its request is judged again, settled or released. Results
 * are the same as with every entry in memory. Of a request that is over, memory then holds its
 * nonce, for as long as that is not free, and its times in rate limits: {@link UsedNonces}, {@link
 * UseTimes}.
 */
public final class Accounts implements Accounting {
  /** The prefix of every row's key. */
  public static final String ROW_PREFIX = "account/";

  private static final int FORGOTTEN_AT_ONCE_MAX = 16;

  private static final String KEPT_UNTIL = "\"kept_until\":\"";

  private final ReentrantLock lock = new ReentrantLock();
  private final UsedNonces nonces = new UsedNonces();
  private final PolicyChanges changes = new PolicyChanges();
  private final List<Digest> stale = new ArrayList<>();
  private final Stored stored;
  private final HeldEntries entries;
  private final FoldedEntries folded;

  private long nextStep = 1;

  /** The greatest step whose row is known to be stored: a crash takes no such step back. */
  private long storedStep;

  /** The newest entry, if it is durable: it is folded when it is not the newest any more. */
  private Optional<Digest> durableNewest = Optional.empty();

  /** The latest time of a judgement; entries that were needed only until then are dropped. */
  private Instant latest;

  /**
   * A row to be stored, or deleted where it has no value.
   *
   * @param value canonical JSON
   */
  public record Row(String key, Optional<byte[]> value) {}

  /** The rows that are stored now. Rows that were handed out for storing may appear later. */
  public interface Stored {
    /** No stored rows: every entry stays in memory. */
    Stored NONE =
        new Stored() {
          @Override
          public Optional<byte[]> get(String key) {
            return Optional.empty();
          }

          @Override
          public void scan(Consumer<Row> visitor) {}
        };

    /** The value of the row of that key, which begins with {@link #ROW_PREFIX}. */
    Optional<byte[]> get(String key);

    /** All rows, in the order of their keys. */
    void scan(Consumer<Row> visitor);
  }

  /** A decision, and the rows to be committed with it. */
  public record Judged(Decision decision, List<Row> rows) {
    public Judged {
      rows = List.copyOf(rows);
    }
  }

  private Accounts(Policy policy, Stored stored, Instant latest) {
    this.stored = stored;
    this.latest = latest;
    entries = new HeldEntries(policy, stored != Stored.NONE);
    folded = new FoldedEntries(policy);
  }

  /**
   * Accounts that keep every entry.
   *
   * @param rows all rows whose keys begin with {@link #ROW_PREFIX}, in the order of their keys
   * @param now entries that were needed only until then go with {@link #expire}
   * @throws WritException {@code CAN-0xx} where a row is damaged
   */
  public static Accounts restore(Iterable<Row> rows, Policy p, Instant now) {
    Accounts accounts = new Accounts(p, Stored.NONE, Instant.MIN);
    List<AccountEntry> all = new ArrayList<>();
    rows.forEach(row -> all.add(accounts.counted(row)));
    for (AccountEntry entry : all) {
      boolean isOver = !entry.keptUntil().isAfter(now) && entry.step() != accounts.nextStep - 1;
      accounts.put(isOver ? entry : accounts.extended(entry), Optional.empty());
    }
    return accounts;
  }

  /**
   * Accounts that fold: they keep only sums for old entries.
   *
   * @param step at least so many steps were taken
   * @param now the time of the last event; entries that were needed only until then are not loaded
   * @throws WritException {@code CAN-0xx} where a row is damaged
   */
  public static Accounts restore(Stored stored, long step, Policy p, Instant now) {
    return restore(stored, step, p, now, true);
  }

  /** The same, to be looked at only: there is nothing to be summarized. */
  public static Accounts restoreToLookAt(Stored stored, Policy p, Instant now) {
    return restore(stored, 0, p, now, false);
  }

  private static Accounts restore(
      Stored stored, long step, Policy p, Instant now, boolean summarizes) {
    Accounts accounts = new Accounts(p, stored, Timestamps.truncate(now));
    if (!summarizes) {
      accounts.folded.endSummaries();
    }
    List<AccountEntry> newest = new ArrayList<>(); // one at most: never forgotten
    stored.scan(row -> {
      long before = accounts.nextStep;
      AccountEntry entry = accounts.counted(row);
      if (accounts.nextStep > before) {
        newest.forEach(accounts::load);
        newest.clear();
        newest.add(entry);
      } else {
        accounts.load(entry);
      }
    });
    newest.forEach(entry -> accounts.put(accounts.extended(entry), Optional.empty()));
    accounts.nextStep = Math.max(accounts.nextStep, step + 1);
    accounts.folded.reached(step);
    accounts.storedStep = accounts.nextStep - 1;
    accounts.begin();
    return accounts;
  }

  /**
   * The same, from summaries and from those rows alone that they do not cover.
   *
   * @param repeat whether the next summary says all again and takes the place of these; not of
   *     their nonces
   * @param p under which the sums are those of the summaries' policy
   */
  public static Accounts restore(
      Stored stored, AccountSummary.Stored summaries, boolean repeat, Policy p, Instant now) {
    Accounts accounts = new Accounts(p, stored, Timestamps.truncate(now));
    TreeSet<Digest> toRead = new TreeSet<>(accounts.folded.restore(summaries.summaries(), repeat));
    toRead.addAll(summaries.since());
    summaries
        .nonces()
        .accept(uses -> {
          if (!accounts.areNoncesOver(uses.newestMs())) {
            uses.forEach(accounts.nonces::add); // one that is over may replace another's
          }
        });
    List<AccountEntry> entries = new ArrayList<>();
    for (Digest request : toRead) {
      Optional<AccountEntry> entry = accounts.row(request);
      if (entry.isEmpty()) {
        accounts.folded.close(request);
      }
      entry.ifPresent(entries::add);
    }
    long newest = entries.stream().mapToLong(AccountEntry::step).max().orElse(0);
    accounts.nextStep = Math.max(accounts.folded.latestStep(), newest) + 1;
    accounts.storedStep = accounts.nextStep - 1;
    for (AccountEntry entry : entries) {
      accounts.useNonce(entry);
      if (entry.step() == newest) {
        accounts.put(accounts.extended(entry), Optional.empty());
      } else {
        accounts.load(entry);
      }
    }
    accounts.expireNonces();
    accounts.begin();
    return accounts;
  }

  /** How many requests that are over no summary has; none where there cannot be one. */
  public int unsummarized() {
    return folded.waiting();
  }

  /** From now on there are no summaries: one was taken and cannot be stored. */
  public void endSummaries() {
    lock.lock();
    try {
      folded.endSummaries();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Summarizes what came since the last summary, which is to be stored before another is taken.
   *
   * @param logSize asked while no step is taken: the size of the durable log
   * @param restarts how often time restarted in it
   * @return empty where sums changed since the start, because a policy has other budgets
   */
  public Optional<AccountSummary.Taken> summarize(LongSupplier logSize, long restarts) {
    lock.lock();
    try {
      return folded.summarize(entries.all(), latest, logSize, restarts);
    } finally {
      lock.unlock();
    }
  }

  /**
   * What these accounts lack of others that were restored at the same time; they may hold more.
   *
   * @return places, such as {@code budget cpu ["acme"]}; none where nothing is lacking
   */
  public List<String> lacking(Accounts others) {
    return new AccountComparison(parts(), others.parts(), latest).lacking();
  }

  private AccountComparison.Parts parts() {
    return new AccountComparison.Parts(entries.totals(), folded.sums(), nonces);
  }

  /**
   * Whether no nonce that was used by that time, in milliseconds, is taken any more, nor would be
   * by an earlier judgement of its request, whose time may have been later.
   */
  public boolean areNoncesOver(long atMs) {
    lock.lock();
    try {
      return totals().freshUntil(atMs) + 1000 * AccountTotals.LATE_S <= latest.toEpochMilli();
    } finally {
      lock.unlock();
    }
  }

  private void begin() {
    changes.add(nextStep, latest, totals().policy());
  }

  private AccountTotals totals() {
    return entries.totals();
  }

  private AccountEntry counted(Row row) {
    AccountEntry entry = read(row.key(), row.value().orElseThrow());
    nextStep = Math.max(nextStep, entry.step() + 1);
    return entry;
  }

  private static AccountEntry read(String key, byte[] value) {
    return AccountEntry.read(
        Digest.parse("sha256:" + key.substring(ROW_PREFIX.length())),
        Jcs.parseCanonical(value, Limits.DEFAULT));
  }

  /** Loads a stored entry into the sums. */
  private void load(AccountEntry entry) {
    if (!entry.keptUntil().isAfter(latest)) {
      stale.add(entry.request());
      folded.close(entry.request());
    } else {
      if (totals().freshUntil(entry).isAfter(latest)) {
        useNonce(entry);
      }
      folded.add(entry, true);
    }
  }

  /**
   * Judges a request and reserves what it needs. A reservation from an earlier judgement of the
   * request (its intent lapsed, or it waited) is released first.
   *
   * @throws WritException {@code GRD-007} where another request used the nonce, {@code GRD-010} for
   *     evidence that the request does not name, {@code GRD-011} for a request that is settled
   *     already, {@code GRD-013} if another judgement's time is more than a minute later: read the
   *     clock again
   */
  @Override
  public Judged judge(Admitted a, Circumstances c, Policy p, Trust trust, Instant now) {
    Instant time = Timestamps.truncate(now);
    Gathered gathered = Gathered.of(a, c, p, trust, time);
    Matter ahead = new Matter(a, c.manifest(), p, gathered.inputs(0, List.of(), List.of(), false));
    Taken taken =
        take(
            ahead,
            Judge.Ahead.of(ahead),
            gathered,
            RequestNonce.of(a.request()),
            c.supersedes().isPresent());
    Decision decision = Judge.decision(taken.matter, taken.outcomes, c.snapshot(), c.supersedes());
    return new Judged(decision, List.of(row(taken.entry)));
  }

  /** The result of one step; documents and rows are made outside the lock. */
  private record Taken(Matter matter, List<CheckOutcome> outcomes, AccountEntry entry) {}

  private Taken take(
      Matter ahead, Judge.Ahead checks, Gathered gathered, RequestNonce nonce, boolean isKnown) {
    Admitted a = ahead.admitted();
    Instant time = gathered.time();
    lock.lock();
    try {
      requireNotLate(time);
      usePolicy(ahead.policy());
      fold(FORGOTTEN_AT_ONCE_MAX);
      requireNonce(nonce.key(), a, time);
      Optional<AccountEntry.Versions> versions =
          find(a.id(), isKnown || mayHaveBeenJudged(nonce.key(), a, time));
      Optional<AccountEntry> before = versions.map(AccountEntry.Versions::now);
      if (before.filter(entry -> entry.state() == State.SETTLED).isPresent()) {
        throw new WritException(GuardianError.REQUEST_SETTLED, a.id().toString());
      }
      before.ifPresent(this::drop);
      boolean taken = false;
      try {
        JudgeInputs inputs = inputs(ahead, gathered, nonce.key(), time);
        Matter matter = ahead.with(inputs);
        List<CheckOutcome> outcomes = Judge.outcomes(matter, checks);
        boolean allowed = Judge.verdict(outcomes) == Verdict.ALLOW;
        AccountEntry entry = entryOf(matter, allowed, nonce.account(), before, time);
        put(entry, versions);
        taken = true;
        nextStep++;
        foldFormerNewest();
        latest = AccountEntry.later(latest, time);
        forgetExpired(latest, FORGOTTEN_AT_ONCE_MAX);
        expireNonces();
        folded.sums().prune(latest);
        return new Taken(matter, outcomes, entry);
      } finally {
        if (!taken) {
          versions.ifPresent(v -> put(v.now(), v.before()));
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** The inputs that {@link #judge} would use now, for explanations; reserves nothing. */
  @Override
  public JudgeInputs look(Admitted a, Circumstances c, Policy p, Trust trust, Instant now) {
    Instant time = Timestamps.truncate(now);
    Gathered gathered = Gathered.of(a, c, p, trust, time);
    lock.lock();
    try {
      usePolicy(p);
      Matter matter =
          new Matter(a, c.manifest(), p, gathered.inputs(0, List.of(), List.of(), false));
      return inputs(matter, gathered, RequestNonce.of(a.request()).key(), time);
    } finally {
      lock.unlock();
    }
  }

  /**
   * What the accounts of a tenant's budgets hold now, those of all its principals; reserves
   * nothing.
   *
   * @return in the order of budget name and key
   */
  public List<JudgeInputs.Balance> balances(Policy p, String tenant, Instant now) {
    Instant time = Timestamps.truncate(now);
    List<TenantAccounts.Account> accounts = TenantAccounts.of(p, tenant);
    lock.lock();
    try {
      usePolicy(p);
      return accounts.stream()
          .map(account ->
              totals()
                  .balance(account.budget(), account.key(), time)
                  .plus(folded.sums().balance(account.budget(), account.key(), time)))
          .toList();
    } finally {
      lock.unlock();
    }
  }

  /**
   * What the accounts of one tenant hold, as those of another cell are to begin with it. No step of
   * the tenant may be at work.
   *
   * @param at amounts are of the windows that hold this time
   */
  public CarriedAccounts carried(Policy p, String tenant, Instant at) {
    Instant time = Timestamps.truncate(at);
    lock.lock();
    try {
      usePolicy(p);
      return new ArrivedAccounts(totals(), folded.sums()).held(tenant, time);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Begins the accounts of a tenant with what those of its former cell held. What these hold of it
   * from an earlier stay is in that already, and is not counted twice.
   *
   * @param document the id of the document that says it: the name of the row
   * @param at the time of the departure
   * @return the row to be stored; {@link #forget} if it is not
   */
  public Row arrive(Policy p, Digest document, String tenant, CarriedAccounts carried, Instant at) {
    Instant time = Timestamps.truncate(at);
    lock.lock();
    try {
      usePolicy(p);
      AccountEntry entry =
          new ArrivedAccounts(totals(), folded.sums()).entry(document, tenant, carried, time);
      put(entry.keptUntil(totals().neededUntil(entry)), Optional.empty());
      return row(entries.find(document).orElseThrow().now());
    } finally {
      lock.unlock();
    }
  }

  /**
   * Settles: replaces the reservation by the measured use, once the effect has its receipt.
   *
   * @param cpuMsMeasured a recorded input, see the receipt
   */
  @Override
  public List<Row> settle(Digest request, long cpuMsMeasured) {
    return close(
        request,
        State.SETTLED,
        charge -> {
          Budget budget = totals().policy().budgets().get(charge.budget());
          boolean measured = budget != null && budget.unit() == Budget.Unit.CPU_MS;
          return Optional.of(
              measured ? new Charge(charge.budget(), charge.key(), cpuMsMeasured) : charge);
        });
  }

  /** Releases the reservation: the effect was refused before its dispatch. Its rate marks stay. */
  @Override
  public List<Row> release(Digest request) {
    return close(request, State.RELEASED, _ -> Optional.empty());
  }

  private List<Row> close(Digest request, State state, Function<Charge, Optional<Charge>> settled) {
    lock.lock();
    try {
      Optional<AccountEntry.Versions> found = find(request, true);
      if (found.isEmpty() || found.get().now().state() != State.RESERVED) {
        return List.of();
      }
      AccountEntry.Versions versions = found.get();
      AccountEntry before = versions.now();
      List<Charge> charges = new ArrayList<>();
      before.charges().forEach(charge -> settled.apply(charge).ifPresent(charges::add));
      AccountEntry after = before.with(state, charges);
      // Nothing but state and charges differs, so its nonce, times and marks stay where they are.
      entries.recharge(versions, after);
      forgetDurable(request);
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
      entries
          .find(request)
          .ifPresent(versions -> {
            drop(versions.now());
            versions.before().ifPresent(before -> put(before.now(), before.before()));
          });
    } finally {
      lock.unlock();
    }
  }

  /** The bytes that it keeps for requests that are over. */
  long keptBytes() {
    lock.lock();
    try {
      return nonces.bytes() + folded.sums().bytes();
    } finally {
      lock.unlock();
    }
  }

  /** How many entries are kept whole. */
  int kept() {
    lock.lock();
    try {
      return entries.size();
    } finally {
      lock.unlock();
    }
  }

  /** The current rows of all entries in memory, in the order of their keys. */
  public List<Row> rows() {
    lock.lock();
    try {
      return entries.all().stream().map(Accounts::row).toList();
    } finally {
      lock.unlock();
    }
  }

  private JudgeInputs inputs(Matter matter, Gathered gathered, UsedNonces.Key nonce, Instant time) {
    List<JudgeInputs.Balance> balances = new ArrayList<>(matter.charges().dues().size());
    for (Charges.Due due : matter.charges().dues()) {
      balances.add(
          totals()
              .balance(due.budget(), due.key(), time)
              .plus(folded.sums().balance(due.budget(), due.key(), time)));
    }
    List<JudgeInputs.RateCount> rates = new ArrayList<>(matter.charges().counted().size());
    for (Charges.Counted counted : matter.charges().counted()) {
      rates.add(
          totals()
              .count(counted.rate(), counted.key(), time)
              .plus(folded.sums().count(counted.rate(), counted.key(), time)));
    }
    return gathered.inputs(
        nextStep, balances, rates, nonceOwner(nonce, matter.admitted(), time).isPresent());
  }

  private AccountEntry entryOf(
      Matter matter, boolean allowed, String nonce, Optional<AccountEntry> before, Instant time) {
    Admitted a = matter.admitted();
    List<Charge> charges = new ArrayList<>();
    List<Mark> marks = new ArrayList<>(before.map(AccountEntry::marks).orElse(List.of()));
    if (allowed) {
      for (Charges.Due due : matter.charges().dues()) {
        charges.add(new Charge(due.budget().name(), due.key(), due.amount().orElseThrow()));
      }
      for (Charges.Counted counted : matter.charges().counted()) {
        marks.add(new Mark(counted.rate().name(), counted.key(), time));
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
    return entry.keptUntil(totals().neededUntil(entry));
  }

  /** Refuses a time that is too old: sums and nonces are not exact for it any more. */
  private void requireNotLate(Instant time) {
    if (time.plusSeconds(AccountTotals.LATE_S).isBefore(latest)) {
      throw new WritException(
          GuardianError.JUDGED_LATE,
          "read " + Timestamps.format(time) + ", another " + Timestamps.format(latest));
    }
  }

  private void requireNonce(UsedNonces.Key nonce, Admitted a, Instant time) {
    Optional<Digest> owner = nonceOwner(nonce, a, time);
    if (owner.isPresent()) {
      throw new WritException(
          GuardianError.NONCE_REUSED, "request " + owner.get() + " used it, not " + a.id());
    }
  }

  /**
   * Whether there may be an earlier judgement of a request of which the caller knows none, so that
   * its row has to be looked for. A judgement takes the request's nonce until {@link
   * AccountTotals#freshUntil} of its time, which is not before that of the request but for the skew
   * of two clocks. So a fresh request whose nonce nobody has was never judged, and need not be
   * looked for on the disk: most requests are such.
   */
  private boolean mayHaveBeenJudged(UsedNonces.Key nonce, Admitted a, Instant time) {
    long nowMs = AccountEntry.later(latest, time).toEpochMilli();
    long judgedFirst =
        a.request().requestedAt().minus(Admission.SKEW.multipliedBy(2)).toEpochMilli();
    return totals().freshUntil(judgedFirst) <= nowMs || nonces.find(nonce).isPresent();
  }

  /** Another request that used a nonce within the freshness window. */
  private Optional<Digest> nonceOwner(UsedNonces.Key nonce, Admitted a, Instant time) {
    long nowMs = AccountEntry.later(latest, time).toEpochMilli();
    return nonces
        .find(nonce)
        .filter(use -> totals().freshUntil(use.atMs()) > nowMs)
        .map(UsedNonces.Use::request)
        .filter(id -> !id.equals(a.id()));
  }

  /** Changes the policy. If windows or accounts differ, all sums are computed again. */
  private void usePolicy(Policy policy) {
    if (policy.digest().equals(totals().policy().digest())) {
      return;
    }
    if (totals().sameUnder(policy)) {
      totals().use(policy);
      folded.use(policy);
      return;
    }
    forgetExpired(latest, Integer.MAX_VALUE);
    changes.add(nextStep, latest, policy);
    folded.restart(policy);
    nonces.clear();
    durableNewest = Optional.empty();
    for (AccountEntry.Versions versions : entries.restart(policy)) {
      AccountEntry entry = versions.now();
      put(extended(entry), versions.before());
    }
    stored.scan(row -> {
      AccountEntry entry = read(row.key(), row.value().orElseThrow());
      if (!entries.has(entry.request())) {
        kept(entry).ifPresent(this::load);
      }
    });
  }

  /** Kept for as long as the present policy needs it, if that is longer. */
  private AccountEntry extended(AccountEntry entry) {
    return entry.keptUntil(AccountEntry.later(entry.keptUntil(), totals().neededUntil(entry)));
  }

  private void put(AccountEntry entry, Optional<AccountEntry.Versions> before) {
    entries.put(entry, before);
    useNonce(entry);
  }

  private void expireNonces() {
    long latestMs = latest.toEpochMilli();
    nonces.expire(atMs -> totals().freshUntil(atMs) <= latestMs);
  }

  private void useNonce(AccountEntry entry) {
    nonces.add(
        UsedNonces.Key.of(entry.nonce()),
        new UsedNonces.Use(entry.request(), entry.at().toEpochMilli(), entry.step()));
  }

  private void drop(AccountEntry entry) {
    folded.drop(entry.request());
    nonces.remove(UsedNonces.Key.of(entry.nonce()), entry.request());
    remove(entry);
  }

  private void dropOver(AccountEntry entry) {
    folded.reached(entry.step());
    drop(entry);
  }

  /** Drops an entry from memory whose row is stored, and keeps its sums and its nonce. */
  private void letGo(AccountEntry entry, boolean isDurable) {
    remove(entry);
    folded.add(entry, isDurable);
  }

  private void remove(AccountEntry entry) {
    entries.remove(entry);
    forgetDurable(entry.request());
  }

  /**
   * Drops old entries from memory if their stored rows are up to date, and keeps their sums. The
   * newest entry stays, as in {@link #forgetExpired}.
   */
  private void fold(int most) {
    for (AccountEntry entry : entries.foldable(latest, most)) {
      boolean needed = entry.keptUntil().isAfter(latest) && entry.step() != nextStep - 1;
      if (needed && isStored(entry)) {
        letGo(entry, false);
      }
    }
  }

  /**
   * Says that the rows of the last step on a request are stored, while no other step on it can be
   * at work: its entry need not stay in memory.
   */
  @Override
  public void durable(Digest request) {
    if (stored == Stored.NONE) {
      return;
    }
    lock.lock();
    try {
      Optional<AccountEntry.Versions> versions = entries.find(request);
      if (versions.isEmpty()) {
        return;
      }
      AccountEntry entry = versions.get().now();
      storedStep = Math.max(storedStep, entry.step());
      if (entry.step() == nextStep - 1) {
        durableNewest = Optional.of(request);
      } else if (entry.keptUntil().isAfter(latest)) {
        letGo(entry, true);
      }
    } finally {
      lock.unlock();
    }
  }

  private void foldFormerNewest() {
    Optional<Digest> former = durableNewest;
    durableNewest = Optional.empty();
    former
        .flatMap(entries::find)
        .map(AccountEntry.Versions::now)
        .filter(entry -> entry.keptUntil().isAfter(latest))
        .ifPresent(entry -> letGo(entry, true));
  }

  /** Another step on that request was taken, whose rows are not stored yet. */
  private void forgetDurable(Digest request) {
    if (durableNewest.filter(request::equals).isPresent()) {
      durableNewest = Optional.empty();
    }
  }

  /**
   * Ignores the time until which the entry is kept, which another policy may have extended since.
   */
  private boolean isStored(AccountEntry entry) {
    return row(entry.request())
        .filter(found -> found.keptUntil(entry.keptUntil()).equals(entry))
        .isPresent();
  }

  private Optional<AccountEntry> row(Digest request) {
    String key = ROW_PREFIX + request.hex();
    return stored.get(key).map(value -> read(key, value));
  }

  /**
   * The entry of a request, from memory or from its row.
   *
   * @param mayBeStored false only where there can be no row
   */
  private Optional<AccountEntry.Versions> find(Digest request, boolean mayBeStored) {
    Optional<AccountEntry.Versions> here = entries.find(request);
    if (here.isEmpty() && !mayBeStored) {
      return Optional.empty();
    }
    if (here.isEmpty()) {
      Optional<AccountEntry> entry = row(request).flatMap(this::kept);
      entry.ifPresent(back -> {
        folded.takeBack(back);
        put(back, Optional.empty());
      });
      return entries.find(request);
    }
    AccountEntry entry = here.get().now();
    if (!entry.keptUntil().isAfter(latest) && entry.step() != nextStep - 1) {
      dropOver(entry); // expired, and not dropped before
      return Optional.empty();
    }
    return here;
  }

  private Optional<AccountEntry> kept(AccountEntry entry) {
    return changes.kept(entry, latest);
  }

  /**
   * Drops entries past every window, and returns the rows to delete. Only for the start, when no
   * request is at work: otherwise the deletion could be committed after a new judgement of the same
   * request, and delete its row. Until the next start, or {@link #deleteOver}, rows of entries that
   * {@link #judge} drops stay stored, unused.
   */
  public List<Row> expire(Instant now) {
    lock.lock();
    try {
      latest = AccountEntry.later(latest, Timestamps.truncate(now));
      List<Digest> forgotten = forgetExpired(latest, Integer.MAX_VALUE);
      stale.stream().filter(request -> !entries.has(request)).forEach(forgotten::add);
      stale.clear();
      return forgotten.stream()
          .map(request -> new Row(ROW_PREFIX + request.hex(), Optional.empty()))
          .toList();
    } finally {
      lock.unlock();
    }
  }

  /** How many steps were taken. */
  public long steps() {
    lock.lock();
    try {
      return nextStep - 1;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Whether a row was needed only until then; quicker than reading all of it.
   *
   * @param until the time of the last durable event
   */
  public static boolean isOver(byte[] row, Instant until) {
    String text = new String(row, StandardCharsets.ISO_8859_1);
    int at = text.indexOf(KEPT_UNTIL); // in a string its quotes would be escaped
    return at >= 0
        && !Timestamps.parse(
                text.substring(
                    at + KEPT_UNTIL.length(), text.indexOf('"', at + KEPT_UNTIL.length())))
            .isAfter(until);
  }

  /**
   * Has the rows among these deleted that nothing needs, while no step is taken: a row that is
   * written later is written behind the deletion.
   *
   * @param rows as they are stored, of which each {@link #isOver}
   * @param deletion enqueues a batch with the rows, which have no values
   */
  public void deleteOver(List<Row> rows, Consumer<List<Row>> deletion) {
    lock.lock();
    try {
      List<Row> over = new ArrayList<>();
      for (Row row : rows) {
        AccountEntry entry = read(row.key(), row.value().orElseThrow());
        // The newest that is stored holds the step number: a newer one may never be stored.
        boolean isNeeded =
            entries.has(entry.request()) || entry.step() >= storedStep || kept(entry).isPresent();
        if (!isNeeded) {
          over.add(new Row(row.key(), Optional.empty()));
          folded.close(entry.request());
        }
      }
      if (!over.isEmpty()) {
        deletion.accept(over);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Drops entries that are not needed; never the newest, which holds the step number. */
  private List<Digest> forgetExpired(Instant now, int most) {
    List<Digest> forgotten = new ArrayList<>();
    for (AccountEntry entry : entries.expired(now, most, nextStep - 1)) {
      dropOver(entry);
      forgotten.add(entry.request());
    }
    return forgotten;
  }

  static Row row(AccountEntry entry) {
    return new Row(ROW_PREFIX + entry.request().hex(), Optional.of(Jcs.write(entry.toJson())));
  }
}
