package dev.writ.guardian;

import dev.writ.guardian.policy.Policy;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Optional;

/**
 * The changes to policies with other accounts since the start, which is one itself: its rows may be
 * of a policy with shorter windows. They say until when a stored row is needed. Not thread safe.
 */
final class PolicyChanges {
  private static final int REMEMBERED_MAX = 64;

  private final ArrayDeque<Change> changes = new ArrayDeque<>();

  /**
   * @param step the first under the policy
   * @param at the latest time at the change
   */
  private record Change(long step, Instant at, Policy policy) {}

  void add(long step, Instant at, Policy policy) {
    changes.addLast(new Change(step, at, policy));
    if (changes.size() > REMEMBERED_MAX) {
      changes.removeFirst();
    }
  }

  /** A stored entry as it would be in memory; absent if it is not needed any more. */
  Optional<AccountEntry> kept(AccountEntry stored, Instant latest) {
    Instant until = stored.keptUntil();
    for (Change change : changes) {
      if (stored.step() < change.step()) {
        boolean wasNewest = stored.step() == change.step() - 1;
        if (!until.isAfter(change.at()) && !wasNewest) {
          return Optional.empty();
        }
        until = AccountEntry.later(until, AccountTotals.neededUntil(change.policy(), stored));
      }
    }
    return until.isAfter(latest) ? Optional.of(stored.keptUntil(until)) : Optional.empty();
  }
}
