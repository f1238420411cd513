package dev.writ.tools.mcp.web;

import dev.writ.guardian.policy.rule.NetworkPlace;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.egress.EgressClient.NoAnswer;
import dev.writ.sandbox.egress.EgressClient.Why;
import dev.writ.sandbox.egress.EgressRule;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.Optional;

/**
 * An address of the web, {@code https://host[:port]/path[?query]}.
 *
 * @param host in lower case; an address of version 6 without brackets
 * @param target path and query as they are sent; at least a slash
 */
public record WebAddress(boolean secure, String host, int port, String target) {
  private static final int CHARS_MAX = 2_000;

  /** Reads an address; empty for one with a user, a fragment, or anything unusual. */
  public static Optional<WebAddress> parse(String text) {
    if (text.length() > CHARS_MAX || !text.matches("(?i:https?)://[!-~]+")) {
      return Optional.empty();
    }
    try {
      URI uri = new URI(text);
      Optional<NetworkPlace> place = NetworkPlace.parse(text);
      if (place.isEmpty() || uri.getRawFragment() != null) {
        return Optional.empty();
      }
      String path = uri.getRawPath() == null || uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
      String target = uri.getRawQuery() == null ? path : path + "?" + uri.getRawQuery();
      return Optional.of(
          new WebAddress(
              uri.getScheme().equalsIgnoreCase("https"),
              place.get().host().replace("[", "").replace("]", ""),
              place.get().port(),
              target));
    } catch (URISyntaxException e) {
      return Optional.empty();
    }
  }

  /** Where a reference of this address leads; empty for one that cannot be read. */
  public Optional<WebAddress> resolve(String reference) {
    try {
      return parse(new URI(text()).resolve(new URI(reference)).toString());
    } catch (URISyntaxException | IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** Another target of the same origin. */
  public WebAddress at(String other) {
    return new WebAddress(secure, host, port, other);
  }

  /** The path, without a query. */
  public String path() {
    return target.split("\\?", 2)[0];
  }

  /** {@code host:port}, as policies write it. */
  public String place() {
    return shownHost() + ":" + port;
  }

  private String shownHost() {
    return host.contains(":") ? "[" + host + "]" : host;
  }

  /** Scheme, host, and port where it is not the usual one. */
  public String origin() {
    boolean usual = port == (secure ? 443 : 80);
    return (secure ? "https://" : "http://")
        + shownHost().toLowerCase(Locale.ROOT)
        + (usual ? "" : ":" + port);
  }

  /** The whole address. */
  public String text() {
    return origin() + target;
  }

  public boolean isAt(WebAddress other) {
    return origin().equals(other.origin());
  }

  /** Whether the host is written as an address. */
  public boolean isLiteral() {
    return host.contains(":") || host.matches("[0-9.]+");
  }

  /** Whether it is this machine, by name or address. */
  public boolean isLoopback() {
    return host.equals("localhost")
        || host.endsWith(".localhost")
        || host.equals("::1")
        || host.matches("127\\.[0-9.]+");
  }

  /**
   * The egress rule for it.
   *
   * @param trusted whether a person wrote the address: then one that is literally a private address
   *     may be reached
   */
  public EgressRule rule(SandboxSettings settings, boolean trusted) {
    return settings.placed(new EgressRule(host, port, trusted && isLiteral()));
  }

  /** Why it was not reached, and what to write instead where its name alone is the reason. */
  public String unreached(NoAnswer why) {
    boolean byName = why.why() == Why.DENIED && isLoopback() && !isLiteral();
    return place()
        + ": "
        + why.getMessage()
        + (byName ? "; write 127.0.0.1 instead of " + host + " for this machine" : "");
  }

  @Override
  public String toString() {
    return text();
  }
}
