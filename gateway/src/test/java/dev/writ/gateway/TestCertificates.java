package dev.writ.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Optional;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Authorities and certificates of tests, made by openssl. */
public final class TestCertificates {
  private static final char[] PASSWORD = "test".toCharArray();

  private final Path dir;

  public TestCertificates(Path dir) {
    this.dir = dir;
  }

  public Path pem(String name) {
    return dir.resolve(name + ".pem");
  }

  public Path key(String name) {
    return dir.resolve(name + ".key");
  }

  /** An authority. */
  public TestCertificates authority(String name) throws Exception {
    openssl(
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=NAME"
            + " -keyout NAME.key -out NAME.pem",
        name);
    return this;
  }

  /**
   * A certificate by an authority, for two days, valid for loopback and for clients.
   *
   * @param subject as openssl writes it: {@code /O=acme/CN=builder}
   */
  public TestCertificates issue(String name, String subject, String authority) throws Exception {
    return issue(name, subject, authority, "IP:127.0.0.1,DNS:localhost", 2);
  }

  /**
   * @param names for which it is valid, as openssl writes them
   * @param days from now on; negative for one that has expired
   */
  public TestCertificates issue(
      String name, String subject, String authority, String names, int days) throws Exception {
    Files.writeString(
        dir.resolve(name + ".ext"),
        "subjectAltName=" + names + "\nextendedKeyUsage=serverAuth,clientAuth\n");
    openssl(
        "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj SUBJECT -keyout NAME.key"
                .replace("SUBJECT", subject)
            + " -out NAME.csr",
        name);
    openssl(
        "x509 -req -in NAME.csr -CA AUTHORITY.pem -CAkey AUTHORITY.key -extfile NAME.ext "
                .replace("AUTHORITY", authority)
            + "-CAcreateserial -days "
            + days
            + " -out NAME.pem",
        name);
    openssl("pkcs12 -export -in NAME.pem -inkey NAME.key -passout pass:test -out NAME.p12", name);
    return this;
  }

  private void openssl(String command, String name) throws IOException, InterruptedException {
    String[] words = ("openssl " + command.replace("NAME", name)).split(" ");
    Process process =
        new ProcessBuilder(Arrays.asList(words))
            .directory(dir.toFile())
            .redirectErrorStream(true)
            .start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
  }

  /** When the certificate ends, as a metric says it. */
  public String end(String name) throws Exception {
    try (InputStream in = Files.newInputStream(pem(name))) {
      long ms =
          ((X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in))
              .getNotAfter()
              .getTime();
      return " " + Double.toString(ms / 1000);
    }
  }

  /** For a client that trusts an authority, and shows a certificate where one is named. */
  public SSLContext client(String trusted, Optional<String> shown)
      throws GeneralSecurityException, IOException {
    KeyStore trust = KeyStore.getInstance("PKCS12");
    trust.load(null, null);
    try (InputStream in = Files.newInputStream(pem(trusted))) {
      trust.setCertificateEntry(
          "ca", CertificateFactory.getInstance("X.509").generateCertificate(in));
    }
    TrustManagerFactory trusts =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trusts.init(trust);
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    KeyStore own = KeyStore.getInstance("PKCS12");
    if (shown.isPresent()) {
      try (InputStream in = Files.newInputStream(dir.resolve(shown.get() + ".p12"))) {
        own.load(in, PASSWORD);
      }
    } else {
      own.load(null, PASSWORD);
    }
    keys.init(own, PASSWORD);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), trusts.getTrustManagers(), null);
    return context;
  }
}
