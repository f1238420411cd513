package dev.writ.verify.audit;

import static dev.writ.verify.error.AuditError.ORDER;
import static dev.writ.verify.error.AuditError.TWICE;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.DigestSet;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.ReceiptStage;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.verify.audit.OpenRun.Asked;
import java.nio.charset.StandardCharsets;

/**
 * In place of rows, for a bundle: keeps which requests a run served, and under which keys it
 * dispatched.
 */
final class ServedRequests implements RunRows {
  private final Findings findings;

  /** Digests, since a run may have a million rows and idempotency keys. */
  private final DigestSet served = new DigestSet();

  private final DigestSet idempotencyKeys = new DigestSet();

  ServedRequests(Findings findings) {
    this.findings = findings;
  }

  @Override
  public boolean has(String table, String key) {
    return table.equals(Tables.SERVED) && served.contains(digest(key));
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
    if (!idempotencyKeys.add(digest(ReceiptStage.idempotencyKey(request, id)))) {
      findings.problem(
          TWICE,
          place,
          "another request was, under the idempotency key of " + id,
          "dispatched once");
    }
  }

  @Override
  public void served(OpenRun run, Asked asked, Request request, Digest id, Receipt receipt) {
    served.add(digest(Tables.key(asked.id)));
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
