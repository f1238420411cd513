package dev.writ.cli.home;

import dev.writ.canonicalize.json.Timestamps;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.Listen;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermission;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** What a server's files of TLS are good for today, and an operator wants to know all the same. */
public final class TlsWarnings {
  private static final Duration SOON = Duration.ofDays(14);

  private TlsWarnings() {}

  /** Of the files for callers, and of those for other gateways; one line each. */
  public static List<String> of(GatewayConfig config, Instant now) {
    List<String> warnings = new ArrayList<>(of(config.listen().protection(), now));
    config
        .extras()
        .cells()
        .flatMap(cells -> cells.hop().protection())
        .ifPresent(between -> warnings.addAll(of(between, now)));
    return warnings;
  }

  /** One line each; none where the server does not speak TLS by itself. */
  static List<String> of(Listen.Protection protection, Instant now) {
    List<String> warnings = new ArrayList<>();
    if (protection instanceof Listen.Protection.Tls tls) {
      try {
        if (Files.getPosixFilePermissions(tls.key()).contains(PosixFilePermission.OTHERS_READ)) {
          warnings.add(
              tls.key() + " can be read by others: chmod o-r, and exchange it where anybody has");
        }
        Instant end = end(tls);
        if (end.isBefore(now.plus(SOON))) {
          warnings.add(
              tls.certificate()
                  + " ends at "
                  + Timestamps.format(end)
                  + ": renew it, then kill -HUP the server");
        }
      } catch (IOException | CertificateException e) {
        // The check of the configuration refuses files that cannot be read (GWY-007).
      }
    }
    return warnings;
  }

  private static Instant end(Listen.Protection.Tls tls) throws IOException, CertificateException {
    try (InputStream in = Files.newInputStream(tls.certificate())) {
      return ((X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in))
          .getNotAfter()
          .toInstant();
    }
  }
}
