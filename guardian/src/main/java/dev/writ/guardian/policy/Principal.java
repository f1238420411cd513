package dev.writ.guardian.policy;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;
import java.util.List;

/**
 * A subject that may submit requests or delegate. Its keys are in the trust file, under the same
 * tenant and subject.
 *
 * @param roles sorted
 * @param surfaces surfaces that may vouch for it (protocol rule 32), sorted
 */
public record Principal(String tenant, String subject, List<String> roles, List<String> surfaces) {
  static Principal read(Section section) {
    Principal principal =
        new Principal(
            section.name("tenant"),
            section.name("subject"),
            section.names("roles"),
            section.names("surfaces", List.of()));
    section.end();
    return principal;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tenant", tenant)
        .put("subject", subject)
        .putList("roles", roles, JsonValue::of)
        .putList("surfaces", surfaces, JsonValue::of)
        .build();
  }

  String key() {
    return tenant + "\u0000" + subject;
  }
}
