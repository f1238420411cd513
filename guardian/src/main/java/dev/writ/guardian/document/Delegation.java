package dev.writ.guardian.document;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;
import dev.writ.guardian.error.GuardianError;
import java.time.Instant;
import java.util.List;

/**
 * One link of a chain: {@code from} lets {@code to} act for it (protocol rule 9).
 *
 * @param from key id of the giver, who signs this
 * @param to key id of the taker
 * @param tools tool names, sorted; the taker may use no other
 * @param depth how many further links may follow; smaller in each link
 */
public record Delegation(
    String tenant,
    String from,
    String to,
    List<String> tools,
    Instant notBefore,
    Instant expiresAt,
    long depth) {

  public static final String TYPE = PayloadTypes.of("delegation");

  public Delegation {
    tools = List.copyOf(tools);
    for (int i = 1; i < tools.size(); i++) {
      if (tools.get(i - 1).compareTo(tools.get(i)) >= 0) {
        throw new WritException(GuardianError.LIST_ORDER, "delegation/tools/" + i);
      }
    }
  }

  public static Delegation read(JsonValue document) {
    Fields fields = Fields.of("delegation", document);
    Delegation delegation =
        new Delegation(
            fields.name("tenant"),
            fields.name("from"),
            fields.name("to"),
            fields.list("tools", Fields::stringItem),
            fields.time("not_before"),
            fields.time("expires_at"),
            fields.count("depth"));
    fields.end();
    return delegation;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tenant", tenant)
        .put("from", from)
        .put("to", to)
        .putList("tools", tools, JsonValue::of)
        .put("not_before", notBefore)
        .put("expires_at", expiresAt)
        .put("depth", depth)
        .build();
  }
}
