package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.Limits;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.guardian.Accounts.Row;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.limit.Rate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * What accounts hold in memory, and how that goes with their stored rows: entries whole, entries
 * folded into sums, nonces, and the number of the next step. Not safe for use by many threads:
 * {@link Accounts} takes each step under its lock.
 */
final class AccountBook {
  private final UsedNonces nonces = new UsedNonces();
  private final PolicyChanges changes = new PolicyChanges();
  private final List<Digest> stale = new ArrayList<>();
  private final Accounts.Stored stored;
  private final HeldEntries entries;
  private final FoldedEntries folded;

  private long nextStep = 1;

  /** The greatest step whose row is known to be stored: a crash takes no such step back. */
  private long storedStep;

  /** The newest entry, if it is durable: it is folded when it is not the newest any more. */
  private Optional<Digest> durableNewest = Optional.empty();

  /** The latest time of a judgement; entries that were needed only until then are dropped. */
  private Instant latest;

  AccountBook(Policy policy, Accounts.Stored stored, Instant latest) {
    this.stored = stored;
    this.latest = latest;
    entries = new HeldEntries(policy, stored != Accounts.Stored.NONE);
    folded = new FoldedEntries(policy);
  }

  /** Reads all rows, and keeps every entry in memory. */
  void restore(Iterable<Row> rows, Instant now) {
    List<AccountEntry> all = new ArrayList<>();
    rows.forEach(row -> all.add(counted(row)));
    for (AccountEntry entry : all) {
      boolean isOver = !entry.keptUntil().isAfter(now) && entry.step() != nextStep - 1;
      put(isOver ? entry : extended(entry), Optional.empty());
    }
  }

  /**
   * Reads the stored rows, and keeps only sums for old entries.
   *
   * @param step at least so many steps were taken
   * @param summarizes whether there are to be summaries
   */
  void restore(long step, boolean summarizes) {
    if (!summarizes) {
      folded.endSummaries();
    }
    List<AccountEntry> newest = new ArrayList<>(); // one at most: never forgotten
    stored.scan(row -> {
      long before = nextStep;
      AccountEntry entry = counted(row);
      if (nextStep > before) {
        newest.forEach(this::load);
        newest.clear();
        newest.add(entry);
      } else {
        load(entry);
      }
    });
    newest.forEach(entry -> put(extended(entry), Optional.empty()));
    nextStep = Math.max(nextStep, step + 1);
    folded.reached(step);
    storedStep = nextStep - 1;
    begin();
  }

  /** Reads summaries, and those rows alone that they do not cover. */
  void restore(AccountSummary.Stored summaries, boolean repeat) {
    TreeSet<Digest> toRead = new TreeSet<>(folded.restore(summaries.summaries(), repeat));
    toRead.addAll(summaries.since());
    summaries
        .nonces()
        .accept(uses -> {
          if (!areNoncesOver(uses.newestMs())) {
            uses.forEach(nonces::add); // one that is over may replace another's
          }
        });
    List<AccountEntry> rows = new ArrayList<>();
    for (Digest request : toRead) {
      Optional<AccountEntry> entry = row(request);
      if (entry.isEmpty()) {
        folded.close(request);
      }
      entry.ifPresent(rows::add);
    }
    long newest = rows.stream().mapToLong(AccountEntry::step).max().orElse(0);
    nextStep = Math.max(folded.latestStep(), newest) + 1;
    storedStep = nextStep - 1;
    for (AccountEntry entry : rows) {
      useNonce(entry);
      if (entry.step() == newest) {
        put(extended(entry), Optional.empty());
      } else {
        load(entry);
      }
    }
    expireNonces();
    begin();
  }

  private void begin() {
    changes.add(nextStep, latest, totals().policy());
  }

  private AccountEntry counted(Row row) {
    AccountEntry entry = read(row.key(), row.value().orElseThrow());
    nextStep = Math.max(nextStep, entry.step() + 1);
    return entry;
  }

