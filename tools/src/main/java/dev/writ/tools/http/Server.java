package dev.writ.tools.http;

import dev.writ.guardian.policy.rule.NetworkPlace;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.Optional;

/**
 * The place of an API, and the path below which all its requests stay.
 *
 * @param host in lower case; an address of version 6 without brackets
 * @param base empty, or begins with a slash and ends without one
 */
public record Server(boolean secure, String host, int port, String base) {
  private static final int CHARS_MAX = 500;

  /** Reads {@code https://host[:port][/path]}; empty for anything else, or a path with dots. */
  public static Optional<Server> parse(String text) {
    if (text.length() > CHARS_MAX || !text.matches("https?://[!-~]+")) {
      return Optional.empty();
    }
    try {
      URI uri = new URI(text);
      Optional<NetworkPlace> place = NetworkPlace.parse(text);
      boolean plain = uri.getRawQuery() == null && uri.getRawFragment() == null;
      String path = uri.getRawPath() == null ? "" : uri.getRawPath();
      String base = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
      if (place.isEmpty() || !plain || !PathTemplate.isLiteral(base)) {
        return Optional.empty();
      }
      String host = place.get().host().replace("[", "").replace("]", "");
      return Optional.of(new Server(text.startsWith("https:"), host, place.get().port(), base));
    } catch (URISyntaxException e) {
      return Optional.empty();
    }
  }

  /** {@code host:port}, as policies write it. */
  public String place() {
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }

  /** Whether the host is written as an address. */
  public boolean isAddress() {
    return host.contains(":") || host.matches("[0-9.]+");
  }

  /** Whether it is this machine, by name or address. */
  public boolean isLoopback() {
    return host.equals("localhost")
        || host.endsWith(".localhost")
        || host.equals("::1")
        || host.matches("127\\.[0-9.]+");
  }

  /** Whether another place is the same host and port, by the same scheme. */
  public boolean isAt(Server other) {
    return secure == other.secure && host.equals(other.host) && port == other.port;
  }

  /** The URL, without a port that the scheme implies. */
  public String text() {
    boolean usual = port == (secure ? 443 : 80);
    String shown = host.contains(":") ? "[" + host + "]" : host;
    return (secure ? "https://" : "http://")
        + shown.toLowerCase(Locale.ROOT)
        + (usual ? "" : ":" + port)
        + base;
  }
}
