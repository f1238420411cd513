package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.guardian.policy.Policy;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * What accounts keep of entries that they folded: their sums, and what the next summary will say of
 * them. Not thread safe, but for {@link #waiting}.
 */
final class FoldedEntries {
  private AccountTotals sums;
  private Unsummarized unsummarized;

  /** False for good once sums changed with a policy, or a summary could not be stored. */
  private boolean summarizes = true;

  /** The latest step of an entry that was folded, or dropped because it is over. */
  private long latestStep;

  private volatile int waiting;

  FoldedEntries(Policy policy) {
    sums = AccountTotals.ofFolded(policy);
    unsummarized = new Unsummarized(policy);
  }

  AccountTotals sums() {
    return sums;
  }

  long latestStep() {
    return latestStep;
  }

  /** Says that the steps up to that one were taken. */
  void reached(long step) {
    latestStep = Math.max(latestStep, step);
  }

  /** How many entries the next summary would have; none where there cannot be one. */
  int waiting() {
    return waiting;
  }

  /**
   * Folds an entry.
   *
   * @param isDurable whether the log is known to have its last event
   */
  void add(AccountEntry entry, boolean isDurable) {
    sums.add(entry);
    reached(entry.step());
    if (summarizes) {
      unsummarized.add(entry, isDurable);
      waiting = unsummarized.length();
    }
  }

  /** An entry is in memory again. */
  void takeBack(AccountEntry entry) {
    sums.remove(entry);
    if (summarizes) {
      unsummarized.takeBack(entry);
    }
  }

  /** The row of a request need not be read any more. */
  void close(Digest request) {
    unsummarized.close(request);
  }

  /** An entry in memory is not needed any more. */
  void drop(Digest request) {
    unsummarized.drop(request);
  }

  /**
   * Begins with what earlier summaries said.
   *
   * @param repeat whether the next summary says all of it again
   * @return requests whose rows have to be read
   */
  List<Digest> restore(List<AccountSummary> summaries, boolean repeat) {
    for (AccountSummary summary : summaries) {
      sums.add(summary);
      if (repeat) {
        unsummarized.repeat(summary);
      } else {
        unsummarized.restore(summary);
      }
      reached(summary.step());
    }
    waiting = unsummarized.length();
    return unsummarized.openRequests();
  }

  /**
   * Summarizes what came since the last summary.
   *
   * @param inMemory entries that are in memory: their rows are to be read at a start
   * @param logSize asked only where there is a summary
   * @return empty where there are no summaries
   */
  Optional<AccountSummary.Taken> summarize(
      List<AccountEntry> inMemory, Instant now, LongSupplier logSize, long restarts) {
    if (!summarizes) {
      return Optional.empty();
    }
    waiting = 0;
    return Optional.of(
        unsummarized.take(sums.policy(), inMemory, now, logSize.getAsLong(), restarts, latestStep));
  }

  /** From now on there are no summaries. */
  void endSummaries() {
    summarizes = false;
    unsummarized = new Unsummarized(sums.policy());
    waiting = 0;
  }

  /** Continues under a policy with the same sums. */
  void use(Policy policy) {
    sums.use(policy);
  }

  /** Removes all, and begins again under a policy with other sums. */
  void restart(Policy policy) {
    sums = AccountTotals.ofFolded(policy);
    endSummaries();
  }
}
