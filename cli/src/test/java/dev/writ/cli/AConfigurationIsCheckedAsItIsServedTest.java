package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code writ config check} refuses what {@code writ serve} would, or would have to at each call.
 */
class AConfigurationIsCheckedAsItIsServedTest {
  private static final String LOGLINE =
      """
      writ_gateway: 1
      surfaces:
        logline:
          keys: { acme: surface-logline }
          settings: { subject.acme: agent, tool.js: js 1.0.0 eval, tool.js.memory_bytes: "134217728", sandbox: wasm, cpu_ms: "2000", memory_bytes: "67108864", output_bytes: "1048576", wall_ms: "5000" }
      """;

  @TempDir Path dir;

  @BeforeEach
  void init() {
    assertThat(writ("init", "--tenant", "acme").status()).isZero();
    key("surface-logline", "acme", "logline");
  }

  private void key(String file, String tenant, String subject) {
    Run made =
        writ("key", "new", file, "--role", "surface", "--tenant", tenant, "--subject", subject);
    assertThat(made.status()).as(made.err()).isZero();
  }

  private Run writ(String... arguments) {
    return writ(dir.resolve("home"), arguments);
  }

  private static Run writ(Path home, String... arguments) {
    TreeMap<String, String> environment = new TreeMap<>();
    environment.put("LOGLINE_SHARED_SECRET", "a shared secret of this test");
    List<String> all = new ArrayList<>(List.of("--home", home.toString()));
    all.addAll(List.of(arguments));
    return Run.in(Map.copyOf(environment), all.toArray(String[]::new));
  }

  private String file(String yaml) throws IOException {
    return Files.writeString(dir.resolve("gateway.yaml"), yaml).toString();
  }

  /** Both commands, which say the same. */
  private void isRefused(String yaml, String code, String found) throws IOException {
    String file = file(yaml);
    for (Run run :
        List.of(writ("config", "check", file), writ("serve", "--port", "0", "--config", file))) {
      assertThat(run.status()).as(run.out()).isNotZero();
      assertThat(run.err()).contains(code, found);
    }
  }

  @Test
  void aKeyMayLieInAFileOfAnyName() throws IOException {
    Run checked = writ("--json", "config", "check", file(LOGLINE));
    assertThat(checked.status()).as(checked.err()).isZero();
    assertThat(checked.out())
        .contains("\"keys_checked\":true", "\"surfaces\":[\"logline\",\"mcp\"]");
    Run elsewhere = writ(dir.resolve("nowhere"), "config", "check", file(LOGLINE));
    assertThat(elsewhere.status()).as(elsewhere.err()).isZero();
    assertThat(elsewhere.out())
        .contains("surfaces: native logline; keys not checked"); // no start, so no key of MCP
  }

  @Test
  void aKeyThatIsEnrolledAsSomethingElseIsRefused() throws IOException {
    key("surface-tools", "acme", "tools");
    key("of-other", "other", "logline");
    assertThat(writ("key", "new", "someone").status()).isZero();
    for (String key : List.of("surface-tools", "of-other", "someone")) {
      isRefused(LOGLINE.replace("surface-logline", key), "GWY-008", key);
    }
  }

  @Test
  void aProviderOfPeopleWhoseFilesCannotBeUsedIsRefused() throws IOException {
    String oidc =
        "writ_gateway: 1\noidc: { issuer: \"https://login.example\", client_id: writ, tenant: acme";
    isRefused(oidc + ", client_secret: none.txt }\n", "GWY-005", "none.txt");
    isRefused(oidc + ", ca: gateway.yaml }\n", "GWY-007", "gateway.yaml");
    isRefused(oidc + ", tenants: { a: b } }\n", "GWY-002", "oidc");
    assertThat(writ("config", "check", file(oidc + " }\n")).status()).isZero();
  }

