package dev.writ.verify.audit;

import static dev.writ.verify.error.AuditError.BINDING;
import static dev.writ.verify.error.AuditError.CHAIN;
import static dev.writ.verify.error.AuditError.DOCUMENT;
import static dev.writ.verify.error.AuditError.ORDER;
import static dev.writ.verify.error.AuditError.TWICE;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.document.RunClose;
import dev.writ.executor.document.RunClosing;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Status;
import dev.writ.ledger.event.Event;
import dev.writ.verify.audit.Documents.Read;
import dev.writ.verify.audit.OpenRun.Asked;
import java.util.List;
import java.util.Optional;

/** Checks the executor's final statements: receipts of effects, and closings of runs. */
final class ReceiptCheck {
  private final Documents documents;
  private final Findings findings;
  private final SystemStateHistory standing;
  private final WorkspaceCheck workspaces;
  private final RunRows rows;

  ReceiptCheck(
      Documents documents, SystemStateHistory standing, WorkspaceCheck workspaces, RunRows rows) {
    this.documents = documents;
    this.findings = documents.findings();
    this.standing = standing;
    this.workspaces = workspaces;
    this.rows = rows;
  }

  void receipt(OpenRun run, Event event) {
    String place = Findings.place(event);
    findings.receipts++;
    Optional<Event> finished = run.finished;
    run.finished = Optional.empty();
    Optional<Read<Receipt>> read = documents.read(event.body(), Receipt.TYPE, Receipt::read, place);
    if (read.isEmpty()) {
      return;
    }
    Receipt receipt = read.get().document();
    findings.same(
        DOCUMENT, place, receipt.scope().tenant() + "/" + receipt.scope().run(), run.id.toString());
    standing.verify(read.get().envelope(), Receipt.TYPE, event.at(), place);
    Asked asked = run.asked.get(receipt.request());
    if (asked == null || asked.dispatched.isEmpty()) {
      boolean again = rows.has(Tables.SERVED, Tables.key(receipt.request()));
      findings.problem(
          again ? TWICE : ORDER,
          place,
          again ? "a second receipt" : "a receipt of what was not dispatched",
          "one receipt for each dispatch");
      return;
    }
    finished(receipt, event, finished);
    bind(asked, receipt, place, event);
    Optional<Read<Request>> request =
        documents.read(receipt.request(), Request.TYPE, Request::read, place);
    if (request.isPresent()) {
      request(run, receipt, request.get().document(), place);
      chain(run, event, receipt, request.get().document(), place);
      workspaces.receipt(
          run,
          event,
          receipt,
          request.get().document().effect().workspaceBefore(),
          asked.dispatched.orElseThrow().seq());
      rows.served(run, asked, request.get().document(), event.body(), receipt);
    }
    run.asked.remove(asked.id);
  }

  /** The driver's observations are the body of the previous event; IN_DOUBT has neither. */
  private void finished(Receipt receipt, Event event, Optional<Event> finished) {
    String place = Findings.place(event);
    findings.same(
        BINDING,
        place + " /observations",
        receipt.observations().map(Digest::toString).orElse("none"),
        finished.map(f -> f.body().toString()).orElse("none"));
    finished.ifPresent(f -> findings.same(BINDING, Findings.place(f) + " /at", f.at(), event.at()));
  }

  private void bind(Asked asked, Receipt receipt, String place, Event event) {
    findings.same(BINDING, place + " /decision", receipt.decision(), asked.decision.orElseThrow());
    findings.same(BINDING, place + " /intent", receipt.intent(), asked.intent.orElseThrow());
    findings.same(
        BINDING, place + " /started_at", receipt.startedAt(), asked.dispatched.orElseThrow().at());
    findings.same(BINDING, place + " /finished_at", receipt.finishedAt(), event.at());
    // A doubt that is found after the clock was set back is found at an earlier time.
    if (receipt.finishedAt().isBefore(receipt.startedAt())
        && asked.restarts == standing.restarts().size()) {
      findings.problem(
          BINDING,
          place + " /finished_at",
          receipt.finishedAt(),
          "not before " + receipt.startedAt());
    }
    documents
        .read(asked.decision.orElseThrow(), Decision.TYPE, Decision::read, place)
        .map(Read::document)
        .ifPresent(decision -> {
          findings.same(BINDING, place + " /snapshot", receipt.snapshot(), decision.snapshot());
          findings.same(BINDING, place + " /effect", receipt.effect(), decision.effect());
        });
    documents
        .read(asked.intent.orElseThrow(), Intent.TYPE, Intent::read, place)
        .map(Read::document)
        .ifPresent(intent -> {
          findings.same(BINDING, place + " /tool", receipt.tool(), intent.tool());
          findings.same(BINDING, place + " /prng_seed", receipt.prngSeed(), intent.prngSeed());
        });
  }

