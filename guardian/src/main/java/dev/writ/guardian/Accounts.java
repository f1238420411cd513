package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
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
  private final AccountBook book;

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

  private Accounts(AccountBook book) {
    this.book = book;
  }

  /**
   * Accounts that keep every entry.
   *
   * @param rows all rows whose keys begin with {@link #ROW_PREFIX}, in the order of their keys
   * @param now entries that were needed only until then go with {@link #expire}
   * @throws WritException {@code CAN-0xx} where a row is damaged
   */
  public static Accounts restore(Iterable<Row> rows, Policy p, Instant now) {
    AccountBook book = new AccountBook(p, Stored.NONE, Instant.MIN);
    book.restore(rows, now);
    return new Accounts(book);
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
    AccountBook book = new AccountBook(p, stored, Timestamps.truncate(now));
    book.restore(step, summarizes);
    return new Accounts(book);
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
    AccountBook book = new AccountBook(p, stored, Timestamps.truncate(now));
    book.restore(summaries, repeat);
    return new Accounts(book);
  }

  /** How many requests that are over no summary has; none where there cannot be one. */
  public int unsummarized() {
    return book.folded().waiting();
  }

  /** From now on there are no summaries: one was taken and cannot be stored. */
  public void endSummaries() {
    lock.lock();
    try {
      book.folded().endSummaries();
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
      return book.folded().summarize(book.entries().all(), book.latest(), logSize, restarts);
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
    return new AccountComparison(parts(), others.parts(), book.latest()).lacking();
  }

  private AccountComparison.Parts parts() {
    return new AccountComparison.Parts(book.totals(), book.folded().sums(), book.nonces());
  }

  /**
   * Whether no nonce that was used by that time, in milliseconds, is taken any more, nor would be
   * by an earlier judgement of its request, whose time may have been later.
   */
  public boolean areNoncesOver(long atMs) {
    lock.lock();
    try {
      return book.areNoncesOver(atMs);
    } finally {
      lock.unlock();
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
    return new Judged(decision, List.of(AccountBook.row(taken.entry)));
  }

  /** The result of one step; documents and rows are made outside the lock. */
  private record Taken(Matter matter, List<CheckOutcome> outcomes, AccountEntry entry) {}

  private Taken take(
      Matter ahead, Judge.Ahead checks, Gathered gathered, RequestNonce nonce, boolean isKnown) {
    Admitted a = ahead.admitted();
    Instant time = gathered.time();
    lock.lock();
    try {
      book.requireNotLate(time);
      book.usePolicy(ahead.policy());
      book.fold(FORGOTTEN_AT_ONCE_MAX);
      book.requireNonce(nonce.key(), a, time);
      Optional<AccountEntry.Versions> versions =
          book.find(a.id(), isKnown || book.mayHaveBeenJudged(nonce.key(), a, time));
      Optional<AccountEntry> before = versions.map(AccountEntry.Versions::now);
      if (before.filter(entry -> entry.state() == State.SETTLED).isPresent()) {
        throw new WritException(GuardianError.REQUEST_SETTLED, a.id().toString());
      }
      before.ifPresent(book::drop);
      boolean taken = false;
      try {
        JudgeInputs inputs = inputs(ahead, gathered, nonce.key(), time);
        Matter matter = ahead.with(inputs);
        List<CheckOutcome> outcomes = Judge.outcomes(matter, checks);
        boolean allowed = Judge.verdict(outcomes) == Verdict.ALLOW;
        AccountEntry entry = entryOf(matter, allowed, nonce.account(), before, time);
        book.put(entry, versions);
        taken = true;
        book.stepTaken(time, FORGOTTEN_AT_ONCE_MAX);
        return new Taken(matter, outcomes, entry);
      } finally {
        if (!taken) {
          versions.ifPresent(v -> book.put(v.now(), v.before()));
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
      book.usePolicy(p);
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
      book.usePolicy(p);
      return accounts.stream()
          .map(account -> book.balance(account.budget(), account.key(), time))
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
      book.usePolicy(p);
      return new ArrivedAccounts(book.totals(), book.folded().sums()).held(tenant, time);
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
      book.usePolicy(p);
      AccountEntry entry =
          new ArrivedAccounts(book.totals(), book.folded().sums())
              .entry(document, tenant, carried, time);
      book.put(entry.keptUntil(book.totals().neededUntil(entry)), Optional.empty());
      return AccountBook.row(book.entries().find(document).orElseThrow().now());
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
          Budget budget = book.totals().policy().budgets().get(charge.budget());
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
      Optional<AccountEntry.Versions> found = book.find(request, true);
      if (found.isEmpty() || found.get().now().state() != State.RESERVED) {
        return List.of();
      }
      AccountEntry.Versions versions = found.get();
      AccountEntry before = versions.now();
      List<Charge> charges = new ArrayList<>();
      before.charges().forEach(charge -> settled.apply(charge).ifPresent(charges::add));
      AccountEntry after = before.with(state, charges);
      book.recharge(versions, after);
      return List.of(AccountBook.row(after));
    } finally {
      lock.unlock();
    }
  }

  /** Undoes the last step on a request: the batch that carried its rows was never committed. */
  @Override
  public void forget(Digest request) {
    lock.lock();
    try {
      book.entries().find(request).ifPresent(book::undo);
    } finally {
      lock.unlock();
    }
  }

  /** The bytes that it keeps for requests that are over. */
  long keptBytes() {
    lock.lock();
    try {
      return book.nonces().bytes() + book.folded().sums().bytes();
    } finally {
      lock.unlock();
    }
  }

  /** How many entries are kept whole. */
  int kept() {
    lock.lock();
    try {
      return book.entries().size();
    } finally {
      lock.unlock();
    }
  }

  /** The current rows of all entries in memory, in the order of their keys. */
  public List<Row> rows() {
    lock.lock();
    try {
      return book.entries().all().stream().map(AccountBook::row).toList();
    } finally {
      lock.unlock();
    }
  }

  private JudgeInputs inputs(Matter matter, Gathered gathered, UsedNonces.Key nonce, Instant time) {
    List<JudgeInputs.Balance> balances = new ArrayList<>(matter.charges().dues().size());
    for (Charges.Due due : matter.charges().dues()) {
      balances.add(book.balance(due.budget(), due.key(), time));
    }
    List<JudgeInputs.RateCount> rates = new ArrayList<>(matter.charges().counted().size());
    for (Charges.Counted counted : matter.charges().counted()) {
      rates.add(book.count(counted.rate(), counted.key(), time));
    }
    return gathered.inputs(
        book.nextStep(),
        balances,
        rates,
        book.nonceOwner(nonce, matter.admitted(), time).isPresent());
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
            book.nextStep(),
            allowed ? State.RESERVED : State.JUDGED,
            nonce,
            time,
            charges,
            marks);
    return entry.keptUntil(book.totals().neededUntil(entry));
  }

  /**
   * Says that the rows of the last step on a request are stored, while no other step on it can be
   * at work: its entry need not stay in memory.
   */
  @Override
  public void durable(Digest request) {
    lock.lock();
    try {
      book.durable(request);
    } finally {
      lock.unlock();
    }
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
      return book.expire(now);
    } finally {
      lock.unlock();
    }
  }

  /** How many steps were taken. */
  public long steps() {
    lock.lock();
    try {
      return book.nextStep() - 1;
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
      List<Row> over = book.over(rows);
      if (!over.isEmpty()) {
        deletion.accept(over);
      }
    } finally {
      lock.unlock();
    }
  }
}
