package dev.writ.console.oidc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.OidcFiles;
import dev.writ.gateway.TestCertificates;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.auth.OidcProvider;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Only who has a certificate by an authority that counts, for the issuer's name, is asked. */
class AProviderIsKnownByItsCertificateTest {
  @TempDir Path dir;

  private OidcProvider configured(String issuer, String more) {
    String yaml =
        "writ_gateway: 1\noidc: { issuer: ISSUER, client_id: writ, tenant: acmeMORE }\n"
            .replace("ISSUER", "\"" + issuer + "\"")
            .replace("MORE", more);
    return OidcFiles.read(
            GatewayConfig.parse(yaml.getBytes(StandardCharsets.UTF_8), "gateway.yaml", Map.of())
                .inFolder(dir))
        .orElseThrow();
  }

  private static Description description(OidcProvider of) {
    try (ProviderWeb web = new ProviderWeb(of, Duration.ofSeconds(10))) {
      return Description.of(web, of.settings().issuer());
    }
  }

  private static void assertUnreached(OidcProvider of) {
    assertThatThrownBy(() -> description(of))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).isEqualTo(OidcError.UNREACHED))
        .hasMessageContaining("Exception");
  }

  @Test
  void anAuthorityThatIsNamedCountsAndNoOther() throws Exception {
    TestCertificates certificates =
        new TestCertificates(dir)
            .authority("ca")
            .authority("other")
            .issue("good", "/CN=login", "ca")
            .issue("elsewhere", "/CN=127.0.0.1", "ca", "DNS:login.example", 2);
    try (TestProvider good =
            new TestProvider(
                InstantSource.system(),
                Optional.of(certificates.client("ca", Optional.of("good"))));
        TestProvider elsewhere =
            new TestProvider(
                InstantSource.system(),
                Optional.of(certificates.client("ca", Optional.of("elsewhere"))))) {
      Description described = description(configured(good.issuer, ", ca: ca.pem"));
      assertThat(described.token().toString()).isEqualTo(good.issuer + "/token");
      assertUnreached(configured(good.issuer, ", ca: other.pem"));
      assertUnreached(configured(good.issuer, ""));
      assertUnreached(configured(elsewhere.issuer, ", ca: ca.pem"));
      String plain = "http" + good.issuer.substring("https".length());
      good.describing = d -> d.put("token_endpoint", plain + "/token");
      assertThatThrownBy(() -> description(configured(good.issuer, ", ca: ca.pem")))
          .hasMessageContaining("token_endpoint");
    }
  }

  @Test
  void aSecretIsNotWrittenOut() {
    OidcProvider provider = configured("https://login.example", "");
    assertThat(new OidcProvider(provider.settings(), Optional.of("hidden"), provider.authorities()))
        .hasToString("https://login.example");
  }
}
