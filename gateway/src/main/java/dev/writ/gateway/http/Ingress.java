package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.limit.HttpAdmission;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.http.message.Headers;
import io.netty.channel.ServerChannel;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContextBuilder;
import java.net.Socket;
import java.net.SocketAddress;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509KeyManager;
import javax.net.ssl.X509TrustManager;

/**
 * What a server of another protocol shares with the HTTP server: who may call, the limits of calls
 * and connections, TLS, and the observers. What is reloaded for HTTP is reloaded for it.
 */
public final class Ingress {
  private final Listen listen;
  private final ServerParts parts;
  private final Connections connections;
  private final BoundedTransport sockets;
  private final AtomicReference<X509KeyManager> keys = new AtomicReference<>();

  public Ingress(
      Listen listen, ServerParts parts, Connections connections, BoundedTransport sockets) {
    this.listen = listen;
    this.parts = parts;
    this.connections = connections;
    this.sockets = sockets;
  }

  /** New TLS connections get this certificate from now on. */
  public void use(X509KeyManager next) {
    keys.set(next);
  }

  /** Where the HTTP server listens, and how that is protected. */
  public Listen address() {
    return listen;
  }

  public HttpLimits limits() {
    return parts.limits();
  }

  public boolean isDraining() {
    return parts.places().isDraining();
  }

  /**
   * Whether {@code GET /ready} answers 200; where nothing answers to it, whether calls are taken.
   */
  public boolean isReady() {
    try {
      Headers none = Headers.of(List.of());
      Route ready = parts.router().find("GET", "/ready", none).route();
      HttpCall call =
          new HttpCall(
              "GET",
              "/ready",
              new TreeMap<>(),
              new TreeMap<>(),
              none,
              new byte[0],
              Optional.empty(),
              "-",
              Optional.empty(),
              new HttpAdmission(parts.places(), () -> {}),
              parts.clock().instant(),
              parts.newTrace());
      return ready.handler().handle(call).status() == 200;
    } catch (WritException e) {
      return e.code() == GatewayError.NO_ROUTE && !isDraining();
    }
  }

  /** An accepting socket whose connections count among those of the HTTP server. */
  public ServerChannel serverChannel() {
    ServerChannel accepting = sockets.server();
    connections.guard(accepting);
    return accepting;
  }

  /** TLS as the HTTP server speaks it; empty where that speaks none. */
  public Optional<SslContextBuilder> tls() {
    if (!(listen.protection() instanceof Listen.Protection.Tls tls)) {
      return Optional.empty();
    }
    SslContextBuilder builder =
        SslContextBuilder.forServer(new CurrentKeys()).protocols("TLSv1.3", "TLSv1.2");
    tls.clients()
        .ifPresent(clients ->
            builder
                .trustManager(new CurrentTrust())
                .clientAuth(clients.required() ? ClientAuth.REQUIRE : ClientAuth.OPTIONAL));
    return Optional.of(builder);
  }

  /**
   * A call whose head has arrived.
   *
   * @param route a name from a fixed list
   * @param headers with {@code host}
   * @param chain the certificates that the client presented, its own first
   */
  public IngressCall call(
      String surface,
      String method,
      String route,
      Headers headers,
      List<X509Certificate> chain,
      SocketAddress remote) {
    return new IngressCall(
        parts, connections.use(remote), surface, method, route, headers, chain, remote);
  }

  private X509TrustManager trust() throws CertificateException {
    return parts
        .doors()
        .get()
        .trust()
        .clients()
        .orElseThrow(() -> new CertificateException("no authority of clients"));
  }

  /** The authority of clients that is in force at a handshake. */
  private final class CurrentTrust implements X509TrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      trust().checkClientTrusted(chain, type);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type)
        throws CertificateException {
      throw new CertificateException("this is a server");
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      try {
        return trust().getAcceptedIssuers();
      } catch (CertificateException e) {
        return new X509Certificate[0];
      }
    }
  }

  /** The certificate that is in force at a handshake. */
  private final class CurrentKeys extends X509ExtendedKeyManager {
    @Override
    public String chooseEngineServerAlias(String type, Principal[] issuers, SSLEngine engine) {
      return keys.get().chooseServerAlias(type, issuers, null);
    }

    @Override
    public String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
      return keys.get().chooseServerAlias(type, issuers, socket);
    }

    @Override
    public String[] getServerAliases(String type, Principal[] issuers) {
      return keys.get().getServerAliases(type, issuers);
    }

    @Override
    public String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) {
      return null;
    }

    @Override
    public String[] getClientAliases(String type, Principal[] issuers) {
      return null;
    }

    @Override
    public X509Certificate[] getCertificateChain(String alias) {
      return keys.get().getCertificateChain(alias);
    }

    @Override
    public PrivateKey getPrivateKey(String alias) {
      return keys.get().getPrivateKey(alias);
    }
  }
}
