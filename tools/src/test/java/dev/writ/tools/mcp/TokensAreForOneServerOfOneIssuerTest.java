package dev.writ.tools.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.DriverOutcome.End;
import dev.writ.tools.Call;
import dev.writ.tools.mcp.oauth.Login;
import dev.writ.tools.mcp.oauth.OauthClient;
import dev.writ.tools.mcp.oauth.OauthSpec;
import dev.writ.tools.mcp.oauth.OauthSpec.Grant;
import dev.writ.tools.mcp.oauth.OauthWeb;
import dev.writ.tools.mcp.oauth.TestOauth;
import dev.writ.tools.mcp.remote.RemoteSpec;
import dev.writ.tools.process.SecretDirectory;
import dev.writ.tools.process.TestHosts;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Logins at an authorization server of the test's own, which lies, and what becomes of tokens. */
class TokensAreForOneServerOfOneIssuerTest {
  private static final String TOKENS = TestLogins.TOKENS;
  @TempDir Path dir;
  private TestOauth oauth;
  private SecretDirectory secrets;
  private TestHosts hosts;
  private McpDriver driver;
  private TestLogins logins;

  @BeforeEach
  void open() {
    oauth = new TestOauth();
    secrets = new SecretDirectory(dir.resolve("secrets"));
    hosts = TestHosts.open(secrets, Optional.empty());
    driver = new McpDriver(hosts.host());
    logins = new TestLogins(hosts, secrets, oauth);
  }

  @AfterEach
  void close() {
    driver.close();
    hosts.close();
    oauth.close();
  }

  @Test
  void aPersonAgreesAndTheTokenIsSentToThatServerAndNeverShown() {
    RemoteSpec remote = logins.loggedIn(TestLogins.wish());
    UpstreamPackage upstream = logins.pinned(remote);
    assertThat(upstream.manifest().capabilities().ownSecrets()).containsExactly(TOKENS);
    assertThat(upstream.manifest().capabilities().hosts()).hasSize(2);
    String file = new String(upstream.files().get(ServerSpec.FILE), StandardCharsets.UTF_8);
    assertThat(file).contains(oauth.issuer(), "crm:read").doesNotContain(TestOauth.TOKEN);
    assertThat(ServerSpec.parse(upstream.files().get(ServerSpec.FILE))).isEqualTo(upstream.spec());
    oauth.lying("echo");
    DriverOutcome outcome = TestLogins.run(driver, upstream);
    assertThat(outcome.end()).as(Call.show(outcome)).isEqualTo(End.SUCCEEDED);
    assertThat(Call.show(outcome)).contains("Bearer [secret]").doesNotContain(TestOauth.TOKEN);
    assertThat(oauth.asked("/authorize").getFirst().line())
        .contains("scope=crm%3Aread%20offline_access", "code_challenge_method=S256");
    assertThat(oauth.asked("/register").getFirst().text()).contains("\"native\"");
    assertThat(oauth.asked("/.well-known/"))
        .extracting(a -> a.line().split(" ")[1])
        .containsExactly(
            "/.well-known/oauth-authorization-server/tenant",
            "/.well-known/openid-configuration/tenant");
  }

  @ParameterizedTest
  @CsvSource({
    "no-metadata,TOL-280",
    "another-issuer,TOL-281",
    "another-resource,TOL-282",
    "no-pkce,TOL-283",
    "token-elsewhere,TOL-284",
    "token-http,TOL-284",
    "http-issuer,TOL-284",
    "private-issuer,TOL-271",
    "script,TOL-284",
    "redirect,TOL-284",
    "no-registration,TOL-285",
    "denied,TOL-286",
    "state,TOL-287",
    "no-iss,TOL-281",
    "wrong-iss,TOL-281",
    "type,TOL-288",
  })
  void anAuthorizationServerThatIsAnotherOrLiesGetsNothing(String lie, String code) {
    oauth.lying(lie);
    assertThatThrownBy(() -> logins.loggedIn(TestLogins.wish()))
        .isInstanceOfSatisfying(
            WritException.class,
            e -> assertThat(e.code().code()).as(e.getMessage()).isEqualTo(code));
    if (!lie.equals("type")) {
      assertThat(oauth.asked("/token")).isEmpty();
    }
    assertThat(secrets.list()).isEmpty();
  }

