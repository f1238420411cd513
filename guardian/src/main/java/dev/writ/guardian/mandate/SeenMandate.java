package dev.writ.guardian.mandate;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A mandate that was brought, as a decision records it: what it allows, or why it does not count.
 */
public sealed interface SeenMandate {
  /** The document that brought it. */
  Digest id();

  JsonValue.Obj toJson();

  /**
   * One that does not count.
   *
   * @param code the reason
   */
  record Refused(Digest id, String code) implements SeenMandate {
    @Override
    public JsonValue.Obj toJson() {
      return JsonValue.object().put("id", id).put("refused", code).build();
    }
  }

  /**
   * One that was verified. Amounts are whole numbers of the currency's smallest unit.
   *
   * @param mandate digest of what the issuer signed, which its account is named by: a second
   *     signature, other disclosures or another key binding make no new mandate
   * @param issuer as policy names it
   * @param type its {@code vct}
   * @param least the least amount of one use
   * @param most the most of one use
   * @param payees ids, sorted
   * @param total the most that all uses together may come to
   * @param uses how often it may be used
   */
  record Terms(
      Digest id,
      Digest mandate,
      String issuer,
      String type,
      String currency,
      Optional<Long> least,
      Optional<Long> most,
      List<String> payees,
      Optional<Long> total,
      Optional<Long> uses,
      Instant expiresAt)
      implements SeenMandate {
    public Terms {
      payees = List.copyOf(payees);
    }

    @Override
    public JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("id", id)
          .put("mandate", mandate)
          .put("issuer", issuer)
          .put("vct", type)
          .put("currency", currency)
          .putIfPresent("amount_min", least, JsonValue::of)
          .putIfPresent("amount_max", most, JsonValue::of)
          .putList("payees", payees, JsonValue::of)
          .putIfPresent("total", total, JsonValue::of)
          .putIfPresent("uses", uses, JsonValue::of)
          .put("expires_at", expiresAt)
          .build();
    }
  }

  /** Reads an entry of a decision's {@code inputs}. */
  static SeenMandate read(String path, JsonValue value) {
    Fields fields = Fields.of(path, value);
    SeenMandate seen =
        fields.has("refused")
            ? new Refused(fields.digest("id"), fields.name("refused"))
            : new Terms(
                fields.digest("id"),
                fields.digest("mandate"),
                fields.name("issuer"),
                fields.string("vct"),
                fields.string("currency"),
                fields.optional("amount_min", fields::count),
                fields.optional("amount_max", fields::count),
                fields.list("payees", Fields::stringItem),
                fields.optional("total", fields::count),
                fields.optional("uses", fields::count),
                fields.time("expires_at"));
    fields.end();
    return seen;
  }
}
