package dev.writ.guardian.policy.rule;

import dev.writ.guardian.yaml.Section;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A host and port that an effect wants to reach.
 *
 * @param host lower case; an address as it was written
 */
public record NetworkPlace(String host, int port) {

  /**
   * Reads a URL of a scheme with a known port, or {@code host:port}. Empty for a URL that has user
   * information, no port, or a host that is written in any unusual way.
   */
  public static Optional<NetworkPlace> parse(String text) {
    boolean url = text.contains("://");
    try {
      URI uri = new URI(url ? text : "place://" + text);
      String host = uri.getHost();
      if (host == null || uri.getRawUserInfo() != null || !isHost(host)) {
        return Optional.empty();
      }
      if (!url && !(host + ":" + uri.getPort()).equals(text)) {
        return Optional.empty();
      }
      int port = uri.getPort() >= 0 ? uri.getPort() : defaultPort(uri.getScheme());
      return port < 1 || port > 65_535
          ? Optional.empty()
          : Optional.of(new NetworkPlace(host.toLowerCase(Locale.ROOT), port));
    } catch (URISyntaxException e) {
      return Optional.empty();
    }
  }

  private static int defaultPort(String scheme) {
    return switch (scheme.toLowerCase(Locale.ROOT)) {
      case "http", "ws" -> 80;
      case "https", "wss" -> 443;
      default -> -1;
    };
  }

  private static boolean isHost(String host) {
    return !host.endsWith(".")
        && host.chars()
            .allMatch(c ->
                c >= 'a' && c <= 'z'
                    || c >= 'A' && c <= 'Z'
                    || c >= '0' && c <= '9'
                    || ".-[]:".indexOf(c) >= 0);
  }

  /** Whether a role may write this: {@code host:port}, or {@code *.domain:port}. */
  static boolean isPattern(String text) {
    String plain = text.startsWith("*.") ? text.substring(2) : text;
    return parse(plain)
        .filter(place -> !plain.contains("://"))
        .filter(place -> (place.host + ":" + place.port).equals(plain))
        .isPresent();
  }

  /** Refuses what no role may write, with the form that it has to have. */
  public static void require(Section section, String key, String text) {
    section.require(
        key,
        isPattern(text),
        text
            + " is no place like api.example.org:443 or *.example.org:443: a host in small letters"
            + " and a port, and nothing before or behind them");
  }

  /** Whether one of the patterns covers this; a star stands for one or more labels. */
  public boolean isCovered(List<String> patterns) {
    String at = host + ":" + port;
    return patterns.stream()
        .anyMatch(p -> p.startsWith("*.") ? at.endsWith(p.substring(1)) : p.equals(at));
  }
}
