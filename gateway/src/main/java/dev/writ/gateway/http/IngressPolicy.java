package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.auth.Authentication;
import dev.writ.gateway.http.auth.Authenticator;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.auth.Certificates;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;

/**
 * Who may call, as one version of the configuration says. A call is judged by the version in force
 * when its head is complete.
 */
public record IngressPolicy(
    Authentication authentication, Origins origins, TlsFiles.Trust trust, boolean required) {

  /** Without client certificates. */
  public static IngressPolicy of(
      List<Authenticator> authenticators, Certificates certificates, Origins origins) {
    return new IngressPolicy(
        new Authentication(authenticators, certificates), origins, TlsFiles.Trust.NONE, false);
  }

  public IngressPolicy with(TlsFiles files) {
    return new IngressPolicy(authentication, origins, files.trust(), files.required());
  }

  /**
   * Whether a caller would be let in now as it was when its call began, on the same connection.
   *
   * @param chain as for {@link #requireConnection}
   */
  boolean keeps(Caller caller, List<X509Certificate> chain, Client.LetIn connection, Instant now) {
    try {
      requireConnection(chain, connection);
    } catch (WritException e) {
      return false;
    }
    return authentication.keeps(caller, now);
  }

  /**
   * Requires that an open connection would be accepted now: it may have been accepted under another
   * client authority. The result is remembered with the connection, so that it is verified once for
   * each configuration.
   *
   * @param chain the certificates that the client presented in the handshake; empty if none
   * @throws WritException {@code GWY-020}
   */
  void requireConnection(List<X509Certificate> chain, Client.LetIn connection) {
    if (trust.clients().isEmpty() || connection.by() == trust) {
      return;
    }
    if (chain.isEmpty() && required) {
      throw new WritException(
          GatewayError.NOT_AUTHENTICATED, "the connection is older than what it needs: anew");
    }
    if (!chain.isEmpty()) {
      try {
        trust
            .clients()
            .get()
            .checkClientTrusted(
                chain.toArray(X509Certificate[]::new),
                chain.getFirst().getPublicKey().getAlgorithm());
      } catch (CertificateException e) {
        throw new WritException(
            GatewayError.NOT_AUTHENTICATED,
            "the client certificate is of no authority that is known now",
            e);
      }
    }
    connection.by(trust);
  }
}
