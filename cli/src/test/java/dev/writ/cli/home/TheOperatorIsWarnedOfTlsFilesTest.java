package dev.writ.cli.home;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.Listen;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TheOperatorIsWarnedOfTlsFilesTest {
  @TempDir Path dir;

  @Test
  void of_a_certificate_that_ends_soon_and_of_a_key_that_others_read() throws Exception {
    Path key = dir.resolve("key.pem");
    Path certificate = dir.resolve("cert.pem");
    Process made =
        new ProcessBuilder(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-days",
                "30",
                "-subj",
                "/CN=localhost",
                "-keyout",
                key.toString(),
                "-out",
                certificate.toString())
            .redirectErrorStream(true)
            .start();
    made.getInputStream().readAllBytes();
    assertThat(made.waitFor()).isZero();
    Listen.Protection tls = new Listen.Protection.Tls(certificate, key, Optional.empty());
    Instant now = Instant.now();
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r-----"));
    assertThat(TlsWarnings.of(tls, now)).isEmpty();
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r--r--"));
    assertThat(TlsWarnings.of(tls, now.plus(Duration.ofDays(20))))
        .satisfiesExactly(
            line -> assertThat(line).startsWith(key + " can be read by others"),
            line -> assertThat(line).startsWith(certificate + " ends at "));
    assertThat(TlsWarnings.of(new Listen.Protection.None(), now)).isEmpty();
    GatewayConfig between =
        GatewayConfig.parse(
                "writ_gateway: 1\ncells: { certificate: cert.pem, key: key.pem, ca: ca.pem }\n"
                    .getBytes(StandardCharsets.UTF_8),
                "gateway.yaml",
                Map.of())
            .inFolder(dir);
    assertThat(TlsWarnings.of(between, now.plus(Duration.ofDays(20))))
        .as("of the one between gateways, too")
        .hasSize(2);
  }
}
