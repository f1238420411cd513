package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.AccountSummary;
import dev.writ.guardian.Accounts;
import dev.writ.guardian.NonceUses;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Commit;
import dev.writ.ledger.Event;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerView;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Summaries of the accounts in the ledger: a start reads them, and the rows of the requests that
 * they do not cover, instead of one row for each request of the last windows (spec/storage.md).
 */
final class AccountSummaries {
  /** So many summaries are made one at a start. */
  private static final int KEPT_MAX = 64;

  /** With more events behind the last summary, reading all rows takes no longer. */
  private static final long EVENTS_MAX = 1 << 17;

  private static final int DELETED_AT_ONCE = 256;

  private final Ledger ledger;
  private final Accounts accounts;
  private final int every;
  private final ReentrantLock lock = new ReentrantLock();

  /** Keys of the rows of nonces, the oldest first. */
  private final TreeSet<String> nonces = new TreeSet<>();

  /** Numbers of the summaries that are stored. */
  private final TreeSet<Long> numbers = new TreeSet<>();

  /** Whether the next summary takes the place of these. */
  private volatile boolean replaces;

  /** A summary that was taken is lost; without it later ones would be wrong. */
  private volatile boolean broken;

  private long stepsAtDeletion;
  private long rowsLeft;
  private Optional<Commit> deletion = Optional.empty();

  private AccountSummaries(
      Ledger ledger, Accounts accounts, int every, Rows rows, boolean replaces) {
    this.ledger = ledger;
    this.accounts = accounts;
    this.every = every;
    this.replaces = replaces;
    numbers.addAll(rows.summaries.keySet());
    nonces.addAll(rows.nonces.keySet());
  }

  /** The rows of both tables. */
  private record Rows(TreeMap<Long, AccountSummary> summaries, TreeMap<String, NonceUses> nonces) {
    static Rows of(LedgerView ledger) {
      Rows rows = new Rows(new TreeMap<>(), new TreeMap<>());
      ledger.scan(
          Tables.ACCOUNT_SUMMARY,
          "",
          (key, value) -> {
            rows.summaries.put(Long.parseLong(key, 16), AccountSummary.read(value));
            return true;
          });
      ledger.scan(
          Tables.ACCOUNT_NONCES,
          "",
          (key, value) -> {
            rows.nonces.put(key, new NonceUses(Long.parseLong(Tables.firstPart(key), 16), value));
            return true;
          });
      return rows;
    }
  }

  /**
   * Restores the accounts of a ledger, from summaries where they hold under that policy.
   *
   * @param every requests in a summary
   */
  static AccountSummaries restore(Ledger ledger, Accounts.Stored stored, Policy policy, int every) {
    Rows rows = Rows.of(ledger);
    Optional<AccountSummary.Stored> usable = usable(ledger, rows, policy);
    if (usable.isPresent()) {
      boolean replaces = rows.summaries.size() > KEPT_MAX;
      return new AccountSummaries(
          ledger,
          Accounts.restore(stored, usable.get(), replaces, policy, ledger.highWater()),
          every,
          rows,
          replaces);
    }
    long step = rows.summaries.values().stream().mapToLong(AccountSummary::step).max().orElse(0);
    return new AccountSummaries(
        ledger,
        Accounts.restore(stored, step, policy, ledger.highWater()),
        every,
        rows,
        !rows.summaries.isEmpty());
  }

  private static Optional<AccountSummary.Stored> usable(
      LedgerView ledger, Rows rows, Policy policy) {
    if (rows.summaries.isEmpty()) {
      return Optional.empty();
    }
    AccountSummary last = rows.summaries.lastEntry().getValue();
    boolean holds =
        last.restarts() == ledger.timeRestarts().size()
            && ledger.treeSize() - last.logSize() <= EVENTS_MAX
            && rows.summaries.values().stream()
                .map(AccountSummary::policy)
                .distinct()
                .allMatch(summarized -> isSame(ledger, summarized, policy));
    return holds
        ? Optional.of(
            new AccountSummary.Stored(
                List.copyOf(rows.summaries.values()),
                List.copyOf(rows.nonces.values()),
                since(ledger, last.logSize())))
        : Optional.empty();
  }

  private static boolean isSame(LedgerView ledger, Digest summarized, Policy policy) {
    return summarized.equals(policy.digest())
        || ledger
            .document(summarized)
            .map(document -> Policy.ofCanonical(document.document()))
            .filter(then -> AccountSummary.areSumsEqual(then, policy))
            .isPresent();
  }

