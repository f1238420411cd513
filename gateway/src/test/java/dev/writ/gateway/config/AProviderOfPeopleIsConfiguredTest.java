package dev.writ.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.OidcFiles;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.auth.OidcSettings;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code oidc} may say, and what it must. */
class AProviderOfPeopleIsConfiguredTest {
  private static final String LEAST =
      "oidc: { issuer: \"https://login.example/realm\", client_id: writ, tenant: acme }\n";
  private static final String WHOLE =
      """
      oidc:
        issuer: https://login.example/realm
        client_id: writ
        client_secret: secret.txt
        address: https://gate.example
        ca: ca.pem
        origins: ["https://keys.example"]
        scopes: [profile, email]
        subject_claim: email
        tenant_claim: org
        tenants: { "Acme Inc": acme }
        roles_claim: [realm_access, roles]
        roles: { night: [operator, viewer] }
      """;

  @TempDir Path dir;

  private static GatewayConfig parse(String yaml) {
    return GatewayConfig.parse(
        ("writ_gateway: 1\n" + yaml).getBytes(StandardCharsets.UTF_8), "gateway.yaml", Map.of());
  }

  @Test
  void everythingThatItSaysIsTaken() {
    OidcSettings settings = parse(WHOLE).inFolder(dir).extras().oidc().orElseThrow();
    assertThat(settings)
        .isEqualTo(
            new OidcSettings(
                "https://login.example/realm",
                "writ",
                Optional.of(dir.resolve("secret.txt")),
                Optional.of("https://gate.example"),
                Optional.of(dir.resolve("ca.pem")),
                List.of("https://keys.example"),
                List.of("email", "profile"),
                new OidcSettings.People(
                    "email",
                    Optional.empty(),
                    Optional.of("org"),
                    new TreeMap<>(Map.of("Acme Inc", "acme")),
                    List.of("realm_access", "roles"),
                    new TreeMap<>(Map.of("night", List.of("operator", "viewer"))))));
    assertThat(parse("").extras().oidc()).isEmpty();
    assertThat(OidcFiles.read(parse(""))).isEmpty();
  }

  /** Sessions end where what decides who somebody is changes, and only there. */
  @Test
  void whatDecidesWhoSomebodyIsIsItsIdentity() {
    OidcSettings settings = parse(WHOLE).extras().oidc().orElseThrow();
    for (String other :
        List.of(
            WHOLE.replace("example/realm", "example/other"),
            WHOLE.replace("client_id: writ", "client_id: other"),
            WHOLE.replace("subject_claim: email", "subject_claim: sub"),
            WHOLE.replace("tenant_claim: org", "tenant_claim: unit"),
            WHOLE.replace("Acme Inc", "Acme"),
            WHOLE.replace("realm_access", "access"),
            WHOLE.replace("night:", "day:"),
            WHOLE.replace("[operator, viewer]", "[viewer]"))) {
      assertThat(parse(other).extras().oidc().orElseThrow().identity())
          .as(other)
          .isNotEqualTo(settings.identity());
    }
    for (String same :
        List.of(
            WHOLE.replace("secret.txt", "new.txt"),
            WHOLE.replace("ca.pem", "new.pem"),
            WHOLE.replace("gate.example", "gate.new.example"),
            WHOLE.replace("[profile, email]", "[profile]"))) {
      assertThat(parse(same).extras().oidc().orElseThrow().identity())
          .isEqualTo(settings.identity());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          https://login.example/realm | http://login.example/realm
          https://login.example/realm | https://login.example/realm?a=b
          https://login.example/realm | https://login.example/realm#a
          https://login.example/realm | https://login.example@evil.example/
          https://login.example/realm | login.example
          https://login.example/realm | https://login example
          https://login.example/realm | file:///etc/passwd
          client_id: writ | name: writ
          https://gate.example | http://gate.example
          https://gate.example | https://gate.example/
          https://keys.example | http://keys.example
          scopes: [profile, email] | scopes: ["profile email"]
          tenant_claim: org | tenant: acme
          tenant_claim: org | tenant_claim: org, tenant: acme
          'tenants: { "Acme Inc": acme }' | tenants: {}
          night: [operator, viewer] | night: []
          roles_claim: [realm_access, roles] | roles_claim: []
          roles: { night: [operator, viewer] } | roles: {}
          subject_claim: email | subject_claim: ""
          """)
  void whatIsWrongIsNamed(String right, String wrong) {
    String yaml = WHOLE.replace(right, wrong.replace(", tenant: acme", "\n  tenant: acme"));
    assertThat(yaml).isNotEqualTo(WHOLE);
    assertThatThrownBy(() -> parse(yaml))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).isEqualTo(GatewayError.CONFIG_FIELD));
  }

  /** Elsewhere the name in Host is what somebody sent. */
  @Test
  void whoIsReachedFromElsewhereSaysWhere() {
    assertThat(parse(LEAST).extras().oidc()).isPresent();
    String proxy = "listen: { tls: proxy }\n";
    assertThatThrownBy(() -> parse(proxy + LEAST)).hasMessageContaining("address");
    assertThat(parse(proxy + WHOLE).extras().oidc()).isPresent();
  }

  @Test
  void filesAreReadAndChecked() throws Exception {
    String ca = LEAST.replace(" }", ", ca: ca.pem }");
    Files.writeString(dir.resolve("ca.pem"), "");
    assertThatThrownBy(() -> OidcFiles.read(parse(ca).inFolder(dir)))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).isEqualTo(GatewayError.TLS_UNUSABLE));
    Files.writeString(dir.resolve("ca.pem"), "no certificate");
    assertThatThrownBy(() -> OidcFiles.read(parse(ca).inFolder(dir)))
        .isInstanceOf(WritException.class);
    String secret = LEAST.replace(" }", ", client_secret: none.txt }");
    assertThatThrownBy(() -> OidcFiles.read(parse(secret).inFolder(dir)))
        .isInstanceOfSatisfying(
            WritException.class,
            e -> assertThat(e.code()).isEqualTo(GatewayError.SECRET_UNREADABLE));
  }
}
