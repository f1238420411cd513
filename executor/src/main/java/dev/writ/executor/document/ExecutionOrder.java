package dev.writ.executor.document;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;
import dev.writ.executor.error.ExecutorError;
import dev.writ.guardian.Admission;
import dev.writ.guardian.document.Intent;
import java.time.Instant;

/**
 * The holder's signed order to execute an intent now, for callers that judge and execute in two
 * steps (protocol rule 3). In one step the request itself is the order.
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

  /**
   * Requires that this order is for that intent and its tenant, and was made after the intent was
   * issued and not in the future. Its age is not limited, so that it can be repeated to get a
   * stored outcome.
   *
   * @throws WritException {@code EXE-104}, {@code EXE-112}
   */
  public void requireFor(Digest intentId, Intent ordered, Instant now) {
    if (!intent.equals(intentId) || !tenant.equals(ordered.scope().tenant())) {
      throw new WritException(
          ExecutorError.BINDING,
          "the order is for "
              + tenant
              + " and "
              + intent
              + ", the intent is of "
              + ordered.scope().tenant()
              + " and "
              + intentId);
    }
    if (orderedAt.isBefore(ordered.issuedAt().minus(Admission.SKEW))
        || orderedAt.isAfter(now.plus(Admission.SKEW))) {
      throw new WritException(
          ExecutorError.ORDER_TIME,
          "ordered at " + orderedAt + ", issued at " + ordered.issuedAt() + ", now " + now);
    }
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tenant", tenant)
        .put("intent", intent)
        .put("ordered_at", orderedAt)
        .build();
  }
}
