package dev.writ.guardian.policy.mandate;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.JwsKey;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.yaml.Section;
import java.util.Optional;

/**
 * Whose mandates count in a tenant.
 *
 * @param name by which requirements name it
 * @param iss what its mandates have to state as their issuer, if policy says so
 */
public record MandateIssuer(String tenant, String name, Optional<String> iss, JwsKey key) {
  static MandateIssuer read(Section section) {
    MandateIssuer issuer =
        new MandateIssuer(
            section.name("tenant"),
            section.name("name"),
            section.optional("iss", section::name),
            key(section));
    section.end();
    return issuer;
  }

  private static JwsKey key(Section section) {
    try {
      return JwsKey.fromJwk(section.object("key"));
    } catch (WritException e) {
      if (e.code().code().startsWith("CAN-")) {
        throw section.at("key", GuardianError.POLICY_VALUE, e.getMessage());
      }
      throw e;
    }
  }

  String id() {
    return tenant + "\u0000" + name;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tenant", tenant)
        .put("name", name)
        .putIfPresent("iss", iss, JsonValue::of)
        .put("key", key.toJwk())
        .build();
  }
}
