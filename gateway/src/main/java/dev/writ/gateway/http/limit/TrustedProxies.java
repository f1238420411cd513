package dev.writ.gateway.http.limit;

import java.net.InetAddress;
import java.util.List;
import java.util.Optional;

/**
 * The proxies whose word is taken on where a request came from. Anybody can send {@code
 * X-Forwarded-For}, and each proxy adds the address that it was called from at the end: so it is
 * read from its end, up to the first address that is no proxy's.
 *
 * @param ranges the proxies' addresses; none where the server is called directly
 */
public record TrustedProxies(List<AddressRange> ranges) {
  /** The field in which proxies name the addresses that a request came through. */
  public static final String FORWARDED_FOR = "X-Forwarded-For";

  public static final TrustedProxies NONE = new TrustedProxies(List.of());

  /** Proxies in a row, of which no installation has more: what a stranger sends is longer. */
  private static final int ROW_MAX = 16;

  public TrustedProxies {
    ranges = List.copyOf(ranges);
  }

  /**
   * @param peer the other end of a connection, as text
   */
  public boolean include(String peer) {
    return !ranges.isEmpty() && AddressRange.address(peer).filter(this::has).isPresent();
  }

  private boolean has(InetAddress address) {
    return ranges.stream().anyMatch(range -> range.contains(address));
  }

  /**
   * The address that a request is counted for and logged with.
   *
   * @param peer the other end of the connection
   * @param forwardedFor the values of {@link #FORWARDED_FOR}, in the order they came
   */
  public String caller(String peer, List<String> forwardedFor) {
    if (!include(peer)) {
      return peer;
    }
    String nearest = peer;
    String[] said = String.join(",", forwardedFor).split(",", -1);
    for (int i = said.length - 1; i >= Math.max(0, said.length - ROW_MAX); i--) {
      Optional<InetAddress> address = AddressRange.address(withoutPort(said[i].strip()));
      if (address.isEmpty()) {
        break; // "unknown", or no address: the proxy that says so is the nearest that is known
      }
      nearest = address.get().getHostAddress();
      if (!has(address.get())) {
        break;
      }
    }
    return nearest;
  }

  /** Some proxies add the port: {@code 192.0.2.1:4711}, {@code [2001:db8::1]:4711}. */
  private static String withoutPort(String said) {
    if (said.startsWith("[")) {
      return said.substring(1, Math.max(1, said.indexOf(']')));
    }
    int colon = said.indexOf(':');
    return colon >= 0 && colon == said.lastIndexOf(':') ? said.substring(0, colon) : said;
  }
}
