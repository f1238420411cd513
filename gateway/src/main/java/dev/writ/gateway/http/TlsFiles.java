package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import io.vertx.core.Vertx;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.net.ClientSSLOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.net.ServerSSLOptions;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Date;
import java.util.Optional;
import java.util.Set;
import javax.net.ssl.KeyManager;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509KeyManager;
import javax.net.ssl.X509TrustManager;

/**
 * The certificate, its key and the clients' authority, read once and checked to fit together:
 * otherwise a key of another certificate would only show as broken handshakes of clients.
 *
 * @param clients the authority that issues the certificates of clients, if clients may present one
 * @param required whether a client without one gets no connection
 * @param ends when the certificate does
 */
public record TlsFiles(
    TlsContents contents,
    PemKeyCertOptions own,
    Optional<PemTrustOptions> clients,
    boolean required,
    Trust trust,
    Instant ends) {
  private static final byte[] PROBE = {0x77, 0x72, 0x69, 0x74};

  /** So far the clock of who issues certificates may be ahead of this machine's. */
  private static final Duration CLOCKS_DIFFER = Duration.ofMinutes(5);

  /** Verifies the certificates of clients; absent if none is requested. */
  record Trust(Optional<X509TrustManager> clients) {
    static final Trust NONE = new Trust(Optional.empty());
  }

  /**
   * @throws WritException {@code GWY-007} for a file that is not there or is none of its kind, a
   *     key of another certificate, a certificate whose time is over or has not begun
   */
  public static TlsFiles read(Listen.Protection.Tls tls, Vertx vertx, Instant now) {
    return of(TlsContents.read(tls), tls, vertx, now);
  }

  /**
   * @param tls names the files that it was read from
   * @throws WritException as {@link #read}
   */
  static TlsFiles of(TlsContents contents, Listen.Protection.Tls tls, Vertx vertx, Instant now) {
    PemKeyCertOptions own =
        new PemKeyCertOptions().addCertValue(contents.certificate()).addKeyValue(contents.key());
    Optional<PemTrustOptions> clients =
        contents.authority().map(pem -> new PemTrustOptions().addCertValue(pem));
    X509Certificate certificate = requirePair(tls, own, vertx, now);
    Trust trust = new Trust(clients.map(pem -> trust(tls, pem, vertx)));
    return new TlsFiles(
        contents,
        own,
        clients,
        tls.clients().map(Listen.Clients::required).orElse(false),
        trust,
        certificate.getNotAfter().toInstant());
  }

  private static X509Certificate requirePair(
      Listen.Protection.Tls tls, PemKeyCertOptions own, Vertx vertx, Instant now) {
    X509Certificate certificate;
    boolean pair;
    try {
      X509KeyManager keys = keys(own, vertx);
      String alias = alias(keys, tls);
      certificate = keys.getCertificateChain(alias)[0];
      pair = isPair(keys.getPrivateKey(alias), certificate);
    } catch (WritException e) {
      throw e;
    } catch (Exception e) { // Vert.x's parsers throw various exceptions
      throw new WritException(
          GatewayError.TLS_UNUSABLE,
          TlsFault.of(
                  tls.certificate(),
                  own.getCertValue().getBytes(),
                  tls.key(),
                  own.getKeyValue().getBytes())
              .orElseGet(() ->
                  tls.certificate() + " and " + tls.key() + ": " + e.getClass().getSimpleName()),
          e);
    }
    if (!pair) {
      throw new WritException(
          GatewayError.TLS_UNUSABLE, tls.key() + " is not the key of " + tls.certificate());
    }
    if (certificate.getNotAfter().before(Date.from(now))) {
      throw new WritException(
          GatewayError.TLS_UNUSABLE,
          tls.certificate() + " ended at " + certificate.getNotAfter().toInstant());
    }
    if (certificate.getNotBefore().after(Date.from(now.plus(CLOCKS_DIFFER)))) {
      throw new WritException(
          GatewayError.TLS_UNUSABLE,
          tls.certificate()
              + " begins at "
              + certificate.getNotBefore().toInstant()
              + ", and now it is "
              + now);
    }
    return certificate;
  }

  private static X509KeyManager keys(PemKeyCertOptions own, Vertx vertx) throws Exception {
    for (KeyManager each : own.getKeyManagerFactory(vertx).getKeyManagers()) {
      if (each instanceof X509KeyManager keys) {
        return keys;
      }
    }
    throw new GeneralSecurityException("no key");
  }

  private static String alias(X509KeyManager keys, Listen.Protection.Tls tls) {
    for (String kind : new String[] {"EC", "RSA", "EdDSA"}) {
      String[] aliases = keys.getServerAliases(kind, null);
      if (aliases != null && aliases.length > 0) {
        return aliases[0];
      }
    }
    throw new WritException(
        GatewayError.TLS_UNUSABLE, tls.certificate() + " is of no EC, RSA or Edwards key");
  }

  /** Whether the key is that of the certificate. */
  public static boolean isPair(PrivateKey key, X509Certificate certificate)
      throws GeneralSecurityException {
    if (!key.getAlgorithm().equals(certificate.getPublicKey().getAlgorithm())) {
      return false;
    }
    String algorithm =
        switch (key.getAlgorithm()) {
          case "EC" -> "SHA256withECDSA";
          case "RSA" -> "SHA256withRSA";
          default -> "EdDSA";
        };
    Signature signature = Signature.getInstance(algorithm);
    signature.initSign(key);
    signature.update(PROBE);
    byte[] signed = signature.sign();
    signature.initVerify(certificate.getPublicKey());
    signature.update(PROBE);
    return signature.verify(signed);
  }

  private static X509TrustManager trust(
      Listen.Protection.Tls tls, PemTrustOptions pem, Vertx vertx) {
    Path authority = tls.clients().orElseThrow().authority();
    try {
      TrustManager[] all = pem.getTrustManagerFactory(vertx).getTrustManagers();
      X509TrustManager trust =
          Arrays.stream(all)
              .filter(X509TrustManager.class::isInstance)
              .map(X509TrustManager.class::cast)
              .findFirst()
              .orElseThrow();
      if (trust.getAcceptedIssuers().length == 0) {
        throw new GeneralSecurityException("no certificate");
      }
      return trust;
    } catch (Exception e) { // as above
      throw new WritException(
          GatewayError.TLS_UNUSABLE, authority + ": " + e.getClass().getSimpleName(), e);
    }
  }

  /** The certificate and its key, as they are now. */
  public X509KeyManager keyManager(Vertx vertx) {
    try {
      return keys(own, vertx);
    } catch (Exception e) { // they were read before
      throw new IllegalStateException(e);
    }
  }

  /** For connections to others that show a certificate of the same authority. */
  public ClientSSLOptions toOthers() {
    ClientSSLOptions options =
        new ClientSSLOptions().setHostnameVerificationAlgorithm("HTTPS").setKeyCertOptions(own);
    clients.ifPresent(options::setTrustOptions);
    return options;
  }

  ServerSSLOptions options() {
    ServerSSLOptions options = new ServerSSLOptions();
    options.setKeyCertOptions(own);
    options.setEnabledSecureTransportProtocols(Set.of("TLSv1.2", "TLSv1.3"));
    options.setUseAlpn(false);
    clients.ifPresent(pem -> {
      options.setClientAuth(required ? ClientAuth.REQUIRED : ClientAuth.REQUEST);
      options.setTrustOptions(pem);
    });
    return options;
  }
}
