package dev.writ.surfaces.logline;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.config.Secrets;
import dev.writ.gateway.config.SurfaceConfig;
import dev.writ.gateway.error.GatewayError;
import dev.writ.guardian.document.Resources;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Reads a {@link LoglineConfig} from the server's configuration (spec/surface-logline.md). */
public final class LoglineSettings {
  /** Seed 001's own variable for its secret. */
  public static final String SECRET_VARIABLE = "LOGLINE_SHARED_SECRET";

  private static final String SUBJECT = "subject.";
  private static final String TOOL = "tool.";
  private static final String SANDBOX = "sandbox";
  private static final String ARTIFACTS = "artifacts_bytes";
  private static final List<String> CEILING =
      List.of("cpu_ms", "memory_bytes", "output_bytes", "wall_ms");
  private static final String DEFAULTS = "defaults";

  /** What may be said of one tool. */
  private static final List<String> OF_TOOL =
      Stream.concat(CEILING.stream(), Stream.of(DEFAULTS)).toList();

  private final SortedMap<String, String> settings;

  private LoglineSettings(Map<String, String> settings) {
    this.settings = new TreeMap<>(settings);
  }

  /**
   * Secrets come from files and from the environment; each is for all tenants in the settings.
   *
   * @param directory to which the names of files are relative
   * @throws WritException {@code GWY-002}, {@code GWY-005}, {@code GWY-101}, {@code GWY-102}
   */
  public static LoglineConfig read(
      SurfaceConfig config, Map<String, String> environment, Path directory) {
    LoglineSettings settings = new LoglineSettings(config.settings());
    settings.requireKnown();
    SortedMap<String, String> subjects = settings.below(SUBJECT);
    List<LoglineConfig.Secret> secrets = new ArrayList<>();
    String given = environment.getOrDefault(SECRET_VARIABLE, "");
    if (!given.isEmpty()) {
      byte[] key = given.getBytes(StandardCharsets.UTF_8);
      secrets.add(new LoglineConfig.Secret(SECRET_VARIABLE, key, subjects));
    }
    for (String file : config.secrets()) {
      secrets.add(new LoglineConfig.Secret(file, Secrets.read(directory.resolve(file)), subjects));
    }
    return new LoglineConfig(secrets, settings.tools(), settings.artifactsBytes());
  }

  private void requireKnown() {
    for (String key : settings.keySet()) {
      boolean known =
          key.startsWith(SUBJECT)
              || key.equals(SANDBOX)
              || key.equals(ARTIFACTS)
              || CEILING.contains(key)
              || key.startsWith(TOOL) && (!isOfTool(key) || isConfigured(key));
      if (!known) {
        throw refused(key, isOfTool(key) ? "is of a tool that is not here" : "is unknown");
      }
    }
  }

  /** Whether a setting says something of one tool; else it names the tool itself. */
  private static boolean isOfTool(String key) {
    return OF_TOOL.stream().anyMatch(what -> key.startsWith(TOOL) && key.endsWith("." + what));
  }

  private boolean isConfigured(String key) {
    return settings.containsKey(key.substring(0, key.lastIndexOf('.')));
  }

  private SortedMap<String, String> below(String prefix) {
    TreeMap<String, String> found = new TreeMap<>();
    settings.forEach((key, value) -> {
      if (key.startsWith(prefix)) {
        found.put(key.substring(prefix.length()), value);
      }
    });
    return found;
  }

  private SortedMap<String, LoglineConfig.Tool> tools() {
    TreeMap<String, LoglineConfig.Tool> tools = new TreeMap<>();
    String sandbox = required(SANDBOX);
    CEILING.forEach(limit -> count(limit, 1)); // also where every tool states its own
    below(TOOL)
        .forEach((id, value) -> {
          if (!isOfTool(TOOL + id)) {
            tools.put(id, tool(TOOL + id, value, sandbox));
          }
        });
    return tools;
  }

  /** Written as {@code name version operation}. */
  private LoglineConfig.Tool tool(String key, String value, String sandbox) {
    String[] parts = value.split(" ");
    if (parts.length != 3) {
      throw refused(key, "is not `name version operation`");
    }
    return new LoglineConfig.Tool(
        parts[0],
        parts[1],
        parts[2],
        new Resources(
            limit(key, "cpu_ms"),
            limit(key, "memory_bytes"),
            limit(key, "output_bytes"),
            limit(key, "wall_ms")),
        sandbox,
        defaults(key + "." + DEFAULTS));
  }

  private JsonValue.Obj defaults(String key) {
    String text = settings.getOrDefault(key, "{}");
    try {
      if (Jcs.parse(text.getBytes(StandardCharsets.UTF_8)) instanceof JsonValue.Obj object) {
        return object;
      }
    } catch (WritException e) {
      throw refused(key, "cannot be read: " + e.code().code() + " " + e.code().meaning());
    }
    throw refused(key, "is no object");
  }

  /** A tool's own limit, or the one for all. */
  private long limit(String tool, String name) {
    String own = tool + "." + name;
    return count(settings.containsKey(own) ? own : name, 1);
  }

  private long artifactsBytes() {
    return settings.containsKey(ARTIFACTS)
        ? count(ARTIFACTS, 0)
        : LoglineConfig.ARTIFACTS_BYTES_DEFAULT;
  }

  private long count(String key, long least) {
    String text = required(key);
    if (!text.matches("[0-9]{1,15}") || Long.parseLong(text) < least) {
      throw refused(key, "is no number from " + least + " on");
    }
    return Long.parseLong(text);
  }

  private String required(String key) {
    return Optional.ofNullable(settings.get(key)).orElseThrow(() -> refused(key, "is missing"));
  }

  private static WritException refused(String key, String why) {
    return new WritException(
        GatewayError.CONFIG_FIELD, "surfaces/logline/settings/" + key + " " + why);
  }
}
