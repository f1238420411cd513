package dev.writ.guardian.profile;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.policy.rule.Requirement;
import java.util.Optional;

/**
 * The finding of a surface's profile on the raw request behind a vouched one. It is an input of the
 * judgement and recorded in the decision, so that an auditor can judge again without the raw
 * request, which is not kept (protocol rule 34).
 *
 * @param profile {@code execute} or {@code tools}: the surface's name
 * @param refusal the refusal of the first stage of the profile that refuses
 * @param approvals the approvals that would remove that refusal
 * @param beyond the refusal that would remain even then
 */
public record Finding(
    String profile,
    Optional<Refusal> refusal,
    Optional<Requirement.Approvals> approvals,
    Optional<Refusal> beyond) {

  /**
   * @param code the seed's or ours
   * @param reason for people; no payload
   */
  public record Refusal(String code, String reason) {
    static Refusal read(Fields fields) {
      Refusal refusal = new Refusal(fields.name("code"), fields.string("reason"));
      fields.end();
      return refusal;
    }

    JsonValue.Obj toJson() {
      return JsonValue.object().put("code", code).put("reason", reason).build();
    }
  }

  public static Finding accepted(String profile) {
    return new Finding(profile, Optional.empty(), Optional.empty(), Optional.empty());
  }

  public static Finding refused(String profile, String code, String reason) {
    return new Finding(
        profile, Optional.of(new Refusal(code, reason)), Optional.empty(), Optional.empty());
  }

  public static Finding read(Fields fields) {
    Finding finding =
        new Finding(
            fields.name("profile"),
            fields.optional("refusal", key -> Refusal.read(fields.fields(key))),
            fields.optional("approvals", key -> approvals(fields.fields(key))),
            fields.optional("beyond", key -> Refusal.read(fields.fields(key))));
    fields.end();
    return finding;
  }

  private static Requirement.Approvals approvals(Fields fields) {
    Requirement.Approvals approvals =
        new Requirement.Approvals(fields.name("role"), fields.count("count"));
    fields.end();
    return approvals;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("profile", profile)
        .putIfPresent("refusal", refusal, Refusal::toJson)
        .putIfPresent(
            "approvals",
            approvals,
            a -> JsonValue.object().put("role", a.role()).put("count", a.count()).build())
        .putIfPresent("beyond", beyond, Refusal::toJson)
        .build();
  }
}
