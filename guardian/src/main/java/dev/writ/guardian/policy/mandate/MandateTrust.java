package dev.writ.guardian.policy.mandate;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.yaml.Section;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The section {@code mandates}: whose mandates count.
 *
 * @param audience what key binding JWTs name as their audience, so that none is for two
 *     installations
 * @param issuers by tenant and name
 */
public record MandateTrust(String audience, SortedMap<String, MandateIssuer> issuers) {
  public static MandateTrust read(Section section) {
    TreeMap<String, MandateIssuer> issuers = new TreeMap<>();
    section.list(
        "issuers",
        item -> {
          MandateIssuer issuer = MandateIssuer.read(item.itemSection());
          if (issuers.put(issuer.id(), issuer) != null) {
            throw item.refuse(
                GuardianError.POLICY_DUPLICATE,
                "\"" + issuer.tenant() + "/" + issuer.name() + "\"");
          }
          return issuer;
        });
    MandateTrust trust =
        new MandateTrust(section.name("audience"), Collections.unmodifiableSortedMap(issuers));
    section.end();
    return trust;
  }

  /** Those of a tenant, by name. */
  public List<MandateIssuer> of(String tenant) {
    return issuers.values().stream().filter(issuer -> issuer.tenant().equals(tenant)).toList();
  }

  public boolean has(String name) {
    return issuers.values().stream().anyMatch(issuer -> issuer.name().equals(name));
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("audience", audience)
        .putList("issuers", List.copyOf(issuers.values()), MandateIssuer::toJson)
        .build();
  }
}
