package dev.writ.guardian.document;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The executor's signed statement that it refused to dispatch an issued intent (stages 1 to 3).
 *
 * @param stage {@code gate}, {@code snapshot} or {@code prepare}
 * @param found what was found, for people; no program reads it
 * @param observed what was found, for a replay; absent if it follows from the documents, and in
 *     refusals that are older than this field
 */
public record Refusal(
    Scope scope,
    Digest request,
    Digest decision,
    Digest intent,
    String stage,
    String code,
    String found,
    Optional<Observed> observed,
    Instant refusedAt) {

  public static final String TYPE = PayloadTypes.of("refusal");

  private static final List<String> STAGES = List.of("gate", "snapshot", "prepare");

  public static Refusal read(JsonValue document) {
    Fields fields = Fields.of("refusal", document);
    Refusal refusal =
        new Refusal(
            Scope.read(fields),
            fields.digest("request"),
            fields.digest("decision"),
            fields.digest("intent"),
            fields.oneOf("stage", STAGES, stage -> stage),
            fields.name("code"),
            fields.string("found"),
            fields.optional("observed", key -> Observed.read(fields.fields(key))),
            fields.time("refused_at"));
    fields.end();
    return refusal;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tenant", scope.tenant())
        .put("run", scope.run())
        .put("subject", scope.subject())
        .put("request", request)
        .put("decision", decision)
        .put("intent", intent)
        .put("stage", stage)
        .put("code", code)
        .put("found", found)
        .putIfPresent("observed", observed, Observed::toJson)
        .put("refused_at", refusedAt)
        .build();
  }
}
