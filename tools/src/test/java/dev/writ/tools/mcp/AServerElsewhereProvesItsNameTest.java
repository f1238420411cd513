package dev.writ.tools.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.crypto.TlsAuthorities;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.DriverOutcome.End;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.testing.TestTls;
import dev.writ.tools.Call;
import dev.writ.tools.mcp.oauth.TestOauth;
import dev.writ.tools.mcp.remote.RemoteSpec;
import dev.writ.tools.process.SecretDirectory;
import dev.writ.tools.process.TestHosts;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server elsewhere and its authorization server over TLS, by names, with authorities. */
class AServerElsewhereProvesItsNameTest {
  private static final String TOKENS = TestLogins.TOKENS;
  private static final TestTls TRUSTED = TestTls.forNames("crm.test", "login.test");
  private static final TestTls ANOTHER = TestTls.forNames("crm.test", "login.test");
  @TempDir Path dir;
  private TestOauth oauth;
  private SecretDirectory secrets;
  private TestHosts hosts;
  private TestLogins logins;

  private void open(TestTls login, TestTls crm) {
    oauth = TestOauth.secure(login.server(), crm.server());
    secrets = new SecretDirectory(dir.resolve("secrets"));
    hosts = TestHosts.open(this::settings, secrets, Optional.empty());
    logins = new TestLogins(hosts, secrets, oauth);
  }

  /** The names lead to this machine, where they may. */
  private SandboxSettings settings(SandboxSettings settings) {
    try {
      String port = oauth.url().replaceAll(".*:([0-9]+)/.*", "$1");
      String loginPort = oauth.issuer().replaceAll(".*:([0-9]+)/.*", "$1");
      return settings
          .with(AServerElsewhereProvesItsNameTest::resolve)
          .trusting(TlsAuthorities.trusting(TRUSTED.authority()))
          .reaching(List.of("crm.test:" + port, "other.test:" + port, "login.test:" + loginPort));
    } catch (CertificateException e) {
      throw new IllegalStateException(e);
    }
  }

  private static List<InetAddress> resolve(String name) throws UnknownHostException {
    if (!name.endsWith(".test")) {
      throw new UnknownHostException(name);
    }
    return List.of(InetAddress.getLoopbackAddress());
  }

  @AfterEach
  void close() {
    hosts.close();
    oauth.close();
  }

  private static RemoteSpec at(String url) {
    return new RemoteSpec(RemoteSpec.requireUrl(url), new TreeMap<>());
  }

  private RemoteSpec loggedIn() {
    return logins.loggedIn(
        TestLogins.wish(), address -> assertThat(address).startsWith("https://login.test:"));
  }

  @Test
  void whereTheirAuthorityIsTrustedItIsLoggedInToCalledAndItsTokenRenewed() {
    open(TRUSTED, TRUSTED);
    UpstreamPackage upstream = logins.pinned(loggedIn());
    assertThat(upstream.manifest().capabilities().hosts())
        .hasSize(2)
        .allMatch(host -> host.matches("(crm|login)\\.test:[0-9]+"));
    try (McpDriver driver = new McpDriver(hosts.host())) {
      oauth.revoke();
      DriverOutcome outcome = TestLogins.run(driver, upstream);
      assertThat(outcome.end()).as(Call.show(outcome)).isEqualTo(End.SUCCEEDED);
      assertThat(oauth.renewals()).hasSize(1);
    }
  }

  @Test
  void aServerOfAnotherAuthorityIsSentNothing() {
    open(TRUSTED, ANOTHER);
    assertThatThrownBy(() -> logins.pinned(at(oauth.url()))).hasMessageContaining("TOL-271");
    assertThatThrownBy(this::loggedIn).hasMessageContaining("TOL-271");
    assertThat(oauth.mcp().asked()).isEmpty();
    assertThat(oauth.asked("/")).isEmpty();
  }

  @Test
  void aServerUnderANameThatItDoesNotProveIsSentNothing() {
    open(TRUSTED, TRUSTED);
    String other = oauth.url().replace("crm.test", "other.test");
    assertThatThrownBy(() -> logins.pinned(at(other))).hasMessageContaining("TOL-271");
    assertThat(oauth.mcp().asked()).isEmpty();
  }

  @Test
  void anAuthorizationServerOfAnotherAuthorityIsSentNothing() {
    open(ANOTHER, TRUSTED);
    assertThatThrownBy(this::loggedIn).hasMessageContaining("TOL-271");
    assertThat(oauth.asked("/")).isEmpty();
    assertThat(secrets.list()).isEmpty();
  }

  @Test
  void aPublicNameWithoutTlsIsNone() {
    open(TRUSTED, TRUSTED);
    String plain = oauth.url().replace("https:", "http:");
    assertThatThrownBy(() -> at(plain)).hasMessageContaining("TOL-276");
    assertThat(oauth.mcp().asked()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"http-issuer", "http-here", "token-http"})
  void anAuthorizationServerWithoutTlsIsNone(String lie) {
    open(TRUSTED, TRUSTED);
    oauth.lying(lie);
    assertThatThrownBy(this::loggedIn).hasMessageContaining("TOL-284");
    assertThat(oauth.asked("/token")).isEmpty();
  }
}
