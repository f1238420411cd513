package dev.writ.guardian.policy.rule;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;
import java.util.List;
import java.util.Optional;

/**
 * The subjects and tools to which an entry of the policy applies; an absent member matches
 * everything.
 */
public record Match(
    Optional<String> tenant,
    Optional<String> subject,
    Optional<String> role,
    Optional<String> tool) {

  public static Match read(Section section) {
    Match match =
        new Match(
            section.optional("tenant", section::name),
            section.optional("subject", section::name),
            section.optional("role", section::name),
            section.optional("tool", section::name));
    section.end();
    return match;
  }

  public static Match everything() {
    return new Match(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .putIfPresent("tenant", tenant, JsonValue::of)
        .putIfPresent("subject", subject, JsonValue::of)
        .putIfPresent("role", role, JsonValue::of)
        .putIfPresent("tool", tool, JsonValue::of)
        .build();
  }

  /** Whether this applies to that subject, in its roles, with that tool. */
  public boolean applies(String aTenant, String aSubject, List<String> roles, String aTool) {
    return tenant.filter(t -> !t.equals(aTenant)).isEmpty()
        && subject.filter(s -> !s.equals(aSubject)).isEmpty()
        && role.filter(r -> !roles.contains(r)).isEmpty()
        && tool.filter(t -> !t.equals(aTool)).isEmpty();
  }
}
