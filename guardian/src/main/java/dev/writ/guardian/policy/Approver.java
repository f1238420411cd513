package dev.writ.guardian.policy;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;
import java.util.List;

/**
 * An approver and its approver roles. Its keys are in the trust file.
 *
 * @param roles sorted
 */
public record Approver(String tenant, String subject, List<String> roles) {
  static Approver read(Section section) {
    Approver approver =
        new Approver(section.name("tenant"), section.name("subject"), section.names("roles"));
    section.end();
    return approver;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tenant", tenant)
        .put("subject", subject)
        .putList("roles", roles, JsonValue::of)
        .build();
  }

  String key() {
    return tenant + "\u0000" + subject;
  }
}
