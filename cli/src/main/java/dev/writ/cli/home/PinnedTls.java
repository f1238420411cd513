package dev.writ.cli.home;

import dev.writ.canonicalize.WritException;
import dev.writ.embed.error.EmbedError;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * TLS to a server whose own certificate is at hand in a file: exactly that one is believed, under
 * whatever name it was issued, and no authority is asked.
 */
final class PinnedTls extends X509ExtendedTrustManager {
  private final X509Certificate expected;

  private PinnedTls(X509Certificate expected) {
    this.expected = expected;
  }

  /**
   * @param certificate PEM; its first certificate is the server's own
   * @throws WritException {@code CLI-002}
   */
  static SSLContext trusting(Path certificate) {
    try (InputStream in = Files.newInputStream(certificate)) {
      X509Certificate own =
          (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, new TrustManager[] {new PinnedTls(own)}, null);
      return context;
    } catch (IOException | GeneralSecurityException e) {
      throw new WritException(
          EmbedError.FILE_UNREADABLE, certificate + ": " + e.getClass().getSimpleName(), e);
    }
  }

  private void require(X509Certificate[] chain) throws CertificateException {
    if (chain.length == 0 || !chain[0].equals(expected)) {
      throw new CertificateException("another certificate than that of the server's file");
    }
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    require(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    require(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
    require(chain);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    throw new CertificateException("no client is asked for");
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    throw new CertificateException("no client is asked for");
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
    throw new CertificateException("no client is asked for");
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return new X509Certificate[0];
  }
}
