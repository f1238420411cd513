package dev.writ.gateway.http;

import dev.writ.gateway.http.limit.TrustedProxies;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

/**
 * Whose connection a request came by: to this server, or to the gateway that forwarded it.
 *
 * @param address of who called, without port: behind {@link TrustedProxies}, as they say
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

  /**
   * @param proxies in front of this server
   */
  public static Client of(
      HttpServerRequest request, Connections.Watch watch, TrustedProxies proxies) {
    HttpConnection connection = request.connection();
    String address =
        proxies.caller(
            Connections.address(connection),
            request.headers().getAll(TrustedProxies.FORWARDED_FOR));
    return new Client(address, chain(connection), watch.letIn());
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
