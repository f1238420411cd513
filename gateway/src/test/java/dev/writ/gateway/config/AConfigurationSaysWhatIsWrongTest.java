package dev.writ.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.http.Listen;
import dev.writ.gateway.http.auth.Certificates;
import dev.writ.gateway.http.auth.Tokens;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import javax.security.auth.x500.X500Principal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AConfigurationSaysWhatIsWrongTest {
  private static final String DIGEST = Tokens.digest("secret").toString();
  private static final String WHOLE =
      """
      writ_gateway: 1
      listen: { host: 0.0.0.0, port: 8443, tls: own, certificate: cert.pem, key: key.pem, client_ca: ca.pem, client_certificate: offered }
      limits: { concurrent_max: 10, concurrent_per_tenant_max: 3, body_within_s: 7 }
      drain_s: 5
      blob_bytes_max: 1000
      certificates:
        - { name: builder, dn: "O=acme, CN=builder", tenant: acme, subject: builder }
      origins: ["https://console.example:8443"]
      telemetry: { otlp: "http://127.0.0.1:4318/v1/traces", percent: 10, metrics: "http://127.0.0.1:4318/v1/metrics" }
      alerts: { consecutive_failures: 7 }
      tool_pool: { budget_mib: 512, workers_max: 3, pools: [ { language: python, class: small, workers_max: 16 } ], shrink_s: 30 }
      region: eu-1
      tokens:
        - { name: ci, digest: "DIGEST", tenant: acme, subject: builder, roles: [b, a] }
      surfaces:
        logline:
          keys: { acme: surface-logline }
          secrets: [secret.txt]
          settings: { tenant: acme }
      """
          .replace("DIGEST", DIGEST);

  @TempDir Path dir;

  private static GatewayConfig parse(String yaml, Map<String, String> environment) {
    return GatewayConfig.parse(yaml.getBytes(StandardCharsets.UTF_8), "gateway.yaml", environment);
  }

  private static Map<String, String> environment(String... pairs) {
    TreeMap<String, String> environment = new TreeMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      environment.put(pairs[i], pairs[i + 1]);
    }
    return environment;
  }

  @Test
  void everythingThatItSaysIsTaken() {
    GatewayConfig config = parse(WHOLE, environment());
    assertThat(config.listen().port()).isEqualTo(8443);
    assertThat(config.listen().protection())
        .isEqualTo(
            new Listen.Protection.Tls(
                Path.of("cert.pem"),
                Path.of("key.pem"),
                Optional.of(new Listen.Clients(Path.of("ca.pem"), false))));
    assertThat(config.inFolder(dir).listen().protection())
        .isEqualTo(
            new Listen.Protection.Tls(
                dir.resolve("cert.pem"),
                dir.resolve("key.pem"),
                Optional.of(new Listen.Clients(dir.resolve("ca.pem"), false))));
    assertThat(config.extras().certificates().getFirst().dn())
        .isEqualTo(new X500Principal("O=acme, CN=builder"));
    assertThat(config.extras().origins()).containsExactly("https://console.example:8443");
    assertThat(config.extras().telemetry())
        .contains(
            new TelemetrySettings(
                "http://127.0.0.1:4318/v1/traces",
                10,
                Optional.of("http://127.0.0.1:4318/v1/metrics"),
                Optional.empty(),
                Duration.ofSeconds(60)));
    assertThat(config.extras().alerts().values())
        .containsEntry("consecutive_failures", 7L)
        .containsEntry("resource_percent", 90L);
    assertThat(config.extras().toolPool())
        .isEqualTo(
            new ToolPoolSettings(
                512,
                3,
                List.of(new ToolPoolSettings.Pool("python", "small", 16)),
                Duration.ofSeconds(30)));
    assertThat(config.extras().region()).contains("eu-1");
    assertThat(config.limits().concurrentMax()).isEqualTo(10);
    assertThat(config.limits().concurrentPerTenantMax()).isEqualTo(3);
    assertThat(config.limits().bodyWithin()).isEqualTo(Duration.ofSeconds(7));
    assertThat(config.limits().headBytesMax()).isEqualTo(16384);
    assertThat(config.drain()).isEqualTo(Duration.ofSeconds(5));
    assertThat(config.blobBytesMax()).isEqualTo(1000);
    assertThat(config.tokens().getFirst().roles()).containsExactly("a", "b");
    assertThat(config.surfaces().get("logline").keys()).containsEntry("acme", "surface-logline");
    assertThat(config.surfaces().get("logline").secrets()).containsExactly("secret.txt");
    assertThat(config.surfaces().get("logline").settings()).containsEntry("tenant", "acme");
  }

  @Test
  void theLeastIsLoopback() {
    GatewayConfig config = parse("writ_gateway: 1\n", environment());
    assertThat(config.listen()).isEqualTo(Listen.loopback(8181));
    assertThat(config.tokens()).isEmpty();
    assertThat(config.surfaces()).isEmpty();
    assertThat(config.extras().toolPool()).isEqualTo(ToolPoolSettings.DEFAULT);
    assertThat(config.extras().toolPool().budgetMib()).isEqualTo(1024);
    assertThat(config.extras().region()).isEmpty();
  }

  @Test
  void theEnvironmentComesFirst() {
    GatewayConfig config =
        parse(
            "writ_gateway: 1\nlisten: { tls: own, certificate: c, key: k }\n",
            environment("WRIT_LISTEN", "127.0.0.1:9000", "WRIT_TLS", "none"));
    assertThat(config.listen()).isEqualTo(Listen.loopback(9000));
    assertThat(
            parse("writ_gateway: 1\n", environment("WRIT_LISTEN", "0.0.0.0:1", "WRIT_TLS", "proxy"))
                .listen()
                .protection())
        .isEqualTo(new Listen.Protection.Proxy());
    assertThatThrownBy(() -> parse("writ_gateway: 1\n", environment("WRIT_LISTEN", "a:99999")))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("GWY-002");
  }

  /** With the brackets in it, the address that commands are told was none. */
  @Test
  void brackets_around_an_address_are_no_part_of_it() {
    Map<String, String> none = environment("WRIT_LISTEN", "");
    for (String listen : List.of("[::1]:9000", "::1:9000")) {
      assertThat(parse("writ_gateway: 1\n", environment("WRIT_LISTEN", listen)).listen())
          .isEqualTo(new Listen("::1", 9000, new Listen.Protection.None()));
    }
    assertThat(parse("writ_gateway: 1\n", environment("WRIT_LISTEN", "[::1]")).listen().port())
        .isEqualTo(8181);
    assertThat(parse("writ_gateway: 1\nlisten: { host: \"[::1]\" }\n", none).listen().host())
        .isEqualTo("::1");
  }

  @Test
  void a_server_is_exercised_for_as_long_as_it_is_told() {
    String five = "writ_gateway: 1\nwarm_up_s: 5\n";
    assertThat(parse("writ_gateway: 1\n", environment()).extras().warmUp())
        .isEqualTo(Duration.ofSeconds(20));
    assertThat(parse(five, environment()).extras().warmUp()).isEqualTo(Duration.ofSeconds(5));
    assertThat(parse(five, environment("WRIT_WARM_UP_S", "0")).extras().warmUp())
        .isEqualTo(Duration.ZERO);
    for (String wrong : List.of("-1", "601", "a while")) {
      assertThatThrownBy(() -> parse(five, environment("WRIT_WARM_UP_S", wrong)))
          .isInstanceOf(WritException.class)
          .hasMessageContaining("WRIT_WARM_UP_S");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "writ_gateway: 1 | writ_gateway: 2 | GWY-002 | line 1",
        "drain_s: 5 | drain_s: -5 | GWY-002 | drain_s",
        "drain_s: 5 | drane_s: 5 | GWY-002 | drane_s",
        "concurrent_max: 10 | concurrent_max: unlimited | GWY-002 | concurrent_max",
        "concurrent_max: 10 | concurrent_max: 0 | GWY-002 | concurrent_max",
        "tls: own | tls: maybe | GWY-002 | tls",
        "tls: own | tls: none | GWY-003 | 0.0.0.0",
        ", key: key.pem, | , | GWY-002 | key",
        "client_certificate: offered | client_certificate: wanted | GWY-002 | client_certificate",
        "client_ca: ca.pem, | | GWY-002 | client_ca",
        ", client_ca: ca.pem, client_certificate: offered | | GWY-002 | client_ca",
        "tls: own | tls: proxy | GWY-002 | client_ca",
        "O=acme, CN=builder | builder | GWY-002 | distinguished name",
        "https://console.example:8443 | https://console.example/ | GWY-002 | origin",
        "https://console.example:8443 | * | GWY-002 | origin",
        "http://127.0.0.1:4318/v1/traces | 127.0.0.1:4318 | GWY-002 | telemetry",
        "percent: 10 | percent: 101 | GWY-002 | percent",
        "budget_mib: 512 | budget_mib: -1 | GWY-002 | budget_mib",
        "budget_mib: 512 | budget: 512 | GWY-002 | /tool_pool/budget",
        "workers_max: 16 | workers_max: 1025 | GWY-002 | workers_max",
        "language: python | language: pyhton | GWY-002 | language",
        "class: small | class: tiny | GWY-002 | class",
        "shrink_s: 30 | shrink_s: 0 | GWY-002 | shrink_s",
        "region: eu-1 | region: EU 1 | GWY-002 | region",
        "roles: [b, a] | roles: [] | GWY-002 | roles",
        "port: 8443 | port: 70000 | GWY-002 | port",
        "name: ci | nme: ci | GWY-002 | tokens/0",
      })
  void whatIsWrongIsNamed(String right, String wrong, String code, String named) {
    assertThat(WHOLE).contains(right.strip());
    String text = wrong == null ? "" : wrong.strip();
    assertThatThrownBy(() -> parse(WHOLE.replace(right.strip(), text), environment()))
        .isInstanceOf(WritException.class)
        .hasMessageContaining(code.strip())
        .hasMessageContaining(named.strip());
  }

  @Test
  void twoCredentialsOfOneNameOrDigestAreRefused() {
    GatewayConfig config = parse(WHOLE, environment());
    var one = config.tokens().getFirst();
    var sameName =
        new Tokens.Entry(one.name(), Tokens.digest("x"), "t", "s", List.of(), Optional.empty());
    assertThatThrownBy(() -> new Tokens(List.of(one, sameName)))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("GWY-002");
    var certificate = config.extras().certificates().getFirst();
    assertThatThrownBy(() -> new Certificates(List.of(certificate, certificate)))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("GWY-002");
    assertThatThrownBy(() -> new Tokens(List.of(one, one)))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("GWY-002");
  }

  @Test
  void aSecretsFileIsForTheServerAlone() throws Exception {
    Path secret = Files.writeString(dir.resolve("secret"), "s3cret\n");
    Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
    assertThat(Secrets.read(secret)).isEqualTo("s3cret".getBytes(StandardCharsets.UTF_8));
    Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-r--r--"));
    refused(secret);
    Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
    Files.writeString(secret, " \n");
    refused(secret);
    refused(dir.resolve("none"));
  }

  private static void refused(Path secret) {
    assertThatThrownBy(() -> Secrets.read(secret))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("GWY-005")
        .hasMessageNotContaining("s3cret");
  }
}
