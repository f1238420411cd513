package dev.writ.guardian.policy.seed;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The policy's {@code commands} section: the commands that seed 002's tool gateway admits.
 *
 * @param workspaceRoot the directory under which every {@code cwd} is; absolute
 * @param sandbox profile of every command
 * @param outputBytes the most output of a command, in bytes
 * @param workspaces the directory below a host's WORKSPACE_ROOT that each tenant has, none of them
 *     inside another; absent where policy has one tenant, which has all of it
 * @param limits of every command beside those of its role; the default where policy has none
 * @param images an image by program, for engines that run images
 * @param effect the template of the effect that runs a command
 */
public record CommandProfile(
    String workspaceRoot,
    String sandbox,
    long outputBytes,
    SortedMap<String, CommandRole> roles,
    Optional<SortedMap<String, String>> workspaces,
    Optional<CommandLimits> limits,
    SortedMap<String, String> images,
    EffectTemplate effect) {

  /** The variables that {@code params} of the effect may take from a request. */
  public static final List<String> VARIABLES =
      List.of("$argv", "$commands", "$cpu_milli", "$cwd", "$env", "$image");

  public static CommandProfile read(Section section) {
    TreeMap<String, CommandRole> roles = new TreeMap<>();
    Section byRole = section.section("roles");
    for (String name : byRole.keys()) {
      roles.put(name, CommandRole.read(name, byRole.section(name)));
    }
    byRole.end();
    TreeMap<String, String> images = new TreeMap<>();
    Section byProgram = section.section("images");
    for (String program : byProgram.keys()) {
      images.put(program, byProgram.name(program));
    }
    byProgram.end();
    CommandProfile profile =
        new CommandProfile(
            section.name("workspace_root"),
            section.name("sandbox"),
            section.between("output_bytes", 1, JsonValue.Num.MAX_INTEGER),
            Collections.unmodifiableSortedMap(roles),
            section.optional("workspaces", key -> workspaces(section.section(key))),
            section.optional("limits", key -> CommandLimits.read(section.section(key))),
            Collections.unmodifiableSortedMap(images),
            EffectTemplate.read(section.section("effect"), VARIABLES));
    section.require(
        "workspace_root",
        profile.workspaceRoot.startsWith("/")
            && WorkspacePaths.isNormal(profile.workspaceRoot.substring(1)),
        "\"" + profile.workspaceRoot + "\" is no absolute path like /workspace");
    section.end();
    return profile;
  }

  private static SortedMap<String, String> workspaces(Section section) {
    TreeMap<String, String> workspaces = new TreeMap<>();
    for (String tenant : section.keys()) {
      String directory = section.name(tenant);
      WorkspacePaths.require(section, tenant, directory);
      for (String other : workspaces.values()) {
        boolean apart =
            !WorkspacePaths.isUnder(directory, List.of(other))
                && !WorkspacePaths.isUnder(other, List.of(directory));
        section.require(tenant, apart, directory + " and " + other + " are not apart");
      }
      workspaces.put(tenant, directory);
    }
    section.end();
    return Collections.unmodifiableSortedMap(workspaces);
  }

  public JsonValue.Obj toJson() {
    var rolesJson = JsonValue.object();
    roles.forEach((name, role) -> rolesJson.put(name, role.toJson()));
    return JsonValue.object()
        .put("workspace_root", workspaceRoot)
        .put("sandbox", sandbox)
        .put("output_bytes", outputBytes)
        .put("roles", rolesJson.build())
        .putIfPresent("workspaces", workspaces, CommandProfile::toJson)
        .putIfPresent("limits", limits, CommandLimits::toJson)
        .put("images", toJson(images))
        .put("effect", effect.toJson())
        .build();
  }

  private static JsonValue.Obj toJson(SortedMap<String, String> words) {
    var json = JsonValue.object();
    words.forEach(json::put);
    return json.build();
  }

  public Optional<String> image(String program) {
    return Optional.ofNullable(images.get(program));
  }

  /** The path under the workspace root, {@code .} for the root itself; empty for any other path. */
  public Optional<String> underRoot(String cwd) {
    if (cwd.equals(workspaceRoot)) {
      return Optional.of(".");
    }
    return Optional.of(cwd)
        .filter(path -> path.startsWith(workspaceRoot + "/"))
        .map(path -> path.substring(workspaceRoot.length() + 1))
        .filter(WorkspacePaths::isNormal)
        .filter(path -> !path.equals("."));
  }
}
