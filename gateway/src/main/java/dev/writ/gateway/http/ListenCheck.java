package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Instant;
import java.util.Optional;

/** Whether a server could listen as it is configured to, without one. */
public final class ListenCheck {
  /** What the JDK says of EADDRINUSE. */
  private static final String IN_USE = "Address already in use";

  private ListenCheck() {}

  /**
   * Reads the files of TLS of the listener, and of what gateways reach each other by.
   *
   * @throws WritException {@code GWY-007}
   */
  public static void requireTls(Listen listen, Optional<HopSettings> hop, Instant now) {
    Optional<Listen.Protection.Tls> ofHop = hop.flatMap(HopSettings::protection);
    if (!(listen.protection() instanceof Listen.Protection.Tls) && ofHop.isEmpty()) {
      return;
    }
    Vertx vertx = Vertx.vertx(new VertxOptions().setFileSystemOptions(Listener.noCache()));
    try {
      if (listen.protection() instanceof Listen.Protection.Tls tls) {
        TlsFiles.read(tls, vertx, now);
      }
      ofHop.ifPresent(tls -> TlsFiles.read(tls, vertx, now));
    } finally {
      vertx.close();
    }
  }

  /**
   * Takes a port and gives it back.
   *
   * @return whether another process has it now, which may be over when the server starts
   * @throws WritException {@code GWY-004} where it can never be had: an address of another machine,
   *     a port that this user may not take
   */
  public static boolean isTaken(String host, int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(host, port));
      return false;
    } catch (IOException e) {
      if (String.valueOf(e.getMessage()).startsWith(IN_USE)) {
        return true;
      }
      throw new WritException(
          GatewayError.LISTEN_FAILED, host + ":" + port + ": " + e.getMessage(), e);
    }
  }
}
