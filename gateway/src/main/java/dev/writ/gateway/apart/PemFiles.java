package dev.writ.gateway.apart;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.TlsAuthorities;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HopSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import javax.net.ssl.SSLContext;

/** TLS of a client that shows a certificate and believes one authority; files in PEM. */
final class PemFiles {
  private PemFiles() {}

  /**
   * @throws WritException {@code GWY-007} for a file that is not there or is none of its kind
   */
  static SSLContext context(HopSettings.Tls tls) {
    try {
      return TlsAuthorities.mutual(
          Files.readAllBytes(tls.authority()),
          Files.readAllBytes(tls.certificate()),
          Files.readAllBytes(tls.key()));
    } catch (IOException | GeneralSecurityException e) {
      throw new WritException(
          GatewayError.TLS_UNUSABLE,
          tls.certificate() + ", " + tls.key() + ", " + tls.authority() + ": " + e,
          e);
    }
  }
}
