package dev.writ.gateway.apart;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.TlsAuthorities;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HopSettings;
import dev.writ.gateway.http.Listen;
import dev.writ.gateway.http.TlsContents;
import dev.writ.gateway.http.TlsFiles;
import java.io.ByteArrayInputStream;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/**
 * TLS of a client that shows a certificate and believes one authority; files in PEM.
 *
 * @param ends when the certificate does
 */
record PemFiles(TlsContents contents, SSLContext context, Instant ends) {
  static Listen.Protection.Tls files(HopSettings.Tls tls) {
    return new Listen.Protection.Tls(
        tls.certificate(), tls.key(), Optional.of(new Listen.Clients(tls.authority(), true)));
  }

  /**
   * @throws WritException {@code GWY-007} for a file that is not there or is none of its kind
   */
  static PemFiles of(HopSettings.Tls tls) {
    return of(TlsContents.read(files(tls)), tls);
  }

  /**
   * @param tls names the files that it was read from
   * @throws WritException {@code GWY-007} for what is none of its kind, and for the key of another
   *     certificate
   */
  static PemFiles of(TlsContents contents, HopSettings.Tls tls) {
    byte[] chain = contents.certificate().getBytes();
    try {
      SSLContext context =
          TlsAuthorities.mutual(
              contents.authority().orElseThrow().getBytes(), chain, contents.key().getBytes());
      X509Certificate own =
          (X509Certificate)
              CertificateFactory.getInstance("X.509")
                  .generateCertificate(new ByteArrayInputStream(chain));
      if (!TlsFiles.isPair(TlsAuthorities.privateKey(contents.key().getBytes()), own)) {
        throw new WritException(
            GatewayError.TLS_UNUSABLE, tls.key() + " is not the key of " + tls.certificate());
      }
      return new PemFiles(contents, context, own.getNotAfter().toInstant());
    } catch (GeneralSecurityException e) {
      throw new WritException(
          GatewayError.TLS_UNUSABLE,
          tls.certificate() + ", " + tls.key() + ", " + tls.authority() + ": " + e,
          e);
    }
  }
}
