package dev.writ.verify.audit;

import static dev.writ.verify.error.AuditError.ROW;
import static dev.writ.verify.error.AuditError.SYSTEM;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.executor.SystemState;
import dev.writ.executor.document.CellCheckpoints;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.document.ReadEvent;
import dev.writ.executor.document.TenantDeparted;
import dev.writ.executor.journal.AccountTables;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.stage.Tools;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.stream.Stream;

/**
 * Reads a whole ledger and recomputes everything that follows from its documents: signatures under
 * the trust of their time, bindings between documents, every judgement, and the state that spans
 * runs (balances, rates, nonces and idempotency keys). {@link dev.writ.ledger.fsck.Fsck} checks the
 * bytes; run that first.
 *
 * <p>It walks the log once, and again for the accounts where that may have found a problem. It
 * keeps open runs, unfinished requests and the accounts of the current windows in memory. The view
 * must not change meanwhile; a reader's does not.
 */
public final class Audit {
  /** Gets the progress of the audit; called for every event, so it must be quick. */
  @FunctionalInterface
  public interface Progress {
    /**
     * @param step what is being audited, in the plural
     * @param done how many were
     */
    void at(String step, long done);
  }

  private static final String SUMMARIES = "summaries of the accounts";
  private static final Trust NO_KEYS = Trust.of(List.of());

  private final LedgerView ledger;
  private final Progress progress;
  private final long size;
  private final Optional<Executor> by;
  private final EventsOfLedger events;
  private final Findings findings = new Findings();
  private final SystemStateHistory standing;
  private final RowCheck rows;
  private final RunWalk runs;
  private final DeletionCheck deletions;
  private final ReadCheck reads;
  private final CellRootCheck cells;
  private final TenantMoveCheck moves;
  private final AccountWalk ahead;
  private Optional<Event> system = Optional.empty();
  private boolean summarized;
  private long current;

  /** How many runs there are, those of the installation too. */
  private long begun;

  private Audit(LedgerView ledger, Tools tools, Progress progress, Optional<Executor> by) {
    this.ledger = ledger;
    this.by = by;
    this.progress = progress;
    this.size = ledger.treeSize();
    this.standing = new SystemStateHistory(ledger, ledger.origin(), findings, true);
    this.rows = new RowCheck(ledger, findings, tools);
    this.events = new EventsOfLedger(ledger, by);
    Documents documents = new Documents(events, findings);
    this.runs = new RunWalk(documents, standing, new Rejudging(documents, standing, tools), rows);
    this.deletions = new DeletionCheck(documents, standing, runs, new EventsBefore());
    this.reads = new ReadCheck(documents, standing);
    this.cells = new CellRootCheck(documents, standing, ledger.origin());
    this.moves = new TenantMoveCheck(documents, standing, ledger.origin());
    this.ahead = AccountWalk.ahead(ledger, documents.with(new Findings()), standing.policies());
  }

  /**
   * @param ledger a reader, or a ledger that nobody writes to meanwhile
   * @param tools the registered tools and their drivers, for judging again; a tool that no longer
   *     exists is counted
   * @throws WritException {@code LED-006}, {@code LED-008} where the ledger cannot be read at all
   */
  public static AuditReport check(LedgerView ledger, Tools tools, Progress progress) {
    return new Audit(ledger, tools, progress, Optional.empty()).run();
  }

  /**
   * The same without threads of its own.
   *
   * @param by reads ahead; {@code Runnable::run} where nothing may run beside the caller
   */
  public static AuditReport check(LedgerView ledger, Tools tools, Progress progress, Executor by) {
    return new Audit(ledger, tools, progress, Optional.of(by)).run();
  }

  private AuditReport run() {
    events.forEach(size, standing::trust, this::event);
    standing.end(ledger.incarnation());
    findings.same(SYSTEM, "time restarts", ledger.timeRestarts(), standing.restarts());
    runs.end();
    system.ifPresent(rows::systemRun);
    rows.end();
    seals().check();
    AccountWalk accounts = accounts();
    new AccountRows(ledger, findings, standing.policies(), accounts.redated(), accounts.arrivals())
        .check();
    summarized = findings.problemsTotal() == 0;
    if (summarized) {
      summaries();
    }
    return report();
  }

  /** Returns a walk over the accounts that is at the end of the log. */
  private AccountWalk accounts() {
    boolean mayHold = findings.problemsTotal() == 0 && standing.restarts().isEmpty();
    if (mayHold) {
      ahead.end();
    }
    if (mayHold && ahead.holds()) {
      findings.addAccounts(ahead.findings());
      return ahead;
    }
    EventsOfLedger again = new EventsOfLedger(ledger, by);
    AccountWalk accounts =
        AccountWalk.knowing(
            ledger,
            new Documents(again, findings),
            standing.policies(),
            runs.steps,
            restartTimes());
    again.forEach(
        size,
        () -> NO_KEYS, // no signature is looked at again
        (index, event) -> {
          if (standing.restarts().contains(index)) {
            accounts.restart();
          }
          accounts.event(event);
          progress.at("steps of the accounts, event", index + 1);
        });
    accounts.end();
    return accounts;
  }

