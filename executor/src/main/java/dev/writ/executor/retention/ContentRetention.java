package dev.writ.executor.retention;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.ChangeOrder;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Commit;
import dev.writ.ledger.Event;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.RunId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
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

  private static final int NAMED_MAX = 8_192;

  /** How many changes of the state one run survives before it is refused. */
  private static final int ATTEMPTS_MAX = 16;

  private final Ledger ledger;
  private final DocumentSigner signer;
  private final int contentsMax;
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
  public record Under(Policy policy, Predicate<RunId> isHeld, ChangeOrder changes) {}

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
          for (List<RetentionPlan.Doomed> step : steps(plan.contents())) {
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

  /** What is deleted together: so much that statements and rows fit into one write. */
  private List<List<RetentionPlan.Doomed>> steps(List<RetentionPlan.Doomed> all) {
    List<List<RetentionPlan.Doomed>> steps = new ArrayList<>();
    int from = 0;
    int named = 0;
    for (int i = 0; i < all.size(); i++) {
      int more = all.get(i).uses().size();
      if (i > from && (i - from == contentsMax || named + more > NAMED_MAX)) {
        steps.add(all.subList(from, i));
        from = i;
        named = 0;
      }
      named += more;
    }
    if (from < all.size()) {
      steps.add(all.subList(from, all.size()));
    }
    return steps;
  }

  /** Deletes these, without those that something has come to need. */
  private Deleted delete(
      Under under, List<RetentionPlan.Doomed> contents, long searchedTo, Instant now) {
    List<RetentionPlan.Doomed> left = contents;
    while (!left.isEmpty()) {
      Statements statements = new Statements(under.policy().digest(), now);
      left.forEach(statements::add);
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
            statements.count);
      }
      left = left.stream().filter(content -> !needed.contains(content.digest())).toList();
    }
    return Deleted.NOTHING;
  }

  /** An upload that was put at this time or later stays: a request that names it may come yet. */
  static Instant claimedBefore(Policy policy, Instant now) {
    return now.minusSeconds(policy.storage().unnamedS());
  }

  private static Commit ordered(ChangeOrder changes, Supplier<Commit> enqueue) {
    try (ChangeOrder.Held _ = changes.hold()) {
      return enqueue.get();
    }
  }

  /** What one statement is about. */
  private record Subject(RunId run, String rule) implements Comparable<Subject> {
    @Override
    public int compareTo(Subject other) {
      return key().compareTo(other.key());
    }

    private String key() {
      return Tables.key(run.tenant(), run.run(), rule);
    }
  }

  /** The statements about the contents of one write. */
  private final class Statements {
    private final Digest policy;
    private final Instant at;
    private final TreeMap<Subject, List<Deletion.Item>> items = new TreeMap<>();
    private Optional<Event> head = ledger.head(Deletion.RUN);
    private long count;

    Statements(Digest policy, Instant at) {
      this.policy = policy;
      this.at = at;
    }

    void add(RetentionPlan.Doomed content) {
      for (RetentionPlan.Use use : content.uses()) {
        items
            .computeIfAbsent(new Subject(use.run(), use.rule()), _ -> new ArrayList<>())
            .add(use.item());
      }
    }

    Batch batch() {
      Batch batch = new Batch();
      items.forEach((subject, all) -> {
        List<Deletion.Item> sorted = all.stream().sorted().toList();
        for (int from = 0; from < sorted.size(); from += Deletion.CONTENTS_MAX) {
          int to = Math.min(sorted.size(), from + Deletion.CONTENTS_MAX);
          state(
              batch,
              new Deletion(subject.run(), policy, subject.rule(), sorted.subList(from, to), at));
        }
      });
      return batch;
    }

    private void state(Batch batch, Deletion deletion) {
      Envelope signed = signer.sign(Deletion.TYPE, deletion.toJson());
      Event event =
          head.map(before ->
                  before.next(EventKind.CONTENT_DELETED, signed.id(), at, Optional.empty()))
              .orElseGet(() ->
                  Event.first(
                      Deletion.RUN.tenant(),
                      Deletion.RUN.run(),
                      EventKind.CONTENT_DELETED,
                      signed.id(),
                      at,
                      Optional.empty()));
      head = Optional.of(event);
      count++;
      batch.event(event).document(signed);
      deletion
          .contents()
          .forEach(item ->
              batch.put(Tables.DELETED, Deletions.key(deletion.of(), item), signed.id().bytes()));
    }
  }
}
