package dev.writ.canonicalize.crypto;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** TLS that trusts authorities of one's own, and none of the JDK's. */
public final class TlsAuthorities {
  private TlsAuthorities() {}

  /**
   * Trusts only these.
   *
   * @param pem X.509 certificates, one or more
   * @throws CertificateException for what is no certificate, and where there is none
   */
  public static SSLContext trusting(byte[] pem) throws CertificateException {
    var all =
        CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(pem));
    if (all.isEmpty()) {
      throw new CertificateException("no certificate is in it");
    }
    try {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      for (Certificate one : all) {
        store.setCertificateEntry("ca-" + store.size(), one);
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalStateException("this JDK has no PKCS12 or no TLS", e);
    }
  }
}