  /** The requests with a step of the accounts from that position of the log on. */
  private static List<Digest> since(LedgerView ledger, long from) {
    TreeSet<Digest> requests = new TreeSet<>();
    ledger.eventsByIndex(
        from, ledger.treeSize(), (_, event) -> request(ledger, event).ifPresent(requests::add));
    return new ArrayList<>(requests);
  }

  private static Optional<Digest> request(LedgerView ledger, Event event) {
    return switch (event.kind()) {
      case EventKind.DECISION_MADE ->
          Optional.of(Decision.read(ledger.document(event.body()).orElseThrow().document()))
              .map(Decision::request);
      case EventKind.RECEIPT_SIGNED ->
          Optional.of(Receipt.read(ledger.document(event.body()).orElseThrow().document()))
              .map(Receipt::request);
      case EventKind.EFFECT_REFUSED ->
          Optional.of(Refusal.read(ledger.document(event.body()).orElseThrow().document()))
              .map(Refusal::request);
      default -> Optional.empty();
    };
  }

  Accounts accounts() {
    return accounts;
  }

  /** Writes a summary if there is enough for one; another thread may be about it. */
  void writeIfDue() {
    int length = accounts.unsummarized();
    boolean isDue = length >= every || replaces && length > 0;
    if (isDue && !broken && lock.tryLock()) {
      try {
        write();
      } catch (WritException e) {
        broken = true; // what is stored stays right, and whoever writes next hears of the failure
      } finally {
        lock.unlock();
      }
    }
  }

  /**
   * Deletes rows that are over, from time to time: it reads all rows, so only when steps were taken
   * for half as many since.
   */
  void deleteRowsThatAreOver() {
    lock.lock();
    try {
      long steps = accounts.steps();
      if (steps - stepsAtDeletion < rowsLeft / 2) {
        return;
      }
      stepsAtDeletion = steps;
      rowsLeft = 0;
      Instant until = ledger.highWater();
      List<Accounts.Row> over = new ArrayList<>();
      ledger.scan(
          Tables.ACCOUNT,
          "",
          (key, value) -> {
            if (Accounts.isOver(value, until)) {
              over.add(new Accounts.Row(key, Optional.of(value)));
            } else {
              rowsLeft++;
            }
            if (over.size() == DELETED_AT_ONCE) {
              delete(over, until);
            }
            return true;
          });
      delete(over, until);
      deletion.ifPresent(Commit::await);
    } finally {
      lock.unlock();
    }
  }

  private void delete(List<Accounts.Row> over, Instant until) {
    accounts.deleteOver(
        over,
        until,
        rows -> {
          Batch batch = new Batch();
          rows.forEach(row -> batch.delete(Tables.ACCOUNT, row.key()));
          deletion = Optional.of(ledger.append(batch));
        });
    over.clear();
  }

  /** Nobody waits for it: without it, a start reads more. */
  private void write() {
    if (accounts.unsummarized() == 0) {
      return; // another thread was faster
    }
    Optional<AccountSummary.Taken> taken =
        accounts.summarize(ledger::treeSize, ledger.timeRestarts().size());
    if (taken.isEmpty()) {
      return;
    }
    Batch batch = new Batch();
    long number = numbers.isEmpty() ? 1 : numbers.last() + 1;
    if (replaces) {
      numbers.forEach(old -> batch.delete(Tables.ACCOUNT_SUMMARY, Tables.number(old)));
      nonces.forEach(old -> batch.delete(Tables.ACCOUNT_NONCES, old));
      numbers.clear();
      nonces.clear();
      replaces = false;
    }
    while (!nonces.isEmpty()
        && accounts.areNoncesOver(Long.parseLong(Tables.firstPart(nonces.first()), 16))) {
      batch.delete(Tables.ACCOUNT_NONCES, nonces.pollFirst());
    }
    numbers.add(number);
    batch.put(Tables.ACCOUNT_SUMMARY, Tables.number(number), taken.get().summary().toBytes());
    int part = 0;
    for (NonceUses uses : taken.get().nonces()) {
      String key =
          Tables.key(Tables.number(uses.newestMs()), Tables.number(number), Tables.number(part++));
      nonces.add(key);
      batch.put(Tables.ACCOUNT_NONCES, key, uses.records());
    }
    ledger.append(batch);
  }
}
