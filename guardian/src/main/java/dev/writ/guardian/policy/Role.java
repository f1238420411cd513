package dev.writ.guardian.policy;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.yaml.Section;
import java.util.List;

/**
 * The most that a role may do.
 *
 * @param tools names of tools, or {@code tool/operation}, sorted
 * @param resources the ceiling; all four are written always
 * @param sandboxes sandbox profiles, sorted
 * @param paths directories under the workspace root, sorted; {@code .} is all of it
 * @param environment names of environment variables, sorted
 * @param network {@code host:port} or {@code *.domain:port}, sorted
 */
public record Role(
    String name,
    List<String> tools,
    Resources resources,
    List<String> sandboxes,
    List<String> paths,
    List<String> environment,
    List<String> network) {

  static Role read(String name, Section section) {
    Section ceiling = section.section("resources");
    Resources resources =
        new Resources(
            ceiling.count("cpu_ms"),
            ceiling.count("memory_bytes"),
            ceiling.count("output_bytes"),
            ceiling.count("wall_ms"));
    ceiling.end();
    Role role =
        new Role(
            name,
            section.names("tools"),
            resources,
            section.names("sandboxes"),
            section.names("paths", List.of()),
            section.names("environment", List.of()),
            section.names("network", List.of()));
    role.paths.forEach(path -> section.require("paths", WorkspacePaths.isNormal(path), path));
    role.network.forEach(at -> section.require("network", NetworkPlace.isPattern(at), at));
    section.end();
    return role;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .putList("tools", tools, JsonValue::of)
        .put("resources", resources.toJson())
        .putList("sandboxes", sandboxes, JsonValue::of)
        .putList("paths", paths, JsonValue::of)
        .putList("environment", environment, JsonValue::of)
        .putList("network", network, JsonValue::of)
        .build();
  }

  public boolean mayUse(String tool, String operation) {
    return tools.contains(tool) || tools.contains(tool + "/" + operation);
  }
}
