package dev.writ.gateway;

import dev.writ.canonicalize.WritException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;

/**
 * Where the server listens and what protects the connection.
 *
 * @param port 0 for any free one
 */
public record Listen(String host, int port, Protection protection) {

  /** What keeps others from reading along. */
  public sealed interface Protection {
    /** Nothing: only for addresses that no other machine reaches. */
    record None() implements Protection {}

    /** The operator's word that a proxy in front does it. */
    record Proxy() implements Protection {}

    /** TLS of our own; PEM files. */
    record Tls(Path certificate, Path key) implements Protection {}
  }

  /**
   * @throws WritException {@code GWY-003} for an address that others reach, without protection
   */
  public Listen {
    if (protection instanceof Protection.None && !isLoopback(host)) {
      throw new WritException(GatewayError.LISTEN_UNSAFE, host);
    }
  }

  /** A loopback address, unprotected. */
  public static Listen loopback(int port) {
    return new Listen("127.0.0.1", port, new Protection.None());
  }

  public boolean isLoopback() {
    return isLoopback(host);
  }

  private static boolean isLoopback(String host) {
    try {
      for (InetAddress address : InetAddress.getAllByName(host)) {
        if (!address.isLoopbackAddress()) {
          return false;
        }
      }
      return true;
    } catch (UnknownHostException e) {
      throw new WritException(GatewayError.LISTEN_FAILED, host + " is not known", e);
    }
  }
}
