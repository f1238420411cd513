package dev.writ.gateway;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.config.Secrets;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.auth.OidcProvider;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;

/** Reads the files of a provider of OpenID Connect. */
public final class OidcFiles {
  private OidcFiles() {}

  /**
   * @return empty where the configuration names no provider
   * @throws WritException {@code GWY-005} for the secret, {@code GWY-007} for the authorities
   */
  public static Optional<OidcProvider> read(GatewayConfig config) {
    return config
        .extras()
        .oidc()
        .map(settings ->
            new OidcProvider(
                settings,
                settings
                    .secret()
                    .map(file -> new String(Secrets.read(file), StandardCharsets.UTF_8)),
                settings.authority().map(OidcFiles::certificates).orElse(List.of())));
  }

  private static List<X509Certificate> certificates(Path pem) {
    try (InputStream in = Files.newInputStream(pem)) {
      List<X509Certificate> all =
          CertificateFactory.getInstance("X.509").generateCertificates(in).stream()
              .map(X509Certificate.class::cast)
              .toList();
      if (all.isEmpty()) {
        throw new CertificateException("none");
      }
      return all;
    } catch (IOException | CertificateException e) {
      throw new WritException(
          GatewayError.TLS_UNUSABLE, pem + ": " + e.getClass().getSimpleName(), e);
    }
  }
}
