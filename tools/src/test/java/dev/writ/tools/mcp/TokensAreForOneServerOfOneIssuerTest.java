package dev.writ.tools.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.DriverOutcome.End;
import dev.writ.executor.driver.ExpectedCall;
import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.policy.HostTerms;
import dev.writ.sandbox.SecretFile;
import dev.writ.tools.Call;
import dev.writ.tools.mcp.oauth.Login;
import dev.writ.tools.mcp.oauth.OauthClient;
import dev.writ.tools.mcp.oauth.OauthSpec;
import dev.writ.tools.mcp.oauth.OauthSpec.Grant;
import dev.writ.tools.mcp.oauth.OauthWeb;
import dev.writ.tools.mcp.oauth.TestOauth;
import dev.writ.tools.mcp.oauth.TokenSet;
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
  private static final String TOKENS = "mcp-crm-oauth";
  @TempDir Path dir;
  private TestOauth oauth;
  private SecretDirectory secrets;
  private TestHosts hosts;
  private McpDriver driver;

  @BeforeEach
  void open() {
    oauth = new TestOauth();
    secrets = new SecretDirectory(dir.resolve("secrets"));
    hosts = TestHosts.open(secrets, Optional.empty());
    driver = new McpDriver(hosts.host());
  }

  @AfterEach
  void close() {
    driver.close();
    hosts.close();
    oauth.close();
  }

  private RemoteSpec remote() {
    return new RemoteSpec(RemoteSpec.requireUrl(oauth.url()), new TreeMap<>());
  }

  private static Login.Wish wish() {
    return new Login.Wish(Optional.empty(), Optional.empty(), List.of(), List.of());
  }

  /** Logs in as a person who agrees, and keeps the tokens. */
  private RemoteSpec loggedIn(Login.Wish wish) {
    try (OauthWeb web = new OauthWeb(hosts.host().requireSettings(), remote().url())) {
      Login login = Login.at(web, wish);
      String address = login.begin("http://127.0.0.1:1/callback");
      TokenSet tokens = login.finish(oauth.agree(address).orElseThrow());
      secrets.put(TOKENS, tokens.toBytes());
      return remote().with(login.spec(Grant.AUTHORIZATION_CODE, Optional.empty(), TOKENS));
    }
  }

  private UpstreamPackage pinned(RemoteSpec remote) {
    ServerSpec spec = ServerSpec.elsewhere(remote, 60_000);
    List<SecretFile> files =
        spec.secretNames().stream().map(n -> new SecretFile(n, secrets.read(n))).toList();
    PinnedTools tools =
        UpstreamProbe.look(
                hosts.host(), spec, new TreeMap<>(), new Call(null).invocation().scope(), files)
            .tools();
    return UpstreamPackage.of("crm", "1.0.0", spec, tools, new TreeMap<>());
  }

  private DriverOutcome run(UpstreamPackage upstream) {
    Invocation call =
        new Call(null)
            .sandbox("default")
            .params(JsonValue.object().put("a", 2L).put("b", 3L).build())
            .invocation();
    return driver
        .prepare(
            upstream.manifest(),
            "add",
            file -> upstream.files().get(file.path()),
            HostTerms.NONE,
            new ExpectedCall(call.scope(), call.resources(), call.sandbox(), false))
        .run(call);
  }

  @Test
  void aPersonAgreesAndTheTokenIsSentToThatServerAndNeverShown() {
    RemoteSpec remote = loggedIn(wish());
    UpstreamPackage upstream = pinned(remote);
    assertThat(upstream.manifest().capabilities().ownSecrets()).containsExactly(TOKENS);
    assertThat(upstream.manifest().capabilities().hosts()).hasSize(2);
    String file = new String(upstream.files().get(ServerSpec.FILE), StandardCharsets.UTF_8);
    assertThat(file).contains(oauth.issuer(), "crm:read").doesNotContain(TestOauth.TOKEN);
    assertThat(ServerSpec.parse(upstream.files().get(ServerSpec.FILE))).isEqualTo(upstream.spec());
    oauth.lying("echo");
    DriverOutcome outcome = run(upstream);
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
    assertThatThrownBy(() -> loggedIn(wish()))
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
    try (OauthWeb web = new OauthWeb(hosts.host().requireSettings(), remote().url())) {
      Login login = Login.at(web, wish());
      String answer = oauth.agree(login.begin("http://127.0.0.1:1/callback")).orElseThrow();
      login.finish(answer);
      assertThatThrownBy(() -> login.finish(answer)).hasMessageContaining("TOL-287");
    }
    oauth.lying("token-elsewhere");
    Login.Wish allowing =
        new Login.Wish(
            Optional.empty(), Optional.empty(), List.of(), List.of("https://tokens.example"));
    try (OauthWeb web = new OauthWeb(hosts.host().requireSettings(), remote().url())) {
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
    assertThatThrownBy(() -> loggedIn(of)).hasMessageContaining("TOL-281");
    assertThat(oauth.asked("/")).isEmpty();
  }

  @Test
  void aTokenThatIsOverIsRenewedBeforeTheCallAndTheNewOneIsKept() {
    UpstreamPackage upstream = pinned(loggedIn(wish()));
    assertThat(run(upstream).end()).isEqualTo(End.SUCCEEDED);
    byte[] before = secrets.read(TOKENS);
    oauth.revoke();
    DriverOutcome refused = run(upstream);
    assertThat(refused.end()).as(Call.show(refused)).isEqualTo(End.FAILED);
    assertThat(refused.message()).startsWith("TOL-278");
    DriverOutcome renewed = run(upstream);
    assertThat(renewed.end()).as(Call.show(renewed)).isEqualTo(End.SUCCEEDED);
    assertThat(secrets.read(TOKENS)).isNotEqualTo(before);
    assertThat(oauth.mcp().asked("tools/call")).as("never sent twice").hasSize(3);
  }

  @Test
  void aTokenThatExpiresIsRenewedInTime() {
    oauth.expiringIn(20);
    UpstreamPackage upstream = pinned(loggedIn(wish()));
    assertThat(run(upstream).end()).isEqualTo(End.SUCCEEDED);
    assertThat(oauth.asked("/token")).hasSizeGreaterThan(1);
    assertThat(oauth.mcp().asked("tools/call")).hasSize(1);
  }

  @Test
  void aRenewalThatFailsSaysToLogInAgainAndNothingIsSent() {
    UpstreamPackage upstream = pinned(loggedIn(wish()));
    oauth.lying("refresh-fails").revoke();
    assertThatThrownBy(() -> run(upstream))
        .hasMessageContaining("TOL-289")
        .hasMessageContaining("invalid_grant")
        .hasMessageNotContaining(TestOauth.TOKEN);
    assertThat(oauth.mcp().asked("tools/call")).isEmpty();
  }

  @Test
  void tokensOfAnotherLoginAreNotSent() {
    RemoteSpec remote = loggedIn(wish());
    OauthSpec of = remote.oauth().orElseThrow();
    UpstreamPackage upstream = pinned(remote);
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
            ServerSpec.elsewhere(remote().with(other), 60_000),
            upstream.tools(),
            new TreeMap<>());
    int before = oauth.mcp().asked().size();
    assertThatThrownBy(() -> run(moved)).hasMessageContaining("TOL-289");
    assertThat(oauth.mcp().asked()).hasSize(before);
  }

  @Test
  void aClientMayBeTheAddressOfItsDescriptionWhereThatIsTaken() {
    OauthClient client = new OauthClient("https://writ.example/client.json", Optional.empty());
    Login.Wish described =
        new Login.Wish(Optional.empty(), Optional.of(client), List.of(), List.of());
    assertThatThrownBy(() -> loggedIn(described)).hasMessageContaining("TOL-285");
    assertThat(oauth.asked("/authorize")).isEmpty();
    oauth.lying("documents");
    RemoteSpec remote = loggedIn(described);
    assertThat(remote.oauth().orElseThrow().clientId()).contains(client.id());
    assertThat(oauth.asked("/authorize").getFirst().line())
        .contains("client_id=https%3A%2F%2Fwrit.example%2Fclient.json");
    UpstreamPackage upstream = pinned(remote);
    oauth.revoke();
    assertThat(run(upstream).end()).isEqualTo(End.SUCCEEDED);
    assertThat(oauth.renewals())
        .isNotEmpty()
        .allMatch(a ->
            a.text().contains("client_id=https%3A%2F%2Fwrit.example%2Fclient.json")
                && a.field("Authorization").isEmpty());
    assertThat(oauth.asked("/register")).isEmpty();
  }

  @Test
  void whatNeedsMoreScopesNamesThem() {
    UpstreamPackage upstream = pinned(loggedIn(wish()));
    oauth.lying("scope");
    DriverOutcome outcome = run(upstream);
    assertThat(outcome.message()).startsWith("TOL-279").contains("crm:write");
  }

  @Test
  void aClientOfItsOwnNeedsNobody() {
    secrets.put("machine-secret", "machine-secret-1".getBytes(StandardCharsets.UTF_8));
    OauthClient client = new OauthClient("machine", Optional.of("machine-secret-1"));
    Login.Wish alone =
        new Login.Wish(Optional.empty(), Optional.of(client), List.of("crm:write"), List.of());
    RemoteSpec remote;
    try (OauthWeb web = new OauthWeb(hosts.host().requireSettings(), remote().url())) {
      Login login = Login.at(web, alone);
      secrets.put(TOKENS, login.alone().toBytes());
      remote =
          remote()
              .with(login.spec(Grant.CLIENT_CREDENTIALS, Optional.of("machine-secret"), TOKENS));
    }
    UpstreamPackage upstream = pinned(remote);
    assertThat(upstream.manifest().capabilities().ownSecrets())
        .containsExactly("machine-secret", TOKENS);
    oauth.revoke();
    assertThat(pinned(remote).tools().byName()).containsKey("add");
    assertThat(run(upstream).end()).isEqualTo(End.SUCCEEDED);
  }
}