  static AccountEntry read(String key, byte[] value) {
    return AccountEntry.read(
        Digest.parse("sha256:" + key.substring(Accounts.ROW_PREFIX.length())),
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

  AccountTotals totals() {
    return entries.totals();
  }

  HeldEntries entries() {
    return entries;
  }

  FoldedEntries folded() {
    return folded;
  }

  UsedNonces nonces() {
    return nonces;
  }

  /** The latest time of a judgement. */
  Instant latest() {
    return latest;
  }

  /** The number of the step that is taken next. */
  long nextStep() {
    return nextStep;
  }

  /** What an account holds at that time: of entries here and of those that are folded. */
  JudgeInputs.Balance balance(Budget budget, String key, Instant time) {
    return totals().balance(budget, key, time).plus(folded.sums().balance(budget, key, time));
  }

  /** How often a counter was used in its span, the same way. */
  JudgeInputs.RateCount count(Rate rate, String key, Instant time) {
    return totals().count(rate, key, time).plus(folded.sums().count(rate, key, time));
  }

  /**
   * Whether no nonce that was used by that time, in milliseconds, is taken any more, nor would be
   * by an earlier judgement of its request, whose time may have been later.
   */
  boolean areNoncesOver(long atMs) {
    return totals().freshUntil(atMs) + 1000 * AccountTotals.LATE_S <= latest.toEpochMilli();
  }

  /** Refuses a time that is too old: sums and nonces are not exact for it any more. */
  void requireNotLate(Instant time) {
    if (time.plusSeconds(AccountTotals.LATE_S).isBefore(latest)) {
      throw new WritException(
          GuardianError.JUDGED_LATE,
          "read " + Timestamps.format(time) + ", another " + Timestamps.format(latest));
    }
  }

  void requireNonce(UsedNonces.Key nonce, Admitted a, Instant time) {
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
  boolean mayHaveBeenJudged(UsedNonces.Key nonce, Admitted a, Instant time) {
    long nowMs = AccountEntry.later(latest, time).toEpochMilli();
    // Not multipliedBy, which reckons with BigDecimal.
    long judgedFirst =
        a.request().requestedAt().minus(Admission.SKEW).minus(Admission.SKEW).toEpochMilli();
    return totals().freshUntil(judgedFirst) <= nowMs || nonces.find(nonce).isPresent();
  }

  /** Another request that used a nonce within the freshness window. */
  Optional<Digest> nonceOwner(UsedNonces.Key nonce, Admitted a, Instant time) {
    long nowMs = AccountEntry.later(latest, time).toEpochMilli();
    return nonces
        .find(nonce)
        .filter(use -> totals().freshUntil(use.atMs()) > nowMs)
        .map(UsedNonces.Use::request)
        .filter(id -> !id.equals(a.id()));
  }

  /** Changes the policy. If windows or accounts differ, all sums are computed again. */
  void usePolicy(Policy policy) {
    if (policy.digest().equals(totals().policy().digest())) {
      return;
    }
    if (totals().sameUnder(policy)) {
      totals().use(policy);
      folded.use(policy);
      return;
    }
    forgetExpired(Integer.MAX_VALUE);
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

  void put(AccountEntry entry, Optional<AccountEntry.Versions> before) {
    entries.put(entry, before);
    useNonce(entry);
  }

  /** Takes an entry back to how it was before the last step on its request. */
  void undo(AccountEntry.Versions versions) {
    drop(versions.now());
    versions.before().ifPresent(before -> put(before.now(), before.before()));
  }

  /** Changes state and charges of an entry; its nonce, times and marks stay where they are. */
  void recharge(AccountEntry.Versions before, AccountEntry after) {
    entries.recharge(before, after);
    forgetDurable(after.request());
  }

  /**
   * A step was taken at that time: what is not needed any more goes.
   *
   * @param most how many entries go at once
   */
  void stepTaken(Instant time, int most) {
    nextStep++;
    foldFormerNewest();
    latest = AccountEntry.later(latest, time);
    forgetExpired(most);
    expireNonces();
    folded.sums().prune(latest);
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

  void drop(AccountEntry entry) {
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
  void fold(int most) {
    for (AccountEntry entry : entries.foldable(latest, most)) {
      boolean needed = entry.keptUntil().isAfter(latest) && entry.step() != nextStep - 1;
      if (needed && isStored(entry)) {
        letGo(entry, false);
      }
    }
  }

  /** The rows of the last step on a request are stored: its entry need not stay in memory. */
  void durable(Digest request) {
    if (stored == Accounts.Stored.NONE) {
      return;
    }
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
    String key = Accounts.ROW_PREFIX + request.hex();
    return stored.get(key).map(value -> read(key, value));
  }

  /**
   * The entry of a request, from memory or from its row.
   *
   * @param mayBeStored false only where there can be no row
   */
  Optional<AccountEntry.Versions> find(Digest request, boolean mayBeStored) {
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

  /** Drops entries past every window, and returns the rows to delete. */
  List<Row> expire(Instant now) {
    latest = AccountEntry.later(latest, Timestamps.truncate(now));
    List<Digest> forgotten = forgetExpired(Integer.MAX_VALUE);
    stale.stream().filter(request -> !entries.has(request)).forEach(forgotten::add);
    stale.clear();
    return forgotten.stream()
        .map(request -> new Row(Accounts.ROW_PREFIX + request.hex(), Optional.empty()))
        .toList();
  }

  /** The deletions of the rows among these that nothing needs. */
  List<Row> over(List<Row> rows) {
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
    return over;
  }

  /** Drops entries that are not needed; never the newest, which holds the step number. */
  private List<Digest> forgetExpired(int most) {
    List<Digest> forgotten = new ArrayList<>();
    for (AccountEntry entry : entries.expired(latest, most, nextStep - 1)) {
      dropOver(entry);
      forgotten.add(entry.request());
    }
    return forgotten;
  }

  static Row row(AccountEntry entry) {
    return new Row(
        Accounts.ROW_PREFIX + entry.request().hex(), Optional.of(Jcs.write(entry.toJson())));
  }
}
