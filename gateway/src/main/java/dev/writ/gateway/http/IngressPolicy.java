package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;

/**
 * Who may come in, as the configuration has it at one time. A call is judged by what is in force
 * when its head is there.
 */
record IngressPolicy(
    Authentication authentication, Origins origins, TlsFiles.Trust trust, boolean required) {

  /** Without client certificates. */
  static IngressPolicy of(
      List<Authenticator> authenticators, Certificates certificates, Origins origins) {
    return new IngressPolicy(
        new Authentication(authenticators, certificates), origins, TlsFiles.Trust.NONE, false);
  }

  IngressPolicy with(TlsFiles files) {
    return new IngressPolicy(authentication, origins, files.trust(), files.required());
  }

  /**
   * Whether a connection would be had anew: it may have been made when another authority was in
   * force. What a connection was let in by is remembered, so that it is verified once.
   *
   * @param chain what the client showed in the handshake; empty where it showed none
   * @throws WritException {@code GWY-020}
   */
  void requireConnection(List<X509Certificate> chain, Connections.Watch connection) {
    if (trust.clients().isEmpty() || connection.letInBy() == trust) {
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
    connection.letInBy(trust);
  }
}
