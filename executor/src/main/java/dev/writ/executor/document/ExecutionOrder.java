package dev.writ.executor.document;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;
import java.time.Instant;

/**
 * The holder's word that an intent be executed now: what a caller signs that asks in two steps
 * (PROTOCOL 3). In one step the request itself is that word.
 */
public record ExecutionOrder(String tenant, Digest intent, Instant orderedAt) {

  public static final String TYPE = PayloadTypes.of("execution");

  public static ExecutionOrder read(JsonValue document) {
    Fields fields = Fields.of("execution", document);
    ExecutionOrder order =
        new ExecutionOrder(
            fields.name("tenant"), fields.digest("intent"), fields.time("ordered_at"));
    fields.end();
    return order;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tenant", tenant)
        .put("intent", intent)
        .put("ordered_at", orderedAt)
        .build();
  }
}
