package dev.writ.guardian.policy.seed;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;
import java.util.List;
import java.util.Optional;

/**
 * The commands that a role may run through seed 002's surface.
 *
 * @param commands programs, sorted; a shell among them may take lines that need one
 * @param cpuMilli most of {@code limits.cpu}, in thousandths of a processor
 * @param memMb most of {@code limits.mem_mb}, in MiB
 * @param timeoutSec most of {@code timeout_sec}, in seconds
 * @param environment variables that are let through, sorted
 * @param paths directories of the workspace root in which its commands may work; absent for all
 */
public record CommandRole(
    String name,
    List<String> commands,
    long cpuMilli,
    long memMb,
    long timeoutSec,
    List<String> environment,
    Optional<List<String>> paths) {

  /** The shells that a line may be given to, the simplest first. */
  public static final List<String> SHELLS = List.of("sh", "bash");

  private static final long MB_MAX = 1L << 32;
  private static final long SECONDS_MAX = 1L << 40;

  static CommandRole read(String name, Section section) {
    Section limits = section.section("limits");
    CommandRole role =
        new CommandRole(
            name,
            section.names("commands"),
            limits.milli("cpu"),
            limits.between("mem_mb", 1, MB_MAX),
            limits.between("timeout_sec", 1, SECONDS_MAX),
            section.names("environment", List.of()),
            section.optional("paths", section::names));
    limits.end();
    role.paths()
        .ifPresent(all -> all.forEach(path -> WorkspacePaths.require(section, "paths", path)));
    section.end();
    return role;
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .putList("commands", commands, JsonValue::of)
        .put(
            "limits",
            JsonValue.object()
                .put("cpu", new JsonValue.Num(cpuMilli / 1000.0))
                .put("mem_mb", memMb)
                .put("timeout_sec", timeoutSec)
                .build())
        .putList("environment", environment, JsonValue::of)
        .putIfPresent("paths", paths, all -> JsonValue.of(all.stream().map(JsonValue::of).toList()))
        .build();
  }
}
