package dev.writ.gateway.http;

import io.vertx.core.http.HttpConnection;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

/**
 * Whose connection a request came by: to this server, or to the gateway that forwarded it.
 *
 * @param address without port
 * @param chain the certificates that it presented, its own first, verified in the handshake; empty
 *     if none
 * @param letIn by which trust they were verified last
 */
public record Client(String address, List<X509Certificate> chain, LetIn letIn) {

  public Client {
    chain = List.copyOf(chain);
  }

  /** The client trust under which a connection's certificate was last verified; null before. */
  public static final class LetIn {
    private volatile TlsFiles.Trust trust;

    TlsFiles.Trust by() {
      return trust;
    }

    void by(TlsFiles.Trust verified) {
      trust = verified;
    }
  }

  public static Client of(HttpConnection connection, Connections.Watch watch) {
    return new Client(Connections.address(connection), chain(connection), watch.letIn());
  }

  private static List<X509Certificate> chain(HttpConnection connection) {
    SSLSession session = connection.sslSession();
    if (session == null) {
      return List.of();
    }
    try {
      return Arrays.stream(session.getPeerCertificates()).map(X509Certificate.class::cast).toList();
    } catch (SSLPeerUnverifiedException e) {
      return List.of();
    }
  }
}
