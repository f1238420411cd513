package dev.writ.executor.stage;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.canonicalize.dsse.DocumentSigner.Signed;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.apart.ChainEnd;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.RunState;
import dev.writ.executor.journal.RunTurn;
import dev.writ.executor.journal.Runs;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Dispatch.Ran;
import dev.writ.executor.stage.Preflight.Order;
import dev.writ.executor.stage.StoreStage.Stored;
import dev.writ.guardian.Accounting;
import dev.writ.guardian.Accounts;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.Status;
import dev.writ.ledger.Commit;
import dev.writ.ledger.content.BlobRef;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/**
 * Stage 8: the receipt, chained, signed and committed together with output and events. Handed out
 * only when it is on disk.
 */
public final class ReceiptStage {

  private final DocumentSigner signer;
  private final Accounting accounts;
  private final ToLongFunction<Digest> lamportOf;
  private final Supplier<Optional<String>> region;
  private final SignAgain again;

  /**
   * @param lamportOf finds the lamport of a receipt that an effect consumes
   * @param region asked for each receipt
   * @param again asked where the receipt of a dispatched effect could not be signed
   */
  public ReceiptStage(
      DocumentSigner signer,
      Accounting accounts,
      ToLongFunction<Digest> lamportOf,
      Supplier<Optional<String>> region,
      SignAgain again) {
    this.signer = signer;
    this.accounts = accounts;
    this.lamportOf = lamportOf;
    this.region = region;
    this.again = again;
  }

  /** This stage with another signer. */
  public ReceiptStage withSigner(DocumentSigner other) {
    return new ReceiptStage(other, accounts, lamportOf, region, again);
  }

  /** This stage with another patience. */
  public ReceiptStage withPatience(SignAgain other) {
    return new ReceiptStage(signer, accounts, lamportOf, region, other);
  }

  /** This stage with another source of lamports. */
  public ReceiptStage withLamport(ToLongFunction<Digest> other) {
    return new ReceiptStage(signer, accounts, other, region, again);
  }

  /**
   * The receipt of an effect that ended. Where it was dispatched and its receipt cannot be signed,
   * that is tried as often as {@link SignAgain} says, which may also keep it for later; nothing is
   * written in between, and the run is free for others.
   *
   * @throws WritException {@code EXE-801}, and as the ledger's
   */
  public Served sign(Ran ran, Stored stored) {
    return ran.dispatched()
        ? patiently(ran, run -> signOnce(run, ran, stored))
        : signOnce(runOf(ran), ran, stored);
  }

  private static Runs.Borrowed runOf(Ran ran) {
    return ran.ready().order().submission().run();
  }

  private Served patiently(Ran ran, Function<Runs.Borrowed, Served> attempt) {
    for (int failures = 1; ; failures++) {
      try {
        return attempt.apply(runOf(ran));
      } catch (WritException e) {
        if (e.code() != ExecutorError.RECEIPT_FAILED) {
          throw e;
        }
        if (!again.after(failures, e)) {
          again.later(
              new Unsigned(
                  ran.ready().order().decision().request(),
                  ran.finishedAt(),
                  bytes(ran.outcome()),
                  attempt::apply));
          throw e;
        }
      }
    }
  }

  private static long bytes(DriverOutcome outcome) {
    return outcome.output().map(output -> output.bytes().length).orElse(0)
        + outcome.artifacts().stream().mapToLong(artifact -> artifact.bytes().length).sum();
  }

  private Served signOnce(Runs.Borrowed run, Ran ran, Stored stored) {
    Order order = ran.ready().order();
    Commit commit;
    Receipt receipt;
    Envelope envelope;
    try (RunTurn turn = run.turn()) {
      ran.pendingWrites().writeTo(turn);
      if (ran.dispatched()) {
        turn.unfinished(0, -1, 0);
        turn.batch().delete(Tables.DISPATCHED, Tables.key(order.decision().request()));
      } else {
        turn.before(order.submission().changes());
        Dispatch.writeEvent(turn, order, ran.startedAt());
      }
      Signed<Receipt> signed = signed(receipt(turn.state().orElseThrow(), ran, stored));
      receipt = signed.document();
      envelope = signed.envelope();
      stored
          .observations()
          .ifPresent(observed -> turn.event(EventKind.EFFECT_FINISHED, observed, ran.finishedAt()));
      turn.event(EventKind.RECEIPT_SIGNED, envelope.id(), ran.finishedAt());
      turn.receipt(envelope.id(), receipt.lamport());
      rows(turn, order.request(), receipt, envelope);
      stored.blobs().forEach(blob -> reference(turn, receipt.scope(), blob));
      commit =
          enqueue(
              turn,
              accounts,
              receipt.request(),
              accounts.settle(receipt.request(), ran.outcome().metrics().cpuMs()));
    }
    commit.await();
    accounts.durable(receipt.request());
    Optional<byte[]> output =
        stored.output().flatMap(_ -> stored.result().output()).map(o -> o.bytes());
    Optional<byte[]> raw =
        output.isPresent() ? Optional.empty() : stored.result().raw().map(o -> o.bytes());
    return new Served(envelope, receipt, Optional.empty(), output, raw, false);
  }

