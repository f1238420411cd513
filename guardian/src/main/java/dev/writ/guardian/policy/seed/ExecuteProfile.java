package dev.writ.guardian.policy.seed;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.rule.Requirement;
import dev.writ.guardian.yaml.Section;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The policy's {@code execute} section: the executions that seed 000's strict gateway admits.
 *
 * @param freshnessS how far a request's timestamp may be from now, in seconds
 * @param sandboxes the sandbox profile for each of the seed's; one that is absent is invalid
 * @param privileged the approvals that {@code privileged} needs; absent: it is never admitted
 */
public record ExecuteProfile(
    long freshnessS,
    SortedMap<SeedProfile, String> sandboxes,
    Optional<Requirement.Approvals> privileged,
    SortedMap<String, ExecuteTenant> tenants,
    SortedMap<String, ExecuteIntent> intents) {

  public static ExecuteProfile read(Section section) {
    TreeMap<SeedProfile, String> sandboxes = new TreeMap<>();
    Section names = section.section("sandboxes");
    for (SeedProfile profile : SeedProfile.values()) {
      names.optional(profile.text(), names::name).ifPresent(name -> sandboxes.put(profile, name));
    }
    names.end();
    TreeMap<String, ExecuteTenant> tenants = new TreeMap<>();
    section.list(
        "tenants",
        item -> {
          ExecuteTenant tenant = ExecuteTenant.read(item.itemSection());
          boolean twice =
              tenants.values().stream().anyMatch(other -> other.id().equals(tenant.id()));
          if (tenants.put(tenant.tenant(), tenant) != null || twice) {
            throw item.refuse(GuardianError.POLICY_DUPLICATE, "\"" + tenant.tenant() + "\"");
          }
          return tenant;
        });
    TreeMap<String, ExecuteIntent> intents = new TreeMap<>();
    section.list(
        "intents",
        item -> {
          ExecuteIntent intent = ExecuteIntent.read(item.itemSection());
          if (intents.put(intent.key(), intent) != null) {
            throw item.refuse(GuardianError.POLICY_DUPLICATE, "\"" + intent.id() + "\"");
          }
          return intent;
        });
    ExecuteProfile profile =
        new ExecuteProfile(
            section.between("freshness_s", 1, 86_400),
            Collections.unmodifiableSortedMap(sandboxes),
            section.optional("privileged", key -> approvals(section.section(key))),
            Collections.unmodifiableSortedMap(tenants),
            Collections.unmodifiableSortedMap(intents));
    section.end();
    return profile;
  }

  private static Requirement.Approvals approvals(Section section) {
    Requirement.Approvals approvals =
        new Requirement.Approvals(section.name("role"), section.between("count", 1, 100));
    section.end();
    return approvals;
  }

  public JsonValue.Obj toJson() {
    var names = JsonValue.object();
    sandboxes.forEach((profile, sandbox) -> names.put(profile.text(), sandbox));
    return JsonValue.object()
        .put("freshness_s", freshnessS)
        .put("sandboxes", names.build())
        .putIfPresent(
            "privileged",
            privileged,
            p -> JsonValue.object().put("role", p.role()).put("count", p.count()).build())
        .putList("tenants", List.copyOf(tenants.values()), ExecuteTenant::toJson)
        .putList("intents", List.copyOf(intents.values()), ExecuteIntent::toJson)
        .build();
  }

  public Optional<ExecuteTenant> tenant(String tenant) {
    return Optional.ofNullable(tenants.get(tenant));
  }

  /** The intent of that id, in lower case, of that tenant. */
  public Optional<ExecuteIntent> intent(String tenant, String id) {
    return Optional.ofNullable(intents.get(tenant + "\u0000" + id));
  }
}
