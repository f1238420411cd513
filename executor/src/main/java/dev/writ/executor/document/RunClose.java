package dev.writ.executor.document;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;
import java.time.Instant;

/** The opener's signed order to close a run (protocol rule 19). */
public record RunClose(String tenant, String run, Instant requestedAt) {

  public static final String TYPE = PayloadTypes.of("run-close");

  public static RunClose read(JsonValue document) {
    Fields fields = Fields.of("run-close", document);
    RunClose close =
        new RunClose(fields.name("tenant"), fields.name("run"), fields.time("requested_at"));
    fields.end();
    return close;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tenant", tenant)
        .put("run", run)
        .put("requested_at", requestedAt)
        .build();
  }
}
