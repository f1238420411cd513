package dev.writ.guardian.policy;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.policy.rule.NetworkPlace;
import dev.writ.guardian.policy.seed.WorkspacePaths;
import dev.writ.guardian.yaml.Section;
import java.util.List;
import java.util.Optional;

/**
 * The most that a role may do.
 *
 * @param tools names of tools, or {@code tool/operation}, sorted
 * @param resources the ceiling; all four are written always
 * @param sandboxes sandbox profiles, sorted
 * @param paths directories under the workspace root, sorted; {@code .} is all of it
 * @param environment names of environment variables, sorted
 * @param network {@code host:port} or {@code *.domain:port}, sorted
 * @param commands names of programs that may exist in its sandboxes, sorted
 * @param declared the resources that a surface declares for callers who state none; within the
 *     ceiling, and the ceiling itself where absent
 */
public record Role(
    String name,
    List<String> tools,
    Resources resources,
    List<String> sandboxes,
    List<String> paths,
    List<String> environment,
    List<String> network,
    List<String> commands,
    Optional<Resources> declared) {

  static Role read(String name, Section section) {
    Resources resources = resources(section.section("resources"));
    Role role =
        new Role(
            name,
            section.names("tools"),
            resources,
            section.names("sandboxes"),
            section.names("paths", List.of()),
            section.names("environment", List.of()),
            section.names("network", List.of()),
            section.names("commands", List.of()),
            section.optional("declared", key -> resources(section.section(key))));
    role.declared.ifPresent(
        one -> section.require("declared", one.isWithin(resources), "more than the ceiling"));
    role.commands.forEach(one ->
        section.require(
            "commands", isProgram(one), one + " is no name of a program, without a folder"));
    role.paths.forEach(path -> WorkspacePaths.require(section, "paths", path));
    role.network.forEach(at -> NetworkPlace.require(section, "network", at));
    section.end();
    return role;
  }

  /** Four ceilings, each of which is stated. */
  public static Resources resources(Section section) {
    Resources resources =
        new Resources(
            section.count("cpu_ms"),
            section.count("memory_bytes"),
            section.count("output_bytes"),
            section.count("wall_ms"));
    section.end();
    return resources;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .putList("tools", tools, JsonValue::of)
        .put("resources", resources.toJson())
        .putList("sandboxes", sandboxes, JsonValue::of)
        .putList("paths", paths, JsonValue::of)
        .putList("environment", environment, JsonValue::of)
        .putList("network", network, JsonValue::of)
        .putIfPresent(
            "commands",
            Optional.of(commands).filter(c -> !c.isEmpty()),
            c -> JsonValue.of(c.stream().map(JsonValue::of).toList()))
        .putIfPresent("declared", declared, Resources::toJson)
        .build();
  }

  /** A program by its plain name: what stands in a directory of PATH. */
  public static boolean isProgram(String name) {
    return name.matches("[A-Za-z0-9_\\[][A-Za-z0-9._+-]{0,63}");
  }

  public boolean mayUse(String tool, String operation) {
    return tools.contains(tool) || tools.contains(tool + "/" + operation);
  }
}
