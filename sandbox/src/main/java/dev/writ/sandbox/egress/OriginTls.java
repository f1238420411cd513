package dev.writ.sandbox.egress;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.TlsAuthorities;
import dev.writ.sandbox.error.SandboxError;
import java.io.IOException;
import java.security.NoSuchAlgorithmException;
import java.security.cert.CertificateException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/** TLS from the proxy to a server, which must prove the host's name. */
public final class OriginTls {
  private OriginTls() {}

  /** Trusts what the JDK trusts. */
  public static SSLContext ofTheJdk() {
    try {
      return SSLContext.getDefault();
    } catch (NoSuchAlgorithmException e) {
      throw new WritException(SandboxError.HOST, "this JDK has no TLS", e);
    }
  }

  /**
   * Trusts only these authorities.
   *
   * @param pem X.509 certificates, one or more
   * @throws WritException {@code SBX-031}
   */
  public static SSLContext trusting(byte[] pem) {
    try {
      return TlsAuthorities.trusting(pem);
    } catch (CertificateException e) {
      throw new WritException(SandboxError.AUTHORITIES, "a certificate cannot be read", e);
    }
  }

  /** Does the handshake; the certificate must be for this host. */
  static Peer over(SSLContext context, Peer origin, String host, int port) throws IOException {
    SSLSocket socket =
        (SSLSocket)
            context.getSocketFactory().createSocket(origin.channel().socket(), host, port, false);
    SSLParameters parameters = socket.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    parameters.setApplicationProtocols(new String[] {"http/1.1"});
    socket.setSSLParameters(parameters);
    socket.startHandshake();
    return origin.through(socket.getInputStream(), socket.getOutputStream());
  }
}
