package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Where the server listens and what protects the connection.
 *
 * @param port 0 for any free one
 */
public record Listen(String host, int port, Protection protection) {

  /** How the connection is protected from eavesdropping. */
  public sealed interface Protection {
    /** No protection: only for addresses that no other machine reaches. */
    record None() implements Protection {}

    /** The operator states that a proxy in front protects it. */
    record Proxy() implements Protection {}

    /** TLS of our own; PEM files. */
    record Tls(Path certificate, Path key, Optional<Clients> clients) implements Protection {}
  }

  /**
   * Client certificates.
   *
   * @param authority PEM of the authority that issues them
   * @param required whether a client without one gets no connection
   */
  public record Clients(Path authority, boolean required) {}

  /** The same, with file names relative to that folder. */
  public Listen inFolder(Path folder) {
    return protection instanceof Protection.Tls tls
        ? new Listen(
            host,
            port,
            new Protection.Tls(
                folder.resolve(tls.certificate()),
                folder.resolve(tls.key()),
                tls.clients().map(c -> new Clients(folder.resolve(c.authority()), c.required()))))
        : this;
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

  /** Whether only users of this machine can reach it, not even others through a proxy. */
  public boolean isUnreachable() {
    return isLoopback(host) && protection instanceof Protection.None;
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