  /**
   * Commits the receipt of an executor in another process, of an effect whose dispatch is written.
   *
   * @param signed verified by the caller
   * @param blobs contents that it names and that are kept here
   * @param settled what the effect used; absent where nobody knows
   */
  public void adopt(
      Runs.Borrowed run,
      Request request,
      Signed<Receipt> signed,
      List<BlobRef> blobs,
      Optional<Long> settled) {
    Receipt receipt = signed.document();
    Commit commit;
    try (RunTurn turn = run.turn()) {
      receipt
          .observations()
          .ifPresent(
              observed -> turn.event(EventKind.EFFECT_FINISHED, observed, receipt.finishedAt()));
      writeRecorded(turn, request, receipt, signed.envelope(), receipt.finishedAt());
      blobs.forEach(blob -> reference(turn, receipt.scope(), blob));
      commit =
          enqueue(
              turn,
              accounts,
              receipt.request(),
              settled.map(used -> accounts.settle(receipt.request(), used)).orElse(List.of()));
    }
    commit.await();
    accounts.durable(receipt.request());
  }

  /** The chain that the next receipt of a run continues. */
  public static ChainEnd chain(RunState run) {
    return new ChainEnd(run.lastReceipt(), run.lamport());
  }

  /** The receipt of this request continues a chain so. */
  public long lamportAfter(RunState run, Request request) {
    return lamport(run, request);
  }

  private Signed<Receipt> signed(Receipt receipt) {
    try {
      return signer.sign(Receipt.TYPE, receipt, Receipt::toJson, Receipt::read);
    } catch (RuntimeException e) {
      // Whoever has the key elsewhere, such as in a KMS, says by a code of its own what is wrong.
      String why =
          e instanceof WritException refused
              ? refused.code().code() + " " + refused.found()
              : e.getClass().getSimpleName();
      throw new WritException(ExecutorError.RECEIPT_FAILED, why, e);
    }
  }

  /** The rows that make a receipt findable, and a second dispatch impossible. */
  private static void rows(RunTurn turn, Request request, Receipt receipt, Envelope envelope) {
    Scope scope = receipt.scope();
    if (receipt.workspaceAfter().isPresent()) {
      WorkspaceUse.settled(turn, scope, receipt.request());
    }
    byte[] id = envelope.id().bytes();
    turn.batch()
        .document(envelope)
        .put(Tables.SERVED, Tables.key(receipt.request()), id)
        .put(
            Tables.IDEMPOTENCY,
            idempotencyKey(request, receipt.request()),
            receipt.request().bytes());
    request
        .origin()
        .flatMap(origin -> origin.execution())
        .ifPresent(name ->
            turn.batch().put(Tables.EXECUTION, Tables.key(scope.tenant(), name), new byte[0]));
    if (receipt.status() == Status.SUCCEEDED) {
      turn.batch()
          .put(
              Tables.DONE,
              Tables.key(
                  scope.tenant(), scope.run(), receipt.tool().name(), request.effect().operation()),
              new byte[0]);
    }
  }

  /** The key of an idempotency row: scoped to tenant and subject, the request's id by default. */
  public static String idempotencyKey(Request request, Digest requestId) {
    return idempotencyKey(request.scope(), request.idempotencyKey(), requestId);
  }

  /** The same for a request that is not read as a whole. */
  public static String idempotencyKey(Scope scope, Optional<String> key, Digest requestId) {
    return Tables.key(scope.tenant(), scope.subject(), key.orElse(requestId.toString()));
  }

  private static void reference(RunTurn turn, Scope scope, BlobRef blob) {
    turn.batch()
        .blob(blob)
        .put(
            Tables.HELD,
            Tables.key(scope.tenant(), blob.digest().hex(), scope.subject(), scope.run()),
            new byte[0]);
  }

  /** Puts or deletes a row of the accounts. */
  public static void write(RunTurn turn, Accounts.Row row) {
    if (row.value().isPresent()) {
      turn.batch().put(Tables.ACCOUNT, row.key(), row.value().get());
    } else {
      turn.batch().delete(Tables.ACCOUNT, row.key());
    }
  }

