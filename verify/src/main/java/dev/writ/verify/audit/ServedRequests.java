package dev.writ.verify.audit;

import static dev.writ.verify.error.AuditError.ORDER;
import static dev.writ.verify.error.AuditError.TWICE;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.DigestSet;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.ReceiptStage;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.audit.OpenRun.Asked;
import java.nio.charset.StandardCharsets;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * In place of rows, for a bundle: keeps which requests a run served, and under which keys it
 * dispatched.
 */
final class ServedRequests implements RunRows {
  private final Documents documents;
  private final Findings findings;
  private final Supplier<RequestMarks> marks;
  private final RequestMarks served;
  private final RequestMarks receipts;

  /** Under the key of their own id, as it is where a request names none. */
  private final RequestMarks dispatchedById;

  /** Digests of all other keys. */
  private final DigestSet idempotencyKeys = new DigestSet();

  ServedRequests(Documents documents, Supplier<RequestMarks> marks) {
    this.documents = documents;
    this.findings = documents.findings();
    this.marks = marks;
    this.served = marks.get();
    this.receipts = marks.get();
    this.dispatchedById = marks.get();
  }

  @Override
  public RequestMarks marks() {
    return marks.get();
  }

  @Override
  public boolean has(String table, String key) {
    return table.equals(Tables.SERVED) && served.contains(Digest.parse("sha256:" + key));
  }

  @Override
  public void request(OpenRun run, Asked asked) {
    // a kernel's row, which a bundle does not have
  }

  @Override
  public void approval(Digest request, Digest approval) {
    // the same
  }

  @Override
  public void doubt(Digest receipt, byte[] value) {
    // the same
  }

  @Override
  public void dispatched(Digest id, Request request, String place) {
    boolean first =
        idOf(request, id)
            .map(dispatchedById::add)
            .orElseGet(() -> idempotencyKeys.add(digest(ReceiptStage.idempotencyKey(request, id))));
    if (!first) {
      findings.problem(
          TWICE,
          place,
          "another request was, under the idempotency key of " + id,
          "dispatched once");
    }
  }

  /** The request whose id is the key, which may be another one of the same subject. */
  private Optional<Digest> idOf(Request request, Digest id) {
    if (request.idempotencyKey().isEmpty()) {
      return Optional.of(id);
    }
    try {
      Digest named = Digest.parse(request.idempotencyKey().get());
      Scope other = documents.require(named, Request.TYPE, Request::read).scope();
      return Optional.of(named)
          .filter(_ -> other.tenant().equals(request.scope().tenant()))
          .filter(_ -> other.subject().equals(request.scope().subject()));
    } catch (WritException | NoSuchElementException e) {
      return Optional.empty(); // no id of a request
    }
  }

  /** Those of other runs have their own events in a bundle. */
  @Override
  public boolean isWritten(RunId by, Digest id, Receipt receipt) {
    RunId of = new RunId(receipt.scope().tenant(), receipt.scope().run());
    return !by.equals(of) || receipts.contains(id);
  }

  @Override
  public void served(OpenRun run, Asked asked, Request request, Digest id, Receipt receipt) {
    served.add(asked.id);
    receipts.add(id);
  }

  private static Digest digest(String key) {
    return Digest.sha256(key.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public void openRun(OpenRun run) {
    requireJudged(run);
  }

  @Override
  public void closedRun(OpenRun run, long index) {
    requireJudged(run);
  }

  private void requireJudged(OpenRun run) {
    for (Asked asked : run.asked.values()) {
      String place = "run " + run.id + " request " + asked.id;
      if (asked.state.isEmpty()) {
        findings.problem(ORDER, place, "received", "judged");
      } else if (asked.state.get() == RequestRow.State.ALLOWED && asked.intent.isEmpty()) {
        findings.problem(ORDER, place, "allowed", "an intent issued");
      }
    }
  }
}
