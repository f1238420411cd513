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
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

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

  private boolean replacesNonces;

  /** A summary that was taken is lost; without it later ones would be wrong. */
  private volatile boolean broken;

  private long stepsAtDeletion;
  private long rowsLeft;
  private Optional<Commit> deletion = Optional.empty();

  private AccountSummaries(
      Ledger ledger,
      Accounts accounts,
      int every,
      Collection<Long> numbers,
      Collection<String> nonces,
      boolean replaces,
      boolean replacesNonces) {
    this.ledger = ledger;
    this.accounts = accounts;
    this.every = every;
    this.replaces = replaces;
    this.replacesNonces = replacesNonces;
    this.numbers.addAll(numbers);
    this.nonces.addAll(nonces);
  }

  /**
   * Restores the accounts of a ledger, from summaries where they hold under that policy.
   *
   * @param every requests in a summary
   */
  static AccountSummaries restore(Ledger ledger, Accounts.Stored stored, Policy policy, int every) {
    TreeMap<Long, AccountSummary> summaries = new TreeMap<>();
    ledger.scan(
        Tables.ACCOUNT_SUMMARY,
        "",
        (key, value) -> {
          summaries.put(Long.parseLong(key, 16), AccountSummary.read(value));
          return true;
        });
    TreeSet<String> nonces = new TreeSet<>();
    boolean hold = hold(ledger, summaries.values(), policy);
    boolean merge = hold && summaries.size() > KEPT_MAX;
    Accounts accounts;
    if (hold) {
      List<AccountSummary> all = List.copyOf(summaries.values());
      accounts =
          Accounts.restore(
              stored,
              new AccountSummary.Stored(
                  all,
                  visitor -> nonces(ledger, nonces, visitor),
                  since(ledger, all.getLast().logSize())),
              merge,
              policy,
              ledger.highWater());
    } else {
      nonces(ledger, nonces, _ -> {});
      long step = summaries.values().stream().mapToLong(AccountSummary::step).max().orElse(0);
      accounts = Accounts.restore(stored, step, policy, ledger.highWater());
    }
    return new AccountSummaries(
        ledger,
        accounts,
        every,
        summaries.navigableKeySet(),
        nonces,
        merge || !hold && !summaries.isEmpty(),
        !hold);
  }

  /** Hands out rows of nonces, and remembers their keys. */
  private static void nonces(LedgerView ledger, TreeSet<String> keys, Consumer<NonceUses> visitor) {
    ledger.scan(
        Tables.ACCOUNT_NONCES,
        "",
        (key, value) -> {
          keys.add(key);
          visitor.accept(new NonceUses(newestMs(key), value));
          return true;
        });
  }

  private static long newestMs(String nonces) {
    return Long.parseLong(Tables.firstPart(nonces), 16);
  }

  /** Whether summaries hold for the log as it is, under that policy. */
  private static boolean hold(
      LedgerView ledger, Collection<AccountSummary> summaries, Policy policy) {
    if (summaries.isEmpty()) {
      return false;
    }
    AccountSummary last = List.copyOf(summaries).getLast();
    return last.restarts() == ledger.timeRestarts().size()
        && ledger.treeSize() - last.logSize() <= EVENTS_MAX
        && summaries.stream()
            .map(AccountSummary::policy)
            .distinct()
            .allMatch(summarized -> isSame(ledger, summarized, policy));
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
      numbers.clear();
      replaces = false;
    }
    if (replacesNonces) {
      nonces.forEach(old -> batch.delete(Tables.ACCOUNT_NONCES, old));
      nonces.clear();
      replacesNonces = false;
    }
    while (!nonces.isEmpty() && accounts.areNoncesOver(newestMs(nonces.first()))) {
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
