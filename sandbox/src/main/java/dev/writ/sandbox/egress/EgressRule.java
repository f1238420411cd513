package dev.writ.sandbox.egress;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.util.Locale;
import java.util.Optional;

/**
 * One destination that a command may connect to.
 *
 * @param host a name or an address, in lower case; {@code *.example.com} is every name below
 * @param port 1 to 65535
 * @param privateAddresses whether it may be loopback, link-local or private; otherwise a name that
 *     resolves to such an address is refused
 * @param broker if present, the command gets no connection of its own: it sends plain HTTP requests
 *     for {@code http://host:port/}, and the proxy sends those that the broker lists, over TLS
 */
public record EgressRule(String host, int port, boolean privateAddresses, Optional<Broker> broker) {
  public EgressRule {
    String name = host.startsWith("*.") ? host.substring(2) : host;
    boolean isName = !name.isEmpty() && name.length() <= 253 && name.matches("[a-z0-9._:-]+");
    if (!isName || !host.equals(host.toLowerCase(Locale.ROOT)) || port < 1 || port > 65_535) {
      throw new WritException(
          SandboxError.EGRESS_RULE, "host of " + host.length() + " characters, port " + port);
    }
    if (broker.isPresent() && host.startsWith("*.")) {
      throw new WritException(SandboxError.EGRESS_RULE, "a broker's host must be one name");
    }
  }

  public EgressRule(String host, int port, boolean privateAddresses) {
    this(host, port, privateAddresses, Optional.empty());
  }

  /** {@code host:port}, public addresses only. */
  public static EgressRule of(String host, int port) {
    return new EgressRule(host, port, false);
  }

  public EgressRule by(Broker sender) {
    return new EgressRule(host, port, privateAddresses, Optional.of(sender));
  }

  boolean covers(String name, int number) {
    boolean sameHost =
        host.startsWith("*.")
            ? name.length() > host.length() - 1 && name.endsWith(host.substring(1))
            : name.equals(host);
    return sameHost && number == port;
  }
}
