package dev.writ.executor;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.document.RunClose;
import dev.writ.executor.document.RunClosing;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.ChangeOrder;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.RunState;
import dev.writ.executor.journal.RunTurn;
import dev.writ.executor.journal.Runs;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.KernelTime;
import dev.writ.guardian.Admission;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Commit;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.RunJournal;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.note.Checkpoint;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Closes runs (protocol rules 19 and 29). */
final class RunClosings {
  private final RunJournal ledger;
  private final KernelTime time;
  private final Runs runs;
  private final DocumentSigner signer;

  RunClosings(RunJournal ledger, KernelTime time, Runs runs, DocumentSigner signer) {
    this.ledger = ledger;
    this.time = time;
    this.runs = runs;
    this.signer = signer;
  }

  /**
   * Closes a run; {@link #seal} makes the checkpoint that covers it.
   *
   * @param sealable refuses a time at which that checkpoint could not be signed
   * @return the run, whose row waits for the checkpoint
   * @throws WritException {@code EXE-901} closed before, {@code EXE-902} not the opener, {@code
   *     EXE-903} unfinished work, {@code EXE-905} no such run, {@code EXE-112} not fresh, what
   *     {@code sealable} throws
   */
  RunId close(
      Envelope request,
      Trust trust,
      Policy policy,
      ChangeOrder changes,
      Consumer<Instant> sealable) {
    return close(request, trust, policy, changes, sealable, true);
  }

  /**
   * The same.
   *
   * @param fresh false for the run of an executor whose guardian has closed its own, which checked
   *     the age of the request
   */
  RunId close(
      Envelope request,
      Trust trust,
      Policy policy,
      ChangeOrder changes,
      Consumer<Instant> sealable,
      boolean fresh) {
    Instant now = time.now(KernelTime.Reading.CLOSING);
    sealable.accept(now);
    TrustedKey signer = trust.verify(request, RunClose.TYPE, now).getFirst();
    RunClose close = RunClose.read(request.document());
    if (fresh) {
      requireFresh(close, policy, now);
    }
    RunId id = new RunId(close.tenant(), close.run());
    Commit commit;
    try (Runs.Borrowed run = runs.borrow(id)) {
      try (RunTurn turn = run.turn().before(changes)) {
        RunState state =
            turn.state()
                .filter(_ -> signer.tenant().filter(close.tenant()::equals).isPresent())
                .orElseThrow(() -> new WritException(ExecutorError.UNKNOWN_ID, id.toString()));
        if (!state.opener().equals(signer.kid())) {
          throw new WritException(ExecutorError.NOT_THE_OPENER, "asked by key " + signer.kid());
        }
        Envelope closing = closing(request, close, turn.head().orElseThrow(), state);
        turn.event(EventKind.RUN_CLOSED, closing.id(), now);
        turn.batch()
            .document(request)
            .document(closing)
            .put(Tables.CLOSED, Tables.key(id.tenant(), id.run()), new byte[0]);
        turn.closeRun();
        commit = turn.enqueue();
      }
      commit.await();
    }
    return id;
  }

  /**
   * Makes the missing checkpoints of runs that were closed by a process that ended before sealing
   * them.
   */
  void sealUnsealed(Ledger sealing, Supplier<Checkpoint> signed) {
    List<String> unsealed = new ArrayList<>();
    ledger.scan(
        Tables.CLOSED,
        "",
        (key, value) -> {
          if (value.length == 0) {
            unsealed.add(key);
          }
          return true;
        });
    unsealed.forEach(key -> seal(sealing, signed, key));
  }

  /** Makes the checkpoint of a closed run and stores it with the run. */
  static Checkpoint seal(Ledger sealing, Supplier<Checkpoint> signed, RunId run) {
    return seal(sealing, signed, Tables.key(run.tenant(), run.run()));
  }

  private static Checkpoint seal(Ledger sealing, Supplier<Checkpoint> signed, String key) {
    Checkpoint checkpoint = signed.get();
    sealing
        .append(
            new Batch()
                .put(
                    Tables.CLOSED,
                    key,
                    Tables.number(checkpoint.size()).getBytes(StandardCharsets.US_ASCII)))
        .await();
    return checkpoint;
  }

  /**
   * Refuses an old request, so that one that was refused cannot be used later by somebody who finds
   * it.
   */
  private static void requireFresh(RunClose close, Policy policy, Instant now) {
    Instant at = close.requestedAt();
    if (at.isAfter(now.plus(Admission.SKEW))
        || at.plusSeconds(policy.limits().requestAgeMaxS()).isBefore(now)) {
      throw new WritException(ExecutorError.ORDER_TIME, "requested at " + at + ", now " + now);
    }
  }

  private Envelope closing(Envelope request, RunClose close, Event head, RunState state) {
    RunClosing closing =
        new RunClosing(
            close.tenant(),
            close.run(),
            request.id(),
            head.seq() + 1,
            head.id(),
            state.receipts(),
            state.lastReceipt());
    return signer.sign(RunClosing.TYPE, closing, RunClosing::toJson, RunClosing::read).envelope();
  }
}
