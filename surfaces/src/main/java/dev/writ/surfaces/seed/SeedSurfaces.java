package dev.writ.surfaces.seed;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.config.GatewayConfig.SurfaceConfig;
import dev.writ.gateway.config.Secrets;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.guardian.document.Resources;
import dev.writ.surfaces.execute.ExecuteSurface;
import dev.writ.surfaces.logline.LoglineConfig;
import dev.writ.surfaces.logline.LoglineError;
import dev.writ.surfaces.logline.LoglineSurface;
import dev.writ.surfaces.tools.ToolsSurface;
import dev.writ.surfaces.tools.WorkspaceRoot;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Makes the surfaces of seeds 000, 001 and 002 that a configuration names. */
public final class SeedSurfaces {
  /** Seed 001's own variable for its secret. */
  public static final String SECRET_VARIABLE = "LOGLINE_SHARED_SECRET";

  /** Seed 002's own variable for the directory in which commands work. */
  public static final String WORKSPACE_ROOT = "WORKSPACE_ROOT";

  private static final String SUBJECT = "subject.";
  private static final String TOOL = "tool.";
  private static final List<String> CEILING =
      List.of("cpu_ms", "memory_bytes", "output_bytes", "wall_ms");

  private SeedSurfaces() {}

  /**
   * @param surfaces by name; others are ignored here
   * @param directory to which file names are relative
   * @param audit gets seed 000's audit lines
   * @throws WritException {@code GWY-002}, {@code GWY-005}, {@code GWY-101}, {@code GWY-102}
   */
  public static List<Surface> of(
      Pipeline pipeline,
      SortedMap<String, SurfaceConfig> surfaces,
      Map<String, String> environment,
      Path directory,
      Consumer<JsonValue.Obj> audit) {
    List<Surface> made = new ArrayList<>();
    surfaces.forEach((name, config) -> {
      switch (name) {
        case "logline" ->
            made.add(new LoglineSurface(pipeline, logline(config, environment, directory)));
        case "execute" -> made.add(new ExecuteSurface(pipeline, audit));
        case "tools" ->
            made.add(new ToolsSurface(pipeline, root(surfaces, environment, directory)));
        default -> {} // another package's
      }
    });
    return made;
  }

  /** Secrets from files and from the environment; each is for all tenants in the settings. */
  static LoglineConfig logline(
      SurfaceConfig config, Map<String, String> environment, Path directory) {
    TreeMap<String, String> subjects = new TreeMap<>();
    TreeMap<String, LoglineConfig.Tool> tools = new TreeMap<>();
    Resources ceiling =
        new Resources(
            count(config, "cpu_ms"),
            count(config, "memory_bytes"),
            count(config, "output_bytes"),
            count(config, "wall_ms"));
    String sandbox = setting(config, "sandbox");
    config
        .settings()
        .forEach((key, value) -> {
          if (key.startsWith(SUBJECT)) {
            subjects.put(key.substring(SUBJECT.length()), value);
          } else if (key.startsWith(TOOL)) {
            tools.put(key.substring(TOOL.length()), tool(key, value, ceiling, sandbox));
          } else if (!key.equals("sandbox") && !CEILING.contains(key)) {
            throw new WritException(GatewayError.CONFIG_FIELD, "surfaces/logline: " + key);
          }
        });
    List<LoglineConfig.Secret> secrets = new ArrayList<>();
    String given = environment.getOrDefault(SECRET_VARIABLE, "");
    if (!given.isEmpty()) {
      byte[] key = given.getBytes(StandardCharsets.UTF_8);
      secrets.add(new LoglineConfig.Secret(SECRET_VARIABLE, key, subjects));
    }
    for (String file : config.secrets()) {
      secrets.add(new LoglineConfig.Secret(file, Secrets.read(directory.resolve(file)), subjects));
    }
    if (secrets.isEmpty()) {
      throw new WritException(LoglineError.NO_SECRET, "surfaces/logline");
    }
    return new LoglineConfig(secrets, tools);
  }

  /** Written as {@code name version operation}. */
  private static LoglineConfig.Tool tool(
      String key, String value, Resources ceiling, String sandbox) {
    String[] parts = value.split(" ");
    if (parts.length != 3) {
      throw new WritException(
          GatewayError.CONFIG_FIELD,
          "surfaces/logline/settings/" + key + " is not `name version operation`");
    }
    return new LoglineConfig.Tool(parts[0], parts[1], parts[2], ceiling, sandbox);
  }

  private static String setting(SurfaceConfig config, String key) {
    return Optional.ofNullable(config.settings().get(key))
        .orElseThrow(() ->
            new WritException(
                GatewayError.CONFIG_FIELD, "surfaces/logline/settings/" + key + " is missing"));
  }

  private static long count(SurfaceConfig config, String key) {
    String text = setting(config, key);
    if (!text.matches("[0-9]{1,15}")) {
      throw new WritException(
          GatewayError.CONFIG_FIELD, "surfaces/logline/settings/" + key + " is not a number");
    }
    return Long.parseLong(text);
  }

  /**
   * The directory of this host that seed 002's commands work in. Its own variable overrides the
   * file's setting.
   */
  public static Optional<Path> workspaceRoot(
      SortedMap<String, SurfaceConfig> surfaces, Map<String, String> environment, Path directory) {
    return Optional.ofNullable(environment.get(WORKSPACE_ROOT))
        .filter(text -> !text.isEmpty())
        .or(() ->
            Optional.ofNullable(surfaces.get(ToolsSurface.NAME))
                .map(tools -> tools.settings().get("workspace_root")))
        .map(directory::resolve);
  }

  private static Optional<WorkspaceRoot> root(
      SortedMap<String, SurfaceConfig> surfaces, Map<String, String> environment, Path directory) {
    return workspaceRoot(surfaces, environment, directory)
        .map(path -> {
          try {
            return new WorkspaceRoot(path);
          } catch (IOException e) {
            throw new WritException(
                GatewayError.CONFIG_FIELD,
                "the workspace root: " + e.getClass().getSimpleName(),
                e);
          }
        });
  }
}
