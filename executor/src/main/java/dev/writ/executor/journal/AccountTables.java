package dev.writ.executor.journal;

import dev.writ.canonicalize.Digest;
import dev.writ.guardian.AccountSummary;
import dev.writ.guardian.Accounts;
import dev.writ.guardian.NonceUses;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/** The rows of the accounts and of their summaries, as a start reads them (spec/storage.md). */
public final class AccountTables {
  /** With more events behind the last summary, reading all rows takes no longer. */
  private static final long EVENTS_MAX = 1 << 17;

  private final LedgerView ledger;
  private final TreeMap<Long, AccountSummary> summaries = new TreeMap<>();
  private final TreeSet<String> nonces = new TreeSet<>();

  public AccountTables(LedgerView ledger) {
    this.ledger = ledger;
    ledger.scan(
        Tables.ACCOUNT_SUMMARY,
        "",
        (key, value) -> {
          summaries.put(Long.parseLong(key, 16), AccountSummary.read(value));
          return true;
        });
  }

  /** Accounts from the rows of all requests. */
  public Accounts ofRows(Policy policy) {
    long step = summaries.values().stream().mapToLong(AccountSummary::step).max().orElse(0);
    return Accounts.restore(rows(), step, policy, ledger.highWater());
  }

  /** What summaries lack of what the rows of all requests say; nothing where there are none. */
  public List<String> lacking(Policy policy) {
    return ofSummaries(policy, false)
        .map(summarized ->
            summarized.lacking(Accounts.restoreToLookAt(rows(), policy, ledger.highWater())))
        .orElse(List.of());
  }

  /**
   * Accounts from summaries, where these hold for the log as it is under that policy.
   *
   * @param repeat whether the next summary takes the place of these
   */
  public Optional<Accounts> ofSummaries(Policy policy, boolean repeat) {
    if (!hold(policy)) {
      return Optional.empty();
    }
    AccountSummary.Stored stored =
        new AccountSummary.Stored(
            List.copyOf(summaries.values()), this::nonces, since(last().logSize()));
    return Optional.of(Accounts.restore(rows(), stored, repeat, policy, ledger.highWater()));
  }

  /** The summaries by their numbers. */
  public NavigableMap<Long, AccountSummary> summaries() {
    return Collections.unmodifiableNavigableMap(summaries);
  }

  /** Keys of the rows of nonces, the oldest first. */
  public List<String> nonces() {
    if (nonces.isEmpty()) { // else they were read with the summaries
      nonces(_ -> {});
    }
    return List.copyOf(nonces);
  }

  /** The latest time of a row of nonces, in milliseconds. */
  public static long newestMs(String nonces) {
    return Long.parseLong(Tables.firstPart(nonces), 16);
  }

  private Accounts.Stored rows() {
    return new Accounts.Stored() {
      @Override
      public Optional<byte[]> get(String key) {
        return ledger.get(Tables.ACCOUNT, key);
      }

      @Override
      public void scan(Consumer<Accounts.Row> visitor) {
        ledger.scan(
            Tables.ACCOUNT,
            "",
            (key, value) -> {
              visitor.accept(new Accounts.Row(key, Optional.of(value)));
              return true;
            });
      }
    };
  }

  private void nonces(Consumer<NonceUses> visitor) {
    ledger.scan(
        Tables.ACCOUNT_NONCES,
        "",
        (key, value) -> {
          nonces.add(key);
          visitor.accept(new NonceUses(newestMs(key), value));
          return true;
        });
  }

  private AccountSummary last() {
    return summaries.lastEntry().getValue();
  }

  private boolean hold(Policy policy) {
    return !summaries.isEmpty()
        && last().restarts() == ledger.timeRestarts().size()
        && last().logSize() <= ledger.treeSize()
        && ledger.treeSize() - last().logSize() <= EVENTS_MAX
        && summaries.values().stream().allMatch(summary -> summary.fits(policy))
        && summaries.values().stream()
            .map(AccountSummary::policy)
            .distinct()
            .allMatch(summarized -> isSame(summarized, policy));
  }

  private boolean isSame(Digest summarized, Policy policy) {
    return summarized.equals(policy.digest())
        || ledger
            .document(summarized)
            .map(document -> Policy.ofCanonical(document.document()))
            .filter(then -> AccountSummary.areSumsEqual(then, policy))
            .isPresent();
  }

  /** The requests with a step of the accounts from that position of the log on. */
  private List<Digest> since(long from) {
    TreeSet<Digest> requests = new TreeSet<>();
    ledger.eventsByIndex(
        from, ledger.treeSize(), (_, event) -> request(event).ifPresent(requests::add));
    return new ArrayList<>(requests);
  }

  private Optional<Digest> request(Event event) {
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
      case EventKind.TENANT_ARRIVED -> Optional.of(event.body()); // the name of its row
      default -> Optional.empty();
    };
  }
}