  @Test
  void anAnswerCountsOnceAndNoOtherEndpointThanTheAllowedIsTaken() {
    try (OauthWeb web = new OauthWeb(hosts.host().requireSettings(), logins.remote().url())) {
      Login login = Login.at(web, TestLogins.wish());
      String answer = oauth.agree(login.begin("http://127.0.0.1:1/callback")).orElseThrow();
      login.finish(answer);
      assertThatThrownBy(() -> login.finish(answer)).hasMessageContaining("TOL-287");
    }
    oauth.lying("token-elsewhere");
    Login.Wish allowing =
        new Login.Wish(
            Optional.empty(), Optional.empty(), List.of(), List.of("https://tokens.example"));
    try (OauthWeb web = new OauthWeb(hosts.host().requireSettings(), logins.remote().url())) {
      assertThat(
              Login.at(web, allowing)
                  .spec(Grant.AUTHORIZATION_CODE, Optional.empty(), TOKENS)
                  .tokenEndpoint())
          .isEqualTo("https://tokens.example/token");
    }
  }

  @Test
  void anIssuerThatWasApprovedIsNotReplacedByAnother() {
    Login.Wish of =
        new Login.Wish(
            Optional.of("https://approved.example"), Optional.empty(), List.of(), List.of());
    assertThatThrownBy(() -> logins.loggedIn(of)).hasMessageContaining("TOL-281");
    assertThat(oauth.asked("/")).isEmpty();
  }

  @Test
  void aTokenThatIsOverIsRenewedBeforeTheCallAndTheNewOneIsKept() {
    UpstreamPackage upstream = logins.pinned(logins.loggedIn(TestLogins.wish()));
    assertThat(TestLogins.run(driver, upstream).end()).isEqualTo(End.SUCCEEDED);
    byte[] before = secrets.read(TOKENS);
    oauth.revoke();
    DriverOutcome refused = TestLogins.run(driver, upstream);
    assertThat(refused.end()).as(Call.show(refused)).isEqualTo(End.FAILED);
    assertThat(refused.message()).startsWith("TOL-278");
    DriverOutcome renewed = TestLogins.run(driver, upstream);
    assertThat(renewed.end()).as(Call.show(renewed)).isEqualTo(End.SUCCEEDED);
    assertThat(secrets.read(TOKENS)).isNotEqualTo(before);
    assertThat(oauth.mcp().asked("tools/call")).as("never sent twice").hasSize(3);
  }

  @Test
  void aTokenThatExpiresIsRenewedInTime() {
    oauth.expiringIn(20);
    UpstreamPackage upstream = logins.pinned(logins.loggedIn(TestLogins.wish()));
    assertThat(TestLogins.run(driver, upstream).end()).isEqualTo(End.SUCCEEDED);
    assertThat(oauth.asked("/token")).hasSizeGreaterThan(1);
    assertThat(oauth.mcp().asked("tools/call")).hasSize(1);
  }

  @Test
  void aRenewalThatFailsSaysToLogInAgainAndNothingIsSent() {
    UpstreamPackage upstream = logins.pinned(logins.loggedIn(TestLogins.wish()));
    oauth.lying("refresh-fails").revoke();
    assertThatThrownBy(() -> TestLogins.run(driver, upstream))
        .hasMessageContaining("TOL-289")
        .hasMessageContaining("invalid_grant")
        .hasMessageNotContaining(TestOauth.TOKEN);
    assertThat(oauth.mcp().asked("tools/call")).isEmpty();
  }

