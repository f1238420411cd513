package dev.writ.verify.audit;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.executor.SystemState;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.stage.Tools;
import dev.writ.guardian.document.Receipt;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.error.AuditError;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * {@link Audit}'s checks of signatures, bindings, order, chain and judgements over a single run
 * with the system run that it rests on, as a bundle holds them. It stops at the first problem.
 *
 * <p>The caller has verified that each event is at its stated position in the log, and that both
 * runs are chained without gaps.
 */
public final class RunAudit {
  private final Findings findings = new Findings();
  private final Documents documents;
  private final SystemStateHistory standing;
  private final RunWalk runs;
  private final DeletionCheck deletions;
  private final ReadCheck reads;

  /** Finds events of the run that were taken before. */
  public interface EventsBefore {
    /**
     * @param run any run; there are none of another one
     */
    Optional<Event> event(RunId run, long seq);

    /** The closing of a run, if it was closed before. */
    Optional<Event> closing(RunId run);
  }

  /**
   * @param tools manifests for judging again; a missing tool is counted
   * @param events finds those that statements of deletion mention
   * @param marks makes empty sets of requests
   */
  public RunAudit(
      DocumentSource source,
      String origin,
      Tools tools,
      EventsBefore events,
      Supplier<RequestMarks> marks) {
    this.documents = new Documents(source, findings);
    this.standing = new SystemStateHistory(source, origin, findings, false);
    this.runs =
        new RunWalk(
            documents,
            standing,
            new Rejudging(documents, standing, tools),
            new ServedRequests(documents, marks));
    this.deletions = new DeletionCheck(documents, standing, runs, events);
    this.reads = new ReadCheck(documents, standing);
  }

  /**
   * Takes the next event of either run, in the order of the log.
   *
   * @throws WritException {@code EXE-95x}, {@code EXE-98x} with the place, what is recorded and
   *     what is recomputed
   */
  public void event(long index, Event event) {
    standing.time(index, event);
    if (!event.runId().equals(SystemState.RUN)) {
      runs.event(index, event);
    } else if (!event.kind().equals(EventKind.RUN_OPENED) || event.seq() != 0) {
      standing.system(event);
    }
    requireNone();
  }

  /**
   * Takes an event of another run whose receipt this run consumes.
   *
   * @throws WritException {@code EXE-954} unless it is of a receipt; {@code EXE-951}, {@code
   *     EXE-952} where that does not hold
   */
  public void consumed(Event event) {
    String place = Findings.place(event);
    if (!event.kind().equals(EventKind.RECEIPT_SIGNED)) {
      findings.problem(AuditError.ORDER, place, event.kind(), EventKind.RECEIPT_SIGNED);
    }
    findings.seed(AuditError.BINDING, event, false);
    documents
        .read(event.body(), Receipt.TYPE, Receipt::read, place)
        .ifPresent(read -> {
          standing.verify(read.envelope(), Receipt.TYPE, event.at(), place);
          if (read.document().lamport() < 1) {
            findings.problem(
                AuditError.DOCUMENT, place + " /lamport", read.document().lamport(), "at least 1");
          }
          findings.same(
              AuditError.DOCUMENT,
              place,
              read.document().scope().tenant() + "/" + read.document().scope().run(),
              event.runId().toString());
        });
    requireNone();
  }

  /**
   * Takes an event that states the deletion of contents of the run.
   *
   * @throws WritException {@code EXE-950} to {@code EXE-952}, {@code EXE-961}
   */
  public void deletion(Event event) {
    deletions.event(event);
    requireNone();
  }

  /**
   * Takes an event that states that a person read something of the run.
   *
   * @param of the run
   * @throws WritException {@code EXE-950} to {@code EXE-954}
   */
  public void read(Event event, RunId of) {
    reads
        .event(event)
        .ifPresent(statement ->
            findings.same(
                AuditError.BINDING,
                Findings.place(event),
                statement.by().tenant() + "/" + statement.thing().run().orElse(""),
                of.toString()));
    requireNone();
  }

  /**
   * At the end of both runs.
   *
   * @param incarnation as the bundle states it
   * @throws WritException {@code EXE-950}, {@code EXE-954}
   */
  public void end(long incarnation) {
    standing.end(incarnation);
    runs.end();
    requireNone();
  }

  /** What is enrolled up to here. */
  public Trust trust() {
    return standing.trust();
  }

  private void requireNone() {
    if (findings.problemsTotal() > 0) {
      AuditReport.Problem first = findings.problems().getFirst();
      throw new WritException(
          first.code(),
          first.place() + ": recorded " + first.recorded() + ", recomputed " + first.recomputed());
    }
  }

  /** What was verified so far, with counts. */
  public List<String> verified() {
    return List.of(
        standing.changes + " changes of the system run: each signed under the state before it",
        findings.signatures + " documents of events: signed under the trust at their place",
        findings.bindings
            + " intents and receipts: bound to request, decision, effect, seed, tool and snapshot",
        findings.dispatched + " dispatches: allowed, unexpired, once for each intent and request",
        findings.receipts + " receipts: lamport and prev",
        findings.judged + " decisions: judged again to the same bytes");
  }

  /** What was not verified, each with the reason. */
  public List<String> notVerified() {
    List<String> lines = new ArrayList<>();
    if (findings.notJudged > 0) {
      lines.add(
          findings.notJudged + " decisions: not judged again, their tool's manifest is not here");
    }
    lines.addAll(findings.notVerified());
    return lines;
  }
}
