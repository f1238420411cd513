package dev.writ.guardian.document;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;
import java.time.Duration;
import java.time.Instant;

/**
 * The order to execute one effect once, which follows an ALLOW.
 *
 * @param prngSeed 64 hexadecimal digits, public (protocol rule 17)
 * @param expiresAt exclusive; five minutes after {@code issuedAt} at most
 */
public record Intent(
    Digest request,
    Digest decision,
    Scope scope,
    String holder,
    Digest effect,
    ToolRef tool,
    Audience audience,
    String prngSeed,
    Instant issuedAt,
    Instant expiresAt) {

  public static final String TYPE = PayloadTypes.of("intent");

  /** The longest life of an intent (seed 003). */
  public static final Duration LIFE_MAX = Duration.ofMinutes(5);

  public static Intent read(JsonValue document) {
    return Fields.once(document, Intent.class, Intent::readNow);
  }

  private static Intent readNow(JsonValue document) {
    Fields fields = Fields.of("intent", document);
    Intent intent =
        new Intent(
            fields.digest("request"),
            fields.digest("decision"),
            Scope.read(fields),
            fields.name("holder"),
            fields.digest("effect"),
            ToolRef.read(fields.fields("tool")),
            Audience.read(fields.fields("audience")),
            fields.name("prng_seed"),
            fields.time("issued_at"),
            fields.time("expires_at"));
    fields.end();
    return intent;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("request", request)
        .put("decision", decision)
        .put("tenant", scope.tenant())
        .put("run", scope.run())
        .put("subject", scope.subject())
        .put("holder", holder)
        .put("effect", effect)
        .put("tool", tool.toJson())
        .put("audience", audience.toJson())
        .put("prng_seed", prngSeed)
        .put("issued_at", issuedAt)
        .put("expires_at", expiresAt)
        .build();
  }
}
