package dev.writ.sandbox.egress;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.SandboxError;
import java.util.Locale;

/**
 * One place that a command may connect to.
 *
 * @param host a name or an address, in lower case; {@code *.example.com} is every name below
 * @param port 1 to 65535
 * @param privateAddresses whether it may be loopback, link-local or private; otherwise a name that
 *     resolves to such an address is refused
 */
public record EgressRule(String host, int port, boolean privateAddresses) {
  public EgressRule {
    String name = host.startsWith("*.") ? host.substring(2) : host;
    boolean isName = !name.isEmpty() && name.length() <= 253 && name.matches("[a-z0-9._:-]+");
    if (!isName || !host.equals(host.toLowerCase(Locale.ROOT)) || port < 1 || port > 65_535) {
      throw new WritException(
          SandboxError.EGRESS_RULE, "host of " + host.length() + " characters, port " + port);
    }
  }

  /** {@code host:port}, public addresses only. */
  public static EgressRule of(String host, int port) {
    return new EgressRule(host, port, false);
  }

  boolean covers(String name, int number) {
    boolean sameHost =
        host.startsWith("*.")
            ? name.length() > host.length() - 1 && name.endsWith(host.substring(1))
            : name.equals(host);
    return sameHost && number == port;
  }
}
