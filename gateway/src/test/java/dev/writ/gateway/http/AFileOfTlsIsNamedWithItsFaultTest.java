package dev.writ.gateway.http;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.gateway.TestCertificates;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whoever mends it is told which of the two files it is, and what is wrong with it. */
class AFileOfTlsIsNamedWithItsFaultTest {
  @TempDir private Path dir;

  private final Vertx vertx = Vertx.vertx();
  private Path certificate;
  private Path key;

  @BeforeEach
  void issue() throws Exception {
    TestCertificates pki =
        new TestCertificates(dir)
            .authority("ca")
            .issue("server", "/CN=server", "ca")
            .issue("other", "/CN=other", "ca");
    certificate = pki.pem("server");
    key = pki.key("server");
  }

  @AfterEach
  void end() {
    vertx.close();
  }

  private void isToldAs(String file, String words) {
    Listen.Protection.Tls tls = new Listen.Protection.Tls(certificate, key, Optional.empty());
    assertThatThrownBy(() -> TlsFiles.read(tls, vertx, Instant.now()))
        .hasMessageContaining("GWY-007")
        .hasMessageContaining(dir.resolve(file) + " " + words);
  }

  private static String text(Path file) throws IOException {
    return Files.readString(file, StandardCharsets.US_ASCII);
  }

  @ParameterizedTest
  @CsvSource({
    "server.pem, is empty, 0",
    "server.pem, 'is no certificate in PEM, or not all of one', 300",
    "server.key, is empty, 0",
    "server.key, ends in the middle of a private key, 80",
  })
  void aFileThatWasReadWhileItWasWritten(String file, String words, int bytes) throws IOException {
    Path half = dir.resolve(file);
    Files.writeString(half, text(half).substring(0, bytes));
    isToldAs(file, words);
  }

  @ParameterizedTest
  @CsvSource({
    "server.pem, nothing of the kind, 'is no certificate in PEM, or not all of one'",
    "server.key, nothing of the kind, has no private key in PEM",
    "server.key, -----BEGIN ENCRYPTED PRIVATE KEY-----, is encrypted",
    "server.key, -----BEGIN EC PARAMETERS-----, begins with EC PARAMETERS",
  })
  void aFileOfAnotherKind(String file, String content, String words) throws IOException {
    Files.writeString(dir.resolve(file), content + "\n");
    isToldAs(file, words);
  }

  @Test
  void aChainInTheWrongOrder() throws IOException {
    Files.writeString(certificate, text(dir.resolve("ca.pem")) + text(certificate));
    isToldAs("server.pem", "has certificates in another order");
  }
}