  private void request(OpenRun run, Receipt receipt, Request request, String place) {
    findings.same(BINDING, place + " /subject", receipt.scope(), request.scope());
    findings.same(BINDING, place + " /args_hash", receipt.argsHash(), request.effect().argsHash());
    findings.same(
        BINDING, place + " /retained", receipt.retained(), request.retention().equals("keep"));
    boolean succeeded = receipt.status() == Status.SUCCEEDED;
    findings.same(BINDING, place + " /output", there(receipt.output()), there(succeeded));
    if (succeeded) {
      findings.same(BINDING, place + " /raw_output", there(receipt.rawOutput()), there(false));
      run.done.add(Tables.key(receipt.tool().name(), request.effect().operation()));
    }
    findings.bindings++;
  }

  private static String there(Optional<?> content) {
    return there(content.isPresent());
  }

  private static String there(boolean present) {
    return present ? "there" : "absent";
  }

  private void chain(OpenRun run, Event event, Receipt receipt, Request request, String place) {
    long greatest = run.lamport;
    for (Digest consumed : request.consumes()) {
      Optional<Receipt> other =
          documents.read(consumed, Receipt.TYPE, Receipt::read, place).map(Read::document);
      if (other.isPresent()) {
        findings.same(
            BINDING,
            place + " consumes " + consumed,
            other.get().scope().tenant(),
            run.id.tenant());
        greatest = Math.max(greatest, other.get().lamport());
      }
    }
    findings.same(CHAIN, place + " /lamport", receipt.lamport(), greatest + 1);
    findings.same(CHAIN, place + " /prev", receipt.prev(), run.lastReceipt);
    run.lamport = greatest + 1;
    run.lastReceipt = event.body();
    run.receipts++;
    if (receipt.status() == Status.IN_DOUBT) {
      run.doubts.add(event.body());
    }
  }

  void closed(OpenRun run, Event event, long index) {
    String place = Findings.place(event);
    Optional<Read<RunClosing>> read =
        documents.read(event.body(), RunClosing.TYPE, RunClosing::read, place);
    if (read.isEmpty()) {
      return;
    }
    standing.verify(read.get().envelope(), RunClosing.TYPE, event.at(), place);
    RunClosing closing = read.get().document();
    findings.same(DOCUMENT, place, closing.tenant() + "/" + closing.run(), run.id.toString());
    findings.same(CHAIN, place + " /events", closing.events(), event.seq());
    findings.same(CHAIN, place + " /run_hash", closing.runHash(), run.head.id());
    findings.same(CHAIN, place + " /receipts", closing.receipts(), run.receipts);
    findings.same(CHAIN, place + " /last_receipt", closing.lastReceipt(), run.lastReceipt);
    long unfinished = run.pending() + run.running() + run.doubts.size();
    if (unfinished > 0) {
      findings.problem(ORDER, place, "closed with " + unfinished + " unfinished", "none");
    }
    close(run, event, closing.request());
    rows.closedRun(run, index);
  }

  /** The opener's own word. */
  private void close(OpenRun run, Event event, Digest request) {
    String place = Findings.place(event) + " /request";
    Optional<Read<RunClose>> read = documents.read(request, RunClose.TYPE, RunClose::read, place);
    if (read.isEmpty()) {
      return;
    }
    Envelope envelope = read.get().envelope();
    List<TrustedKey> signers = standing.verify(envelope, RunClose.TYPE, event.at(), place);
    if (!signers.isEmpty()) {
      findings.same(BINDING, place + " signer", signers.getFirst().kid(), run.opener);
    }
    findings.same(
        DOCUMENT,
        place,
        read.get().document().tenant() + "/" + read.get().document().run(),
        run.id.toString());
  }
}
