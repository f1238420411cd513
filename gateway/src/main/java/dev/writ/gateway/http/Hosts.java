package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.message.Headers;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The host names that the server accepts. After DNS rebinding a web page reaches this machine under
 * its own name and sends that name as Host. So a server on loopback accepts only the names of
 * loopback and those that its configuration lists, on every route.
 */
public final class Hosts {
  private static final List<String> LOOPBACK = List.of("localhost", "127.0.0.1", "[::1]");

  private final Optional<TreeSet<String>> allowed;

  private Hosts(Optional<TreeSet<String>> allowed) {
    this.allowed = allowed;
  }

  /**
   * @param named host names that the configuration lists, without ports
   */
  public static Hosts of(Listen listen, List<String> named) {
    boolean behindProxy = listen.protection() instanceof Listen.Protection.Proxy;
    if (named.isEmpty() && (!listen.isLoopback() || behindProxy)) {
      return new Hosts(Optional.empty()); // not on loopback: clients know its name
    }
    TreeSet<String> names = new TreeSet<>(LOOPBACK);
    names.add(listen.host().contains(":") ? "[" + listen.host() + "]" : listen.host());
    named.forEach(name -> names.add(name.toLowerCase(Locale.ROOT)));
    return new Hosts(Optional.of(names));
  }

  /**
   * @throws WritException {@code GWY-034}
   */
  void require(Headers headers) {
    for (String host : headers.all("host")) {
      if (allowed.isPresent() && !allowed.get().contains(withoutPort(host))) {
        throw new WritException(GatewayError.HOST, "Host names none of " + allowed.get());
      }
    }
  }

  /** Whether a Host header names this machine. */
  public static boolean isLoopback(String host) {
    return LOOPBACK.contains(withoutPort(host));
  }

  private static String withoutPort(String host) {
    return host.replaceFirst(":[0-9]*$", "").toLowerCase(Locale.ROOT);
  }
}
