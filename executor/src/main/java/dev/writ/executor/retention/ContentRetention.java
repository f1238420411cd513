package dev.writ.executor.retention;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.document.ErasureOrder;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.ChangeOrder;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Commit;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerState;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Deletes contents as policy's section {@code retention} says (spec/retention.md). Each deletion is
 * a signed statement and an event; it is written together with the removal of the rows. Thread
 * safe.
 */
public final class ContentRetention {
  /** How many contents are deleted in one write, and how often events may name these. */
  private static final int CONTENTS_MAX = 512;

  /** How many changes of the state one run survives before it is refused. */
  private static final int ATTEMPTS_MAX = 16;

  private final Ledger ledger;
  private final DocumentSigner signer;
  private final int contentsMax;
  private final ContentErasure erasure;
  private final ContentArchive archive;
  private final ReentrantLock running = new ReentrantLock();

  /**
   * @param signer the executor's
   */
  public ContentRetention(Ledger ledger, DocumentSigner signer) {
    this(ledger, signer, CONTENTS_MAX);
  }

  /**
   * @param contentsMax how many contents are deleted in one write
   */
  ContentRetention(Ledger ledger, DocumentSigner signer, int contentsMax) {
    this.ledger = ledger;
    this.signer = signer;
    this.contentsMax = contentsMax;
    this.erasure = new ContentErasure(ledger, signer, contentsMax);
    this.archive = new ContentArchive(ledger, signer, contentsMax);
  }

  /**
   * What was deleted.
   *
   * @param statements signed documents, each an event
   */
  public record Deleted(long contents, long bytes, long statements) {
    public static final Deleted NOTHING = new Deleted(0, 0, 0);

    Deleted plus(Deleted other) {
      return new Deleted(
          contents + other.contents, bytes + other.bytes, statements + other.statements);
    }
  }

  /**
   * What one run of the rules did.
   *
   * @param plan that was found; the last one, where the state changed meanwhile
   * @param deleted in all; less than planned where something came to need a content meanwhile
   */
  public record Run(RetentionPlan plan, Deleted deleted) {}

  /** The state in which the rules are applied. */
  public record Under(
      Policy policy,
      Predicate<RunId> isHeld,
      ChangeOrder changes,
      SortedMap<Digest, ErasureOrder> erasures) {}

  /**
   * What came of orders of erasure that were not carried out so far.
   *
   * @param waiting by order, how many contents it waits for; 0 where a call is at work
   */
  public record Erased(Deleted deleted, SortedMap<Digest, Long> waiting) {}

  /** What the rules would delete at a time; changes nothing. */
  public static RetentionPlan plan(
      LedgerView ledger, Policy policy, Predicate<RunId> isHeld, Instant now) {
    return new RetentionSearch(ledger, policy, isHeld, now).plan();
  }

  /**
   * Applies the rules, and removes the bytes of what is deleted from the disk; also of earlier
   * deletions that a crash interrupted. Where the state changes meanwhile, what was deleted until
   * then was deleted under the state before, and the rest is searched again under the new one. One
   * such run at a time; others wait.
   *
   * @param state the one in force at each call
   * @throws WritException {@code EXE-970} after {@link #ATTEMPTS_MAX} changes of the state
   */
  public Run run(Supplier<Under> state, Instant now) {
    running.lock();
    try {
      ledger.purge();
      Deleted deleted = Deleted.NOTHING;
      for (int attempt = 1; ; attempt++) {
        Under under = state.get();
        RetentionPlan plan = plan(ledger, under.policy(), under.isHeld(), now);
        try {
          for (List<RetentionPlan.Doomed> step :
              DeletionSteps.of(plan.contents(), contentsMax, content -> content.uses().size())) {
            deleted = deleted.plus(delete(under, step, plan.searchedTo(), now));
          }
          ledger.purge();
          return new Run(plan, deleted);
        } catch (WritException e) {
          if (e.code() != ExecutorError.STATE_MOVED || attempt == ATTEMPTS_MAX) {
            throw e;
          }
        }
      }
    } finally {
      running.unlock();
    }
  }

  /**
   * Has what is stored from now on lie under other keys than those of an order.
   *
   * @param order the id of the document, which is in the log
   */
  public void beginErasure(Under state, Digest order, Instant now) {
    running.lock();
    try {
      erasure.begin(order, state.erasures().get(order), state.policy(), now);
    } finally {
      running.unlock();
    }
  }

  /**
   * Carries out the orders of erasure that are not, as far as nothing needs what they cover. A
   * crash leaves an order that the next call carries out.
   *
   * @param state the one in force at each call
   */
  public Erased erase(Supplier<Under> state, Instant now) {
    running.lock();
    try {
      ledger.purge();
      return erasure.run(state, now);
    } finally {
      running.unlock();
    }
  }

  /**
   * Removes contents of closed runs that their bundles in the archive have, where nothing else
   * needs them, with signed statements of it.
   *
   * @param state the one in force at each call
   * @param bundles of the runs that are being archived: each was read back and verified
   * @param earlier the same of a run that was archived before
   * @throws WritException {@code EXE-940} where policy does not allow it, and what {@code earlier}
   *     throws
   */
  public Deleted archive(
      Supplier<Under> state,
      SortedMap<RunId, ArchivedBundle> bundles,
      Function<RunId, ArchivedBundle> earlier,
      Instant now) {
    running.lock();
    try {
      ledger.purge();
      return archive.run(state, bundles, earlier, now);
    } finally {
      running.unlock();
    }
  }

  /** When an order of erasure was carried out; empty while it is not. */
  public static Optional<Instant> erasedAt(LedgerState ledger, Digest order) {
    return ContentErasure.doneAt(ledger, order);
  }

  /** Deletes these, without those that something has come to need. */
  private Deleted delete(
      Under under, List<RetentionPlan.Doomed> contents, long searchedTo, Instant now) {
    List<RetentionPlan.Doomed> left = contents;
    while (!left.isEmpty()) {
      DeletionStatements statements = new DeletionStatements(ledger, signer, now);
      left.forEach(content ->
          content
              .uses()
              .forEach(use ->
                  statements.add(
                      use.run(),
                      new Deletion.Rule(under.policy().digest(), use.rule()),
                      use.item())));
      Batch batch = statements.batch();
      SortedSet<Digest> needed =
          ledger.delete(
              left.stream().map(RetentionPlan.Doomed::digest).toList(),
              searchedTo,
              claimedBefore(under.policy(), now),
              new Ledger.Deletion(batch, enqueue -> ordered(under.changes(), enqueue)));
      if (needed.isEmpty()) {
        return new Deleted(
            left.size(),
            left.stream().mapToLong(RetentionPlan.Doomed::size).sum(),
            statements.count());
      }
      left = left.stream().filter(content -> !needed.contains(content.digest())).toList();
    }
    return Deleted.NOTHING;
  }

  /** An upload that was put at this time or later stays: a request that names it may come yet. */
  static Instant claimedBefore(Policy policy, Instant now) {
    return now.minusSeconds(policy.storage().unnamedS());
  }

  static Commit ordered(ChangeOrder changes, Supplier<Commit> enqueue) {
    try (ChangeOrder.Held _ = changes.hold()) {
      return enqueue.get();
    }
  }
}
