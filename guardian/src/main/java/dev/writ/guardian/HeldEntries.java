package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.guardian.policy.Policy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The entries that accounts have in memory, their sums, and the order in which they are due to be
 * let go of. Not thread safe.
 */
final class HeldEntries {
  private final TreeMap<Digest, AccountEntry.Versions> entries = new TreeMap<>();

  /** By the time until which they are kept. */
  private final TreeSet<Due> expiries = new TreeSet<>();

  /** By the time from which their rows are enough; empty where entries are never let go of. */
  private final TreeSet<Due> foldable = new TreeSet<>();

  private final boolean folds;
  private AccountTotals totals;

  private record Due(Instant at, Digest request) implements Comparable<Due> {
    @Override
    public int compareTo(Due other) {
      int byTime = at.compareTo(other.at);
      return byTime != 0 ? byTime : request.compareTo(other.request);
    }
  }

  /**
   * @param folds whether entries are let go of once their rows are stored
   */
  HeldEntries(Policy policy, boolean folds) {
    this.folds = folds;
    totals = AccountTotals.ofEntries(policy);
  }

  /** The sums over all of them. */
  AccountTotals totals() {
    return totals;
  }

  Optional<AccountEntry.Versions> find(Digest request) {
    return Optional.ofNullable(entries.get(request));
  }

  boolean has(Digest request) {
    return entries.containsKey(request);
  }

  int size() {
    return entries.size();
  }

  /** As they are now, in the order of their requests. */
  List<AccountEntry> all() {
    return entries.values().stream().map(AccountEntry.Versions::now).toList();
  }

  /** Adds the entry of a request that has none here. */
  void put(AccountEntry entry, Optional<AccountEntry.Versions> before) {
    entries.put(entry.request(), new AccountEntry.Versions(entry, before));
    expiries.add(new Due(entry.keptUntil(), entry.request()));
    if (folds) {
      foldable.add(new Due(totals.freshUntil(entry), entry.request()));
    }
    totals.add(entry);
  }

  /** Replaces an entry by one that differs in state and charges alone. */
  void recharge(AccountEntry.Versions before, AccountEntry after) {
    entries.put(after.request(), new AccountEntry.Versions(after, Optional.of(before)));
    totals.recharge(before.now(), after);
  }

  void remove(AccountEntry entry) {
    entries.remove(entry.request());
    expiries.remove(new Due(entry.keptUntil(), entry.request()));
    foldable.remove(new Due(totals.freshUntil(entry), entry.request()));
    totals.remove(entry);
  }

  /** The first entries past the freshness window, the oldest first. */
  List<AccountEntry> foldable(Instant now, int most) {
    List<AccountEntry> old = new ArrayList<>();
    for (Due due : foldable) {
      if (old.size() == most || due.at().isAfter(now)) {
        break;
      }
      old.add(entries.get(due.request()).now());
    }
    return old;
  }

  /**
   * The first entries that nothing needs any more, the oldest first.
   *
   * @param newestStep the entry of that step is not among them
   */
  List<AccountEntry> expired(Instant now, int most, long newestStep) {
    List<AccountEntry> expired = new ArrayList<>();
    for (Due due : expiries) {
      if (expired.size() == most || due.at().isAfter(now)) {
        break;
      }
      AccountEntry entry = entries.get(due.request()).now();
      if (entry.step() != newestStep) {
        expired.add(entry);
      }
    }
    return expired;
  }

  /**
   * Removes all, and begins again under a policy with other sums.
   *
   * @return what was removed
   */
  List<AccountEntry.Versions> restart(Policy policy) {
    List<AccountEntry.Versions> all = List.copyOf(entries.values());
    entries.clear();
    expiries.clear();
    foldable.clear();
    totals = AccountTotals.ofEntries(policy);
    return all;
  }
}
