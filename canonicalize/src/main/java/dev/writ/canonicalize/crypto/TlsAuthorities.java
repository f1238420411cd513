package dev.writ.canonicalize.crypto;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** TLS that trusts authorities of one's own, and none of the JDK's. */
public final class TlsAuthorities {
  private static final char[] NO_PASSWORD = {};
  private static final String BEGIN = "-----BEGIN PRIVATE KEY-----";

  private TlsAuthorities() {}

  /**
   * Trusts only these.
   *
   * @param pem X.509 certificates, one or more
   * @throws CertificateException for what is no certificate, and where there is none
   */
  public static SSLContext trusting(byte[] pem) throws CertificateException {
    List<Certificate> all = certificates(pem);
    try {
      return context(null, all);
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalStateException("this JDK has no PKCS12 or no TLS", e);
    }
  }

  /**
   * Trusts only these, and shows a certificate of its own.
   *
   * @param authorities X.509 certificates, one or more, in PEM
   * @param chain the own certificate, and those that lead to its authority, in PEM
   * @param key its private key, PKCS #8 in PEM: EC, RSA or Edwards
   * @throws GeneralSecurityException for what is none of these
   */
  public static SSLContext mutual(byte[] authorities, byte[] chain, byte[] key)
      throws GeneralSecurityException {
    List<Certificate> trusted = certificates(authorities);
    try {
      KeyStore own = KeyStore.getInstance("PKCS12");
      own.load(null, NO_PASSWORD);
      own.setKeyEntry(
          "own", privateKey(key), NO_PASSWORD, certificates(chain).toArray(Certificate[]::new));
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(own, NO_PASSWORD);
      return context(keys.getKeyManagers(), trusted);
    } catch (IOException e) {
      throw new IllegalStateException("this JDK has no PKCS12", e);
    }
  }

  private static SSLContext context(KeyManager[] keys, List<Certificate> trusted)
      throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    for (Certificate one : trusted) {
      store.setCertificateEntry("ca-" + store.size(), one);
    }
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys, trust.getTrustManagers(), null);
    return context;
  }

  private static List<Certificate> certificates(byte[] pem) throws CertificateException {
    List<Certificate> all =
        List.copyOf(
            CertificateFactory.getInstance("X.509")
                .generateCertificates(new ByteArrayInputStream(pem)));
    if (all.isEmpty()) {
      throw new CertificateException("no certificate is in it");
    }
    return all;
  }

  /**
   * A private key in PKCS #8, PEM: EC, RSA or Edwards.
   *
   * @throws GeneralSecurityException for what is none
   */
  public static PrivateKey privateKey(byte[] pem) throws GeneralSecurityException {
    String text = new String(pem, StandardCharsets.US_ASCII);
    int from = text.indexOf(BEGIN);
    int to = text.indexOf("-----END PRIVATE KEY-----");
    if (from < 0 || to < from) {
      throw new InvalidKeySpecException("no private key in PKCS #8 is in it");
    }
    PKCS8EncodedKeySpec spec;
    try {
      spec =
          new PKCS8EncodedKeySpec(
              Base64.getMimeDecoder().decode(text.substring(from + BEGIN.length(), to)));
    } catch (IllegalArgumentException e) {
      throw new InvalidKeySpecException("its base64 is malformed", e);
    }
    for (String kind : List.of("EC", "RSA")) {
      try {
        return KeyFactory.getInstance(kind).generatePrivate(spec);
      } catch (InvalidKeySpecException e) {
        continue;
      }
    }
    return KeyFactory.getInstance("EdDSA").generatePrivate(spec);
  }
}