  /** Enqueues the turn with the rows of the accounts' last step; undoes that step if this fails. */
  static Commit enqueue(
      RunTurn turn, Accounting accounts, Digest request, List<Accounts.Row> rows) {
    try {
      rows.forEach(row -> write(turn, row));
      return turn.enqueue();
    } catch (RuntimeException e) {
      if (!rows.isEmpty()) {
        accounts.forget(request);
      }
      throw e;
    }
  }

  private Receipt receipt(RunState run, Ran ran, Stored stored) {
    Order order = ran.ready().order();
    Result result = stored.result();
    return new Receipt(
        order.request().scope(),
        lamport(run, order.request()),
        run.lastReceipt(),
        order.decision().request(),
        order.decisionEnvelope().id(),
        order.intentEnvelope().id(),
        order.effectDigest(),
        order.request().effect().argsHash(),
        order.intent().tool(),
        result.status(),
        result.code(),
        result.reason(),
        result.message(),
        stored.output(),
        stored.rawOutput(),
        retains(order.request()),
        stored.artifacts(),
        ran.ready().workspaceBefore(),
        ran.workspace().tree(),
        stored.observations(),
        order.decision().snapshot(),
        order.intent().prngSeed(),
        region.get(),
        ran.startedAt(),
        ran.finishedAt());
  }

  /**
   * The receipt of an effect of which its driver does not know how it ended; its reservation stays
   * charged. Signed as patiently as any other.
   */
  public Served doubt(Ran ran) {
    return patiently(ran, run -> doubtOnce(run, ran));
  }

  private Served doubtOnce(Runs.Borrowed run, Ran ran) {
    Order order = ran.ready().order();
    Commit commit;
    Envelope envelope;
    try (RunTurn turn = run.turn()) {
      envelope =
          inDoubt(
              turn,
              order.request(),
              order.decisionEnvelope().id(),
              order.decision(),
              order.intentEnvelope().id(),
              order.intent(),
              ran.startedAt(),
              ran.finishedAt(),
              ran.ready().workspaceBefore(),
              Result.bounded(ran.outcome().message()));
      commit = turn.enqueue();
    }
    commit.await();
    accounts.durable(order.decision().request());
    return new Served(
        envelope,
        Receipt.read(envelope.document()),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        false);
  }

  /**
   * Makes the receipt of an effect whose end is unknown, with its event and rows (protocol rule
   * 18).
   *
   * @param foundAt when recovery, or its driver, found it
   * @param message what is known of it
   * @param workspaceBefore as it was measured before the dispatch
   */
  public Envelope inDoubt(
      RunTurn turn,
      Request request,
      Digest decisionId,
      Decision decision,
      Digest intentId,
      Intent intent,
      Instant startedAt,
      Instant foundAt,
      Optional<Digest> workspaceBefore,
      String message) {
    RunState run = turn.state().orElseThrow();
    Receipt found =
        new Receipt(
            request.scope(),
            lamport(run, request),
            run.lastReceipt(),
            intent.request(),
            decisionId,
            intentId,
            intent.effect(),
            request.effect().argsHash(),
            intent.tool(),
            Status.IN_DOUBT,
            Optional.empty(),
            "in-doubt",
            message,
            Optional.empty(),
            Optional.empty(),
            retains(request),
            List.of(),
            workspaceBefore,
            Optional.empty(),
            Optional.empty(),
            decision.snapshot(),
            intent.prngSeed(),
            region.get(),
            startedAt,
            foundAt);
    Signed<Receipt> signed = signed(found);
    Receipt receipt = signed.document();
    Envelope envelope = signed.envelope();
    writeRecorded(turn, request, receipt, envelope, foundAt);
    return envelope;
  }

  /** Writes a receipt, with its event and rows, of an effect whose dispatch is written. */
  public void writeRecorded(
      RunTurn turn, Request request, Receipt receipt, Envelope envelope, Instant at) {
    boolean inDoubt = receipt.status() == Status.IN_DOUBT;
    turn.event(EventKind.RECEIPT_SIGNED, envelope.id(), at);
    turn.unfinished(0, -1, inDoubt ? 1 : 0);
    turn.batch().delete(Tables.DISPATCHED, Tables.key(receipt.request()));
    turn.receipt(envelope.id(), receipt.lamport());
    rows(turn, request, receipt, envelope);
    if (inDoubt) {
      turn.batch().put(Tables.DOUBT, envelope.id().hex(), new byte[0]);
    }
  }

  private long lamport(RunState run, Request request) {
    long greatest = run.lamport();
    for (Digest consumed : request.consumes()) {
      greatest = Math.max(greatest, lamportOf.applyAsLong(consumed));
    }
    return greatest + 1;
  }

  private static boolean retains(Request request) {
    return request.retention().equals("keep");
  }
}
