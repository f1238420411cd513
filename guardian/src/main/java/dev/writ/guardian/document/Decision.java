package dev.writ.guardian.document;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The Guardian's judgement on one request. It is signed and recorded whatever the verdict: ALLOW,
 * DENY or ESCALATE.
 *
 * @param holder key id that signed the request
 * @param effect digest of the effect
 * @param code the refusing check's code; absent for ALLOW
 * @param checks all four, in order; preceded by {@code profile} if a surface with a profile vouched
 * @param inputs everything that the checks read, so that an auditor can judge again from this
 *     document and the request alone (protocol rule 6); {@code JudgeInputs} reads it
 * @param snapshot digest of the circumstances, which the executor must find unchanged (protocol
 *     rule 12)
 * @param supersedes the decision on the same request that this one replaces
 * @param observed what policy would say if it did not only observe; absent where it is enforced
 */
public record Decision(
    Digest request,
    Scope scope,
    String holder,
    Digest effect,
    Verdict verdict,
    Optional<String> code,
    List<CheckOutcome> checks,
    JsonValue.Obj inputs,
    Digest policy,
    Digest snapshot,
    Optional<Digest> supersedes,
    Instant decidedAt,
    Optional<Observed> observed) {

  public static final String TYPE = PayloadTypes.of("decision");

  /**
   * What a policy that only observes would say.
   *
   * @param code of the first check that would not pass; absent for ALLOW
   */
  public record Observed(Verdict verdict, Optional<String> code) {
    static Observed read(JsonValue document) {
      Fields fields = Fields.of("decision/observed", document);
      Observed observed =
          new Observed(
              fields.oneOf("verdict", List.of(Verdict.values()), Verdict::name),
              fields.optional("code", fields::name));
      fields.end();
      return observed;
    }

    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("verdict", verdict.name())
          .putIfPresent("code", code, JsonValue::of)
          .build();
    }
  }

  public Decision {
    checks = List.copyOf(checks);
  }

  /** The check that kept it from being allowed; empty where nothing did. */
  public Optional<CheckOutcome> refusing() {
    return first(false);
  }

  /** The first check that would have kept it from being allowed, if policy did not only observe. */
  public Optional<CheckOutcome> letThrough() {
    return first(true);
  }

  private Optional<CheckOutcome> first(boolean goesOn) {
    return checks.stream()
        .filter(check -> check.code().isPresent() && check.outcome().goesOn() == goesOn)
        .findFirst();
  }

  public static Decision read(JsonValue document) {
    return Fields.once(document, Decision.class, Decision::readNow);
  }

  private static Decision readNow(JsonValue document) {
    Fields fields = Fields.of("decision", document);
    Decision decision =
        new Decision(
            fields.digest("request"),
            Scope.read(fields),
            fields.name("holder"),
            fields.digest("effect"),
            fields.oneOf("verdict", List.of(Verdict.values()), Verdict::name),
            fields.optional("code", fields::name),
            fields.list("checks", CheckOutcome::read),
            fields.obj("inputs"),
            fields.digest("policy"),
            fields.digest("snapshot"),
            fields.optional("supersedes", fields::digest),
            fields.time("decided_at"),
            fields.optional("observed", key -> Observed.read(fields.obj(key))));
    fields.end();
    return decision;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("request", request)
        .put("tenant", scope.tenant())
        .put("run", scope.run())
        .put("subject", scope.subject())
        .put("holder", holder)
        .put("effect", effect)
        .put("verdict", verdict.name())
        .putIfPresent("code", code, JsonValue::of)
        .putList("checks", checks, CheckOutcome::toJson)
        .put("inputs", inputs)
        .put("policy", policy)
        .put("snapshot", snapshot)
        .putIfPresent("supersedes", supersedes, d -> JsonValue.of(d.toString()))
        .put("decided_at", decidedAt)
        .putIfPresent("observed", observed, Observed::toJson)
        .build();
  }
}
