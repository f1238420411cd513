package dev.writ.executor;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.governance.ToolStaging;
import dev.writ.executor.journal.ChangeOrder;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.RunTurn;
import dev.writ.executor.journal.Runs;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.KernelTime;
import dev.writ.executor.stage.WorkspaceUse;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Status;
import dev.writ.ledger.Commit;
import dev.writ.ledger.RunJournal;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;

/**
 * Applies changes by operators and policy owners. Each is a signed document and an event, so that
 * an auditor can see under which keys and policy everything else was judged (protocol rules 26 and
 * 28).
 */
final class Administration {
  /** Stands for the opener of the system run; no key has this id, so no agent can append to it. */
  private static final String OPENER = "system";

  private final RunJournal ledger;
  private final KernelTime time;
  private final Runs runs;

  Administration(RunJournal ledger, KernelTime time, Runs runs) {
    this.ledger = ledger;
    this.time = time;
    this.runs = runs;
  }

  /** Applies a statement of any kind that another cell of the installation accepted. */
  StateGate.Change apply(Envelope signed, SystemState before) {
    return signed.payloadType().equals(SystemState.POLICY_TYPE)
        ? activate(signed, before)
        : change(signed, before);
  }

  /** Puts a policy in force. */
  StateGate.Change activate(Envelope signed, SystemState before) {
    Instant now = time.now(KernelTime.Reading.CHANGE);
    SystemState after = before.withPolicy(signed, now);
    return new StateGate.Change(after, write(signed, EventKind.POLICY_ACTIVATED, now));
  }

  /** Applies a signed system change: of a key, a tool, a runtime, the policy. */
  StateGate.Change change(Envelope signed, SystemState before) {
    Instant now = time.now(KernelTime.Reading.CHANGE);
    String kind = SystemState.kindOf(signed);
    if (kind.equals(EventKind.LEDGER_INCARNATED) || kind.equals(EventKind.CLOCK_CORRECTED)) {
      throw new WritException(ExecutorError.CLOCK_CORRECTION, kind + " while the kernel runs");
    }
    SystemState after = before.with(signed, kind, now);
    if (kind.equals(EventKind.TOOL_STAGED)) { // older ledgers may hold such a canary
      ToolStaging.read(SystemChange.read(signed.document()).detail()).requireDrawnBySubject();
    }
    return new StateGate.Change(after, write(signed, kind, now));
  }

  /**
   * The run may be given back before the commit is durable: an open run stays in memory as it was
   * enqueued.
   */
  private Commit write(Envelope signed, String kind, Instant at) {
    try (Runs.Borrowed run = runs.borrow(SystemState.RUN)) {
      String seed = run.seedFor(OPENER);
      try (RunTurn turn = run.turn()) {
        turn.open(OPENER, seed, signed.id(), at);
        turn.event(kind, signed.id(), at);
        turn.batch().document(signed);
        return turn.enqueue();
      }
    }
  }

  /**
   * @param stated looks at one that is signed, and may refuse it
   * @throws WritException {@code EXE-905} no such receipt, {@code EXE-909} not in doubt, {@code
   *     EXE-910} resolved before
   */
  void resolve(Envelope signed, Trust trust, ChangeOrder changes, Consumer<Resolution> stated) {
    Instant now = time.now(KernelTime.Reading.RESOLUTION);
    List<TrustedKey> signers = trust.verify(signed, Resolution.TYPE, now);
    Resolution resolution = Resolution.read(signed.document());
    stated.accept(resolution);
    SystemState.requireNotAhead(resolution.resolvedAt(), now);
    // An operator of one tenant must not learn anything about another.
    boolean mayResolve =
        signers.stream()
            .allMatch(s -> s.tenant().filter(t -> !t.equals(resolution.tenant())).isEmpty());
    Receipt receipt =
        ledger
            .document(resolution.receipt())
            .filter(e -> e.payloadType().equals(Receipt.TYPE))
            .map(e -> Receipt.read(e.document()))
            .filter(r -> mayResolve && r.scope().tenant().equals(resolution.tenant()))
            .orElseThrow(
                () -> new WritException(ExecutorError.UNKNOWN_ID, resolution.receipt().toString()));
    if (receipt.status() != Status.IN_DOUBT) {
      throw new WritException(ExecutorError.NOT_IN_DOUBT, receipt.status().text());
    }
    String key = Tables.key(resolution.receipt());
    RunId id = new RunId(receipt.scope().tenant(), receipt.scope().run());
    try (Runs.Borrowed run = runs.borrow(id);
        RunTurn turn = run.turn().before(changes)) {
      if (ledger.get(Tables.DOUBT, key).orElseThrow().length > 0) {
        throw new WritException(ExecutorError.ALREADY_RESOLVED, resolution.receipt().toString());
      }
      turn.event(EventKind.DOUBT_RESOLVED, signed.id(), now);
      turn.unfinished(0, 0, -1);
      turn.batch().document(signed).put(Tables.DOUBT, key, signed.id().bytes());
      WorkspaceUse.settled(turn, receipt.scope(), receipt.request());
      // Awaited while the run's lock is held, so that a second resolution sees the row of the
      // first.
      turn.enqueue().await();
    }
  }
}
