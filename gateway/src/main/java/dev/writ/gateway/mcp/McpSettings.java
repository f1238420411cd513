package dev.writ.gateway.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.GatewayError;
import dev.writ.guardian.document.Resources;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the configuration says of the surface.
 *
 * @param ceiling what a call declares, where tool and role allow as much
 * @param origins web pages that may call, as the Origin header names them
 */
public record McpSettings(Resources ceiling, List<String> origins) {
  /** Modest, as `writ run` declares it. */
  public static final McpSettings DEFAULT =
      new McpSettings(new Resources(2000, 64L << 20, 1L << 20, 5000), List.of());

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
    String origins = left.remove("origins");
    if (!left.isEmpty()) {
      throw new WritException(
          GatewayError.CONFIG_FIELD, "surfaces/mcp/settings: " + left.firstKey());
    }
    return new McpSettings(
        ceiling, origins == null ? List.of() : List.of(origins.strip().split("\\s+")));
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