  @Test
  void whatTheSurfacesCannotBeMadeOfIsRefused() throws IOException {
    isRefused(LOGLINE.replace("  logline:", "  loglines:"), "GWY-002", "loglines");
    isRefused(LOGLINE.replace("\"134217728\"", "128MiB"), "GWY-002", "tool.js.memory_bytes");
    isRefused(
        LOGLINE.replace("tool.js.memory", "tool.web_browser.memory"), "GWY-002", "web_browser");
    isRefused(LOGLINE.replace("    keys", "    secrets: [gone]\n    keys"), "GWY-005", "gone");
    isRefused(
        LOGLINE + "  mcp: { settings: { session_idle_s: never } }\n", "GWY-002", "session_idle_s");
    isRefused(LOGLINE + "  tools: { settings: { grpc_port: x } }\n", "GWY-002", "grpc_port");
    isRefused(LOGLINE + "  tools: { settings: { grpc_port: \"65536\" } }\n", "GWY-002", "65536");
    isRefused(LOGLINE + "  tools: { settings: { port: \"1\" } }\n", "GWY-002", "settings/port");
    isRefused(LOGLINE + "  execute: { settings: { port: \"1\" } }\n", "GWY-002", "[port]");
    isRefused(LOGLINE + "  engine: { settings: { port: \"1\" } }\n", "GWY-002", "[port]");
  }

  @Test
  void filesCredentialsAndPortsThatAServerCouldNotUseAreRefused() throws IOException {
    isRefused(
        "writ_gateway: 1\nlisten: { tls: own, certificate: none.pem, key: none.key }\n",
        "GWY-007",
        "none.pem");
    String token = "  - { name: NAME, digest: \"sha256:DIGEST\", tenant: acme, subject: agent }\n";
    String one = token.replace("NAME", "one").replace("DIGEST", "ab".repeat(32));
    isRefused("writ_gateway: 1\ntokens:\n" + one + one, "GWY-002", "two tokens");
    isRefused(
        "writ_gateway: 1\ntokens:\n"
            + token.replace("NAME", "home of the server").replace("DIGEST", "cd".repeat(32)),
        "GWY-002",
        "home of the server");
    String cells = "writ_gateway: 1\ncells: { certificate: a.pem, key: a.key, ca: ca.pem }\n";
    isRefused(cells, "GWY-007", "a.pem");
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String listen = "writ_gateway: 1\nlisten: { port: " + taken.getLocalPort() + " }\n";
      // It may be free when the server starts, so it is told and not refused.
      Run run = writ("config", "check", "--config", file(listen));
      assertThat(run.status()).as(run.err()).isZero();
      assertThat(run.err()).contains("warning: ", "127.0.0.1:" + taken.getLocalPort());
    }
    assertThat(writ("config", "check", "a.yaml", "--config", "b.yaml").err()).contains("CLI-001");
    // An address of another machine never is.
    String other = "writ_gateway: 1\nlisten: { host: 192.0.2.1, port: 8181, tls: proxy }\n";
    Run check = writ("config", "check", file(other));
    assertThat(check.status()).isEqualTo(6);
    assertThat(check.err()).contains("GWY-004", "192.0.2.1");
  }

  @Test
  void aKeyOfTheKernelThatCannotBeReadIsRefused() throws IOException {
    Files.delete(dir.resolve("home/keys/executor.pem"));
    isRefused("writ_gateway: 1\n", "CAN-07", "executor.pem");
  }

  /** A server starts with them, so they are told and not refused. */
  @Test
  void whomPolicyDoesNotKnowIsWarnedOf() throws IOException {
    String token =
        "writ_gateway: 1\nlisten: { port: 0 }\ntokens:\n  - { name: ci, digest: \"sha256:";
    Run unknown =
        writ(
            "config",
            "check",
            file(token + "ab".repeat(32) + "\", tenant: acme, subject: builder }\n"));
    assertThat(unknown.status()).as(unknown.err()).isZero();
    assertThat(unknown.err()).contains("warning: token ci", "acme/builder");
    Run role =
        writ(
            "config",
            "check",
            file(token + "ab".repeat(32) + "\", tenant: acme, subject: agent, roles: [boss] }\n"));
    assertThat(role.err()).contains("warning: token ci", "[boss]");
    Run over =
        writ(
            "config",
            "check",
            file(
                token
                    + "ab".repeat(32)
                    + "\", tenant: acme, subject: agent, expires_at: \"2026-01-01T00:00:00.000Z\""
                    + " }\n"));
    assertThat(over.err())
        .contains("warning: token ci: it expired at 2026-01-01T00:00:00.000Z")
        .doesNotContain("acme/agent");
    // What init wrote is sound, and is what is checked where nothing is named.
    Files.writeString(
        dir.resolve("home/gateway.yaml"),
        Files.readString(dir.resolve("home/gateway.yaml")).replace("port: 8181", "port: 0"));
    Run own = writ("config", "check");
    assertThat(own.status()).as(own.err()).isZero();
    assertThat(own.err()).containsOnlyOnce("warning: ").contains("key move");
    assertThat(own.out()).contains("surfaces: native mcp");
  }
}
