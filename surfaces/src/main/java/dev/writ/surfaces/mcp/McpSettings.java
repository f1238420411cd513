package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.guardian.document.Resources;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The configuration of the surface.
 *
 * @param ceiling the resources that a call declares, if tool and role allow as much
 * @param origins web pages that may call, as the Origin header names them
 * @param sessionIdle how long an unused session stays
 */
public record McpSettings(Resources ceiling, List<String> origins, Duration sessionIdle) {
  /** Modest resources, as `writ run` declares them. */
  public static final McpSettings DEFAULT =
      new McpSettings(
          new Resources(2000, 64L << 20, 1L << 20, 5000), List.of(), Duration.ofDays(1));

  public McpSettings {
    origins = List.copyOf(origins);
  }

  /**
   * @throws WritException {@code GWY-002}
   */
  public static McpSettings parse(Map<String, String> settings) {
    TreeMap<String, String> left = new TreeMap<>(settings);
    Resources d = DEFAULT.ceiling;
    Resources ceiling =
        new Resources(
            count(left, "cpu_ms", d.cpuMs()),
            count(left, "memory_bytes", d.memoryBytes()),
            count(left, "output_bytes", d.outputBytes()),
            count(left, "wall_ms", d.wallMs()));
    long idle = count(left, "session_idle_s", DEFAULT.sessionIdle.toSeconds());
    if (idle < 60 || idle > 31_622_400) {
      throw new WritException(
          GatewayError.CONFIG_FIELD,
          "surfaces/mcp/settings/session_idle_s: " + idle + " is not between 60 and 31622400");
    }
    String origins = left.remove("origins");
    if (!left.isEmpty()) {
      throw new WritException(
          GatewayError.CONFIG_FIELD, "surfaces/mcp/settings: " + left.firstKey());
    }
    return new McpSettings(
        ceiling,
        origins == null ? List.of() : List.of(origins.strip().split("\\s+")),
        Duration.ofSeconds(idle));
  }

  private static long count(TreeMap<String, String> settings, String key, long otherwise) {
    String text = settings.remove(key);
    if (text == null) {
      return otherwise;
    }
    if (!text.matches("[0-9]{1,15}")) {
      throw new WritException(
          GatewayError.CONFIG_FIELD, "surfaces/mcp/settings/" + key + " is not a number");
    }
    return Long.parseLong(text);
  }
}
