package dev.writ.guardian.policy.governance;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.policy.rule.NetworkPlace;
import dev.writ.guardian.policy.rule.SecretGrant;
import dev.writ.guardian.yaml.Section;
import java.util.List;
import java.util.Optional;

/**
 * The most that a governed tool may declare; the static validation refuses packages that exceed it.
 *
 * @param languages of {@code tool.manifest}, sorted
 * @param workspace whether it may use the files of the run
 * @param network destinations that it may name, {@code host:port} or {@code *.domain:port}, sorted
 * @param spawn whether it may start programs
 * @param secrets names of secrets that it may declare, sorted
 * @param resourceClass the largest: small, medium or large
 */
public record CapabilityCeiling(
    List<String> languages,
    boolean workspace,
    List<String> network,
    boolean spawn,
    List<String> secrets,
    String resourceClass) {
  private static final List<String> CLASSES = List.of("small", "medium", "large");

  static CapabilityCeiling read(Section section) {
    CapabilityCeiling ceiling =
        new CapabilityCeiling(
            section.names("languages"),
            section.bool("workspace"),
            section.names("network"),
            section.bool("spawn"),
            section.names("secrets", List.of()),
            section.oneOf("resource_class", CLASSES, text -> text));
    ceiling.network.forEach(at -> NetworkPlace.require(section, "network", at));
    ceiling.secrets.forEach(name -> section.require("secrets", SecretGrant.isName(name), name));
    section.end();
    return ceiling;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .putList("languages", languages, JsonValue::of)
        .put("workspace", workspace)
        .putList("network", network, JsonValue::of)
        .put("spawn", spawn)
        .putIfPresent(
            "secrets",
            Optional.of(secrets).filter(names -> !names.isEmpty()),
            names -> JsonValue.of(names.stream().map(JsonValue::of).toList()))
        .put("resource_class", resourceClass)
        .build();
  }

  /** Whether a class is not above the largest. */
  public boolean allowsClass(String name) {
    return CLASSES.contains(name) && CLASSES.indexOf(name) <= CLASSES.indexOf(resourceClass);
  }
}