  /** Whether the next start, which reads summaries, would count what all rows say. */
  private void summaries() {
    try {
      Policy policy = SystemState.read(ledger).policyInForce();
      for (String lacking : new AccountTables(ledger).lacking(policy)) {
        findings.problem(ROW, SUMMARIES, "too little for " + lacking, "what the rows say, or more");
      }
    } catch (WritException e) {
      findings.problem(ROW, SUMMARIES, e, "what the rows say, or more");
    }
  }

  private SealCheck seals() {
    return new SealCheck(ledger, findings, standing.trust(), standing.revocations());
  }

  private List<Instant> restartTimes() {
    List<Instant> times = new ArrayList<>();
    for (long index : standing.restarts()) {
      ledger.eventsByIndex(index, index + 1, (_, event) -> times.add(event.at()));
    }
    return times;
  }

  /** What stands before the event that is at its turn. */
  private final class EventsBefore implements RunAudit.EventsBefore {
    @Override
    public Optional<Event> event(RunId run, long seq) {
      return ledger
          .event(run, seq)
          .filter(_ -> ledger.indexOf(run, seq).orElse(Long.MAX_VALUE) < current);
    }

    @Override
    public Optional<Event> closing(RunId run) {
      return ledger
          .head(run)
          .filter(head -> head.kind().equals(EventKind.RUN_CLOSED))
          .flatMap(head -> event(run, head.seq()));
    }
  }

  private void event(long index, Event event) {
    progress.at("events", index + 1);
    current = index;
    standing.time(index, event);
    if (event.seq() == 0) {
      begun++;
    }
    if (event.runId().equals(Deletion.RUN)) {
      deletions.event(event).ifPresent(deletion -> rows.deleted(deletion, event.body()));
    } else if (event.runId().equals(ReadEvent.RUN)) {
      reads.event(event);
    } else if (event.runId().equals(CellCheckpoints.RUN)) {
      cells.event(event);
    } else if (event.runId().equals(TenantDeparted.RUN)) {
      moves.event(event);
      ahead.event(event);
    } else if (!event.runId().equals(SystemState.RUN)) {
      moves.work(event);
      runs.event(index, event);
      ahead.event(event);
    } else if (event.kind().equals(EventKind.RUN_OPENED) && event.seq() == 0) {
      system = Optional.of(event);
    } else {
      standing.system(event);
    }
  }

  private AuditReport report() {
    return new AuditReport(
        Stream.of(
                verified(),
                findings.ofCells(),
                findings.ofMoves(),
                findings.ofErasures(),
                findings.ofArchive())
            .flatMap(List::stream)
            .toList(),
        notVerified(),
        findings.problems(),
        findings.problemsTotal(),
        new AuditReport.Totals(
            size,
            begun,
            findings.requests,
            findings.decisions,
            findings.dispatched,
            findings.receipts));
  }

  private List<String> verified() {
    return List.of(
        standing.changes + " changes of the system run: each signed under the state before it",
        findings.signatures + " documents of events: signed under the trust at their place",
        findings.bindings
            + " intents and receipts: bound to request, decision, effect, seed, tool and snapshot",
        findings.dispatched
            + " dispatches: allowed, unexpired, once for each intent, request and idempotency key",
        findings.receipts + " receipts: lamport, prev; and the closings of their runs",
        findings.judged
            + " decisions: judged again to the same bytes, "
            + findings.snapshots
            + " of them under the same snapshot",
        size
            + " times of events: none more than a day behind those before it, but for "
            + standing.restarts().size()
            + " corrections that an operator signed",
        findings.balances + " balances and " + findings.rates + " rates: added up over all runs",
        findings.rows + " rows that the kernel acts on: recomputed from the events",
        findings.outputs + " outputs and artifacts: kept, in full size",
        findings.deleted
            + " contents: deleted, by rules of the policies in force, as the executor signed",
        findings.reads + " reads by people: stated, as policy asks, as the executor signed");
  }

  private List<String> notVerified() {
    List<String> lines = new ArrayList<>();
    lines.add(
        "bytes, chains, digests, the log's tree, and that its last events are here: `writ fsck`");
    lines.add("outcomes: whether tools give the same output again is for replay to say");
    lines.add(
        "moments of settlement and release: not recorded, so cpu_ms is held between measured and"
            + " reserved");
    if (findings.notJudged > 0) {
      lines.add(
          findings.notJudged
              + " decisions: not judged again, their tool or policy is not at hand as it was then");
    }
    if (findings.snapshots < findings.judged) {
      lines.add(
          (findings.judged - findings.snapshots)
              + " snapshots: made of tools, drivers or stages that are not registered so now");
    }
    if (findings.gaps > 0) {
      lines.add(
          findings.gaps
              + " steps of the accounts: taken by judgements that never reached the log; balances"
              + " after them are compared loosely");
    }
    if (findings.loose > 0) {
      lines.add(findings.loose + " balances and rates: compared within bounds, or not at all");
    }
    if (!summarized) {
      lines.add(SUMMARIES + ": not compared with the rows, which have problems");
    }
    if (findings.unsealed > 0) {
      lines.add(findings.unsealed + " closed runs: their checkpoint is not made yet");
    }
    if (!seals().knowsKeys()) {
      lines.add("who signed the checkpoints of closed runs: no log key is enrolled");
    }
    lines.addAll(findings.notVerified());
    return lines;
  }
}
