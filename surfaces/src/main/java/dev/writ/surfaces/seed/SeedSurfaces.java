package dev.writ.surfaces.seed;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.config.SurfaceConfig;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.surfaces.execute.ExecuteSurface;
import dev.writ.surfaces.logline.LoglineSettings;
import dev.writ.surfaces.logline.LoglineSurface;
import dev.writ.surfaces.tools.ToolsSurface;
import dev.writ.surfaces.tools.WorkspaceRoot;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.Consumer;

/** Makes the surfaces of seeds 000, 001 and 002 that a configuration names. */
public final class SeedSurfaces {
  /** Seed 002's own variable for the directory in which commands work. */
  public static final String WORKSPACE_ROOT = "WORKSPACE_ROOT";

  private static final String ROOT_SETTING = "workspace_root";
  private static final String GRPC_PORT = "grpc_port";
  private static final List<String> TOOLS_SETTINGS = List.of(GRPC_PORT, ROOT_SETTING);
  private static final int PORT_MAX = 65_535;

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
            made.add(
                new LoglineSurface(pipeline, LoglineSettings.read(config, environment, directory)));
        case "execute" -> made.add(new ExecuteSurface(pipeline, audit));
        case "tools" ->
            made.add(new ToolsSurface(pipeline, root(surfaces, environment, directory)));
        default -> {} // another package's
      }
    });
    return made;
  }

  /**
   * Checks what the configuration says of these surfaces, without serving them.
   *
   * @throws WritException as {@link #of}
   */
  public static void require(
      SortedMap<String, SurfaceConfig> surfaces, Map<String, String> environment, Path directory) {
    surfaces.forEach((name, config) -> {
      switch (name) {
        case "logline" -> LoglineSettings.read(config, environment, directory);
        case "tools" -> {
          requireKnown(config);
          root(surfaces, environment, directory);
          grpcPort(surfaces);
        }
        default -> {} // without settings, or another package's
      }
    });
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
                .map(tools -> tools.settings().get(ROOT_SETTING)))
        .map(directory::resolve);
  }

  /**
   * The port on which seed 002's calls are served over gRPC, if they are.
   *
   * @throws WritException {@code GWY-002}
   */
  public static Optional<Integer> grpcPort(SortedMap<String, SurfaceConfig> surfaces) {
    return Optional.ofNullable(surfaces.get(ToolsSurface.NAME))
        .map(tools -> tools.settings().get(GRPC_PORT))
        .map(text -> {
          if (!text.matches("[0-9]{1,5}") || Integer.parseInt(text) > PORT_MAX) {
            throw new WritException(
                GatewayError.CONFIG_FIELD, "surfaces/tools/settings/" + GRPC_PORT + ": " + text);
          }
          return Integer.parseInt(text);
        });
  }

  private static void requireKnown(SurfaceConfig tools) {
    for (String name : tools.settings().keySet()) {
      if (!TOOLS_SETTINGS.contains(name)) {
        throw new WritException(
            GatewayError.CONFIG_FIELD,
            "surfaces/tools/settings/" + name + " is none of " + TOOLS_SETTINGS);
      }
    }
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