  @Test
  void tokensOfAnotherLoginAreNotSent() {
    RemoteSpec remote = logins.loggedIn(TestLogins.wish());
    OauthSpec of = remote.oauth().orElseThrow();
    UpstreamPackage upstream = logins.pinned(remote);
    OauthSpec other =
        new OauthSpec(
            of.grant(),
            "https://other.example",
            of.tokenEndpoint(),
            of.resource(),
            of.clientId(),
            of.clientSecret(),
            of.scopes(),
            of.tokens());
    UpstreamPackage moved =
        UpstreamPackage.of(
            "crm",
            "2.0.0",
            ServerSpec.elsewhere(logins.remote().with(other), 60_000),
            upstream.tools(),
            new TreeMap<>());
    int before = oauth.mcp().asked().size();
    assertThatThrownBy(() -> TestLogins.run(driver, moved)).hasMessageContaining("TOL-289");
    assertThat(oauth.mcp().asked()).hasSize(before);
  }

  @Test
  void aClientMayBeTheAddressOfItsDescriptionWhereThatIsTaken() {
    OauthClient client = new OauthClient("https://writ.example/client.json", Optional.empty());
    Login.Wish described =
        new Login.Wish(Optional.empty(), Optional.of(client), List.of(), List.of());
    assertThatThrownBy(() -> logins.loggedIn(described)).hasMessageContaining("TOL-285");
    assertThat(oauth.asked("/authorize")).isEmpty();
    oauth.lying("documents");
    RemoteSpec remote = logins.loggedIn(described);
    assertThat(remote.oauth().orElseThrow().clientId()).contains(client.id());
    assertThat(oauth.asked("/authorize").getFirst().line())
        .contains("client_id=https%3A%2F%2Fwrit.example%2Fclient.json");
    UpstreamPackage upstream = logins.pinned(remote);
    oauth.revoke();
    assertThat(TestLogins.run(driver, upstream).end()).isEqualTo(End.SUCCEEDED);
    assertThat(oauth.renewals())
        .isNotEmpty()
        .allMatch(a ->
            a.text().contains("client_id=https%3A%2F%2Fwrit.example%2Fclient.json")
                && a.field("Authorization").isEmpty());
    assertThat(oauth.asked("/register")).isEmpty();
  }

  @Test
  void whatNeedsMoreScopesNamesThem() {
    UpstreamPackage upstream = logins.pinned(logins.loggedIn(TestLogins.wish()));
    oauth.lying("scope");
    DriverOutcome outcome = TestLogins.run(driver, upstream);
    assertThat(outcome.message()).startsWith("TOL-279").contains("crm:write");
  }

  @Test
  void aClientOfItsOwnNeedsNobody() {
    secrets.put("machine-secret", "machine-secret-1".getBytes(StandardCharsets.UTF_8));
    OauthClient client = new OauthClient("machine", Optional.of("machine-secret-1"));
    Login.Wish alone =
        new Login.Wish(Optional.empty(), Optional.of(client), List.of("crm:write"), List.of());
    RemoteSpec remote;
    try (OauthWeb web = new OauthWeb(hosts.host().requireSettings(), logins.remote().url())) {
      Login login = Login.at(web, alone);
      secrets.put(TOKENS, login.alone().toBytes());
      remote =
          logins
              .remote()
              .with(login.spec(Grant.CLIENT_CREDENTIALS, Optional.of("machine-secret"), TOKENS));
    }
    UpstreamPackage upstream = logins.pinned(remote);
    assertThat(upstream.manifest().capabilities().ownSecrets())
        .containsExactly("machine-secret", TOKENS);
    oauth.revoke();
    assertThat(logins.pinned(remote).tools().byName()).containsKey("add");
    assertThat(TestLogins.run(driver, upstream).end()).isEqualTo(End.SUCCEEDED);
  }
}
