package dev.writ.gateway.apart;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HopSettings;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** TLS of a client that shows a certificate and believes one authority; files in PEM. */
final class PemFiles {
  private static final char[] NO_PASSWORD = {};

  private PemFiles() {}

  /**
   * @throws WritException {@code GWY-007} for a file that is not there or is none of its kind
   */
  static SSLContext context(HopSettings.Tls tls) {
    try {
      KeyStore own = KeyStore.getInstance("PKCS12");
      own.load(null, NO_PASSWORD);
      own.setKeyEntry(
          "own",
          privateKey(tls.key()),
          NO_PASSWORD,
          certificates(tls.certificate()).toArray(Certificate[]::new));
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(own, NO_PASSWORD);
      KeyStore believed = KeyStore.getInstance("PKCS12");
      believed.load(null, NO_PASSWORD);
      for (Certificate authority : certificates(tls.authority())) {
        believed.setCertificateEntry("authority" + believed.size(), authority);
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(believed);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
      return context;
    } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
      throw new WritException(
          GatewayError.TLS_UNUSABLE,
          tls.certificate() + ", " + tls.key() + ", " + tls.authority() + ": " + e,
          e);
    }
  }

  private static List<Certificate> certificates(Path file)
      throws IOException, GeneralSecurityException {
    return List.copyOf(
        CertificateFactory.getInstance("X.509")
            .generateCertificates(new ByteArrayInputStream(Files.readAllBytes(file))));
  }

  private static PrivateKey privateKey(Path file) throws IOException, GeneralSecurityException {
    String text = Files.readString(file, StandardCharsets.US_ASCII);
    String begin = "-----BEGIN PRIVATE KEY-----";
    int from = text.indexOf(begin);
    int to = text.indexOf("-----END PRIVATE KEY-----");
    if (from < 0 || to < from) {
      throw new GeneralSecurityException(file + " is no key in PKCS #8");
    }
    PKCS8EncodedKeySpec spec =
        new PKCS8EncodedKeySpec(
            Base64.getMimeDecoder().decode(text.substring(from + begin.length(), to)));
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
