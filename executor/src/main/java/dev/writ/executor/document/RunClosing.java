package dev.writ.executor.document;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;

/**
 * The executor's statement of the content of a closed run: the body of {@code run.closed}.
 *
 * @param request id of the {@link RunClose}
 * @param events number of events before {@code run.closed}
 * @param runHash id of the last of them; each event names the one before, so it covers them all
 * @param receipts number of receipts
 * @param lastReceipt id of the last receipt; of the opening event if there is none
 */
public record RunClosing(
    String tenant,
    String run,
    Digest request,
    long events,
    Digest runHash,
    long receipts,
    Digest lastReceipt) {

  public static final String TYPE = PayloadTypes.of("run-closing");

  public static RunClosing read(JsonValue document) {
    Fields fields = Fields.of("run-closing", document);
    RunClosing closing =
        new RunClosing(
            fields.name("tenant"),
            fields.name("run"),
            fields.digest("request"),
            fields.count("events"),
            fields.digest("run_hash"),
            fields.count("receipts"),
            fields.digest("last_receipt"));
    fields.end();
    return closing;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tenant", tenant)
        .put("run", run)
        .put("request", request)
        .put("events", events)
        .put("run_hash", runHash)
        .put("receipts", receipts)
        .put("last_receipt", lastReceipt)
        .build();
  }
}
