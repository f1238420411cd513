package dev.writ.executor.audit;

import static dev.writ.executor.ExecutorError.AUDIT_ORDER;
import static dev.writ.executor.ExecutorError.AUDIT_TWICE;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.audit.OpenRun.Asked;
import dev.writ.executor.document.Receipt;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.ReceiptStage;
import dev.writ.guardian.document.Request;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Stands in for the rows where there are none: remembers what one run served, and under which key.
 */
final class ServedRequests implements RunRows {
  private final Findings findings;
  private final TreeSet<String> served = new TreeSet<>();
  private final TreeMap<String, Digest> byIdempotencyKey = new TreeMap<>();

  ServedRequests(Findings findings) {
    this.findings = findings;
  }

  @Override
  public boolean has(String table, String key) {
    return table.equals(Tables.SERVED) && served.contains(key);
  }

  @Override
  public void request(OpenRun run, Asked asked) {
    // a row of the kernel's, which a bundle does not have
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
  public void served(OpenRun run, Asked asked, Request request, Digest id, Receipt receipt) {
    served.add(Tables.key(asked.id));
    Digest other =
        byIdempotencyKey.putIfAbsent(ReceiptStage.idempotencyKey(request, asked.id), asked.id);
    if (other != null) {
      findings.problem(
          AUDIT_TWICE,
          "receipt " + id,
          "one idempotency key, dispatched for " + other + " and " + asked.id,
          "dispatched once");
    }
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
        findings.problem(AUDIT_ORDER, place, "received", "judged");
      } else if (asked.state.get() == RequestRow.State.ALLOWED && asked.intent.isEmpty()) {
        findings.problem(AUDIT_ORDER, place, "allowed", "an intent issued");
      }
    }
  }
}
