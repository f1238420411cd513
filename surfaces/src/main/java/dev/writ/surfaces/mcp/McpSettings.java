package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.guardian.document.Resources;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The configuration of the surface.
 *
 * @param served false where the server is not to have the surface
 * @param ceiling the most resources that a call declares; absent where policy alone says it
 * @param origins web pages that may call, as the Origin header names them
 * @param sessionIdle how long an unused session stays
 * @param approvalWait how long a call waits for an approver after the person beside the client said
 *     to go on
 * @param approvalLink where an approver finds a request: {@code {request}} stands for its id
 */
public record McpSettings(
    boolean served,
    Optional<Resources> ceiling,
    List<String> origins,
    Duration sessionIdle,
    Duration approvalWait,
    Optional<String> approvalLink) {
  /** No limits beside those of policy. */
  public static final McpSettings DEFAULT =
      new McpSettings(
          true,
          Optional.empty(),
          List.of(),
          Duration.ofDays(1),
          Duration.ofMinutes(1),
          Optional.empty());

  /** In the link, the id of the request. */
  private static final String REQUEST = "{request}";

  private static final long UNLIMITED = 999_999_999_999_999L;

  public McpSettings {
    origins = List.copyOf(origins);
  }

  /**
   * @throws WritException {@code GWY-002}
   */
  public static McpSettings parse(Map<String, String> settings) {
    TreeMap<String, String> left = new TreeMap<>(settings);
    Resources ceiling =
        new Resources(
            count(left, "cpu_ms", UNLIMITED),
            count(left, "memory_bytes", UNLIMITED),
            count(left, "output_bytes", UNLIMITED),
            count(left, "wall_ms", UNLIMITED));
    Duration idle = seconds(left, "session_idle_s", DEFAULT.sessionIdle, 60, 31_622_400);
    Duration wait = seconds(left, "approval_wait_s", DEFAULT.approvalWait, 0, 3600);
    Optional<String> link = Optional.ofNullable(left.remove("approval_url"));
    if (link.isPresent() && !isLink(link.get())) {
      throw new WritException(
          GatewayError.CONFIG_FIELD,
          "surfaces/mcp/settings/approval_url is no http(s) address with " + REQUEST);
    }
    String origins = left.remove("origins");
    String served = Optional.ofNullable(left.remove("served")).orElse("yes");
    if (!List.of("yes", "no").contains(served)) {
      throw new WritException(
          GatewayError.CONFIG_FIELD, "surfaces/mcp/settings/served is neither yes nor no");
    }
    if (!left.isEmpty()) {
      throw new WritException(
          GatewayError.CONFIG_FIELD, "surfaces/mcp/settings: " + left.firstKey());
    }
    return new McpSettings(
        served.equals("yes"),
        Optional.of(ceiling)
            .filter(c -> !c.equals(new Resources(UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED))),
        origins == null ? List.of() : List.of(origins.strip().split("\\s+")),
        idle,
        wait,
        link);
  }

  /** Where this request can be approved, if the server has such a place. */
  Optional<String> linkOf(Digest request) {
    return approvalLink.map(link -> link.replace(REQUEST, request.toString()));
  }

  private static boolean isLink(String text) {
    return text.contains(REQUEST) && text.matches("https?://[^\\s\"<>]{1,1000}");
  }

  private static Duration seconds(
      TreeMap<String, String> left, String key, Duration otherwise, long min, long max) {
    long seconds = count(left, key, otherwise.toSeconds());
    if (seconds < min || seconds > max) {
      throw new WritException(
          GatewayError.CONFIG_FIELD,
          "surfaces/mcp/settings/"
              + key
              + ": "
              + seconds
              + " is not between "
              + min
              + " and "
              + max);
    }
    return Duration.ofSeconds(seconds);
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
