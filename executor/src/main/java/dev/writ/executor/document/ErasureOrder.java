package dev.writ.executor.document;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Scope;
import dev.writ.ledger.event.RunId;
import java.time.Duration;
import java.util.Optional;

/**
 * The {@code detail} of {@code contents.erased}: contents of a subject, or of a run, that events
 * before it name are erased, and the keys destroyed under which they lie (spec/retention.md).
 *
 * @param tenant whose contents
 * @param subject whose requests had them made; present exactly where {@code run} is not
 * @param run the one run
 */
public record ErasureOrder(String tenant, Optional<String> subject, Optional<String> run) {
  /** The run in which orders are given: the system run. */
  public static final RunId GIVEN_IN = new RunId("writ", "system");

  /** How much later than the order's an event's time may be that stands before it in the log. */
  public static final Duration LATENESS = Duration.ofSeconds(60);

  /**
   * @throws WritException {@code CAN-02x}
   */
  public static ErasureOrder read(JsonValue.Obj detail) {
    Fields fields = Fields.of("detail", detail);
    ErasureOrder order =
        new ErasureOrder(
            fields.name("tenant"),
            fields.optional("subject", fields::name),
            fields.optional("run", fields::name));
    fields.end();
    if (order.subject.isPresent() == order.run.isPresent()) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE, "detail has not exactly one of subject and run");
    }
    return order;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tenant", tenant)
        .putIfPresent("subject", subject, JsonValue::of)
        .putIfPresent("run", run, JsonValue::of)
        .build();
  }

  /** Whether it is about what requests of this scope name and make. */
  public boolean covers(Scope scope) {
    return tenant.equals(scope.tenant())
        && subject.filter(s -> !s.equals(scope.subject())).isEmpty()
        && run.filter(r -> !r.equals(scope.run())).isEmpty();
  }

  @Override
  public String toString() {
    return subject.map(s -> "subject " + s).orElseGet(() -> "run " + run.orElseThrow())
        + " of "
        + tenant;
  }
}
