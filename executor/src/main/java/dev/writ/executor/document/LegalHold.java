package dev.writ.executor.document;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.ledger.event.RunId;
import java.util.Optional;

/**
 * The {@code detail} of {@code hold.placed}: until {@code hold.released} names it, no content of
 * these runs is deleted, whatever policy says (spec/retention.md).
 *
 * @param name of the hold, by which it is released
 * @param tenant whose runs it is about
 * @param run the one run; absent: all runs of the tenant
 */
public record LegalHold(String name, String tenant, Optional<String> run) {

  /**
   * @throws dev.writ.canonicalize.WritException {@code CAN-02x}
   */
  public static LegalHold read(JsonValue.Obj detail) {
    Fields fields = Fields.of("detail", detail);
    LegalHold hold =
        new LegalHold(
            fields.name("name"), fields.name("tenant"), fields.optional("run", fields::name));
    fields.end();
    return hold;
  }

  /**
   * The name of the hold that is released.
   *
   * @param detail of {@code hold.released}
   */
  public static String released(JsonValue.Obj detail) {
    Fields fields = Fields.of("detail", detail);
    String name = fields.name("name");
    fields.end();
    return name;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("name", name)
        .put("tenant", tenant)
        .putIfPresent("run", run, JsonValue::of)
        .build();
  }

  /** Whether it is about that run. */
  public boolean covers(RunId of) {
    return tenant.equals(of.tenant()) && run.filter(r -> !r.equals(of.run())).isEmpty();
  }
}
