package dev.writ.executor;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.journal.AccountTables;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.AccountSummary;
import dev.writ.guardian.Accounts;
import dev.writ.guardian.NonceUses;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Commit;
import dev.writ.ledger.Ledger;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Summaries of the accounts in the ledger: a start reads them, and the rows of the requests that
 * they do not cover, instead of one row for each request of the last windows (spec/storage.md).
 */
final class AccountSummaries {
  /** So many summaries are made one at a start. */
  private static final int KEPT_MAX = 64;

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

  private boolean replacesNonces;

  private long stepsAtDeletion;
  private long rowsLeft;
  private Optional<Commit> deletion = Optional.empty();

  private AccountSummaries(
      Ledger ledger, AccountTables tables, Accounts accounts, int every, boolean hold) {
    this.ledger = ledger;
    this.accounts = accounts;
    this.every = every;
    numbers.addAll(tables.summaries().keySet());
    nonces.addAll(tables.nonces());
    replaces = hold ? numbers.size() > KEPT_MAX : !numbers.isEmpty();
    replacesNonces = !hold;
  }

  /**
   * Restores the accounts of a ledger, from summaries where they hold under that policy.
   *
   * @param every requests in a summary
   */
  static AccountSummaries restore(Ledger ledger, Policy policy, int every) {
    AccountTables tables = new AccountTables(ledger);
    Optional<Accounts> ofSummaries =
        tables.ofSummaries(policy, tables.summaries().size() > KEPT_MAX);
    Accounts accounts = ofSummaries.orElseGet(() -> tables.ofRows(policy));
    return new AccountSummaries(ledger, tables, accounts, every, ofSummaries.isPresent());
  }

  Accounts accounts() {
    return accounts;
  }

  /** Writes a summary if there is enough for one; another thread may be about it. */
  void writeIfDue() {
    int length = accounts.unsummarized();
    boolean isDue = length >= every || replaces && length > 0;
    if (isDue && lock.tryLock()) {
      try {
        write();
      } catch (WritException e) {
        // What is stored stays right, and whoever writes next hears of the failure.
        accounts.endSummaries();
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
              delete(over);
            }
            return true;
          });
      delete(over);
      deletion.ifPresent(Commit::await);
    } finally {
      lock.unlock();
    }
  }

  private void delete(List<Accounts.Row> over) {
    accounts.deleteOver(
        over,
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
      numbers.clear();
      replaces = false;
    }
    if (replacesNonces) {
      nonces.forEach(old -> batch.delete(Tables.ACCOUNT_NONCES, old));
      nonces.clear();
      replacesNonces = false;
    }
    while (!nonces.isEmpty() && accounts.areNoncesOver(AccountTables.newestMs(nonces.first()))) {
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
