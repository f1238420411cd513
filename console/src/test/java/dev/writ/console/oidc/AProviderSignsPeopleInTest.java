package dev.writ.console.oidc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.crypto.opts.AllowWeakRSAKey;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.util.JSONObjectUtils;
import com.sun.net.httpserver.HttpExchange;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.console.web.ConsoleSurface;
import dev.writ.fixture.Await;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.WholeGateway;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.auth.OidcProvider;
import dev.writ.gateway.http.auth.Sessions;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Signing in by a provider over a socket, and all that a provider or a stranger may try. */
class AProviderSignsPeopleInTest {
  private static final String BEGIN = "/console/oidc";
  private static final String PEOPLE =
      """
        subject_claim: preferred_username
        tenant: acme
        roles_claim: [access, roles]
        roles: { workers: [worker], night: [worker, operator] }
      """;

  @TempDir Path dir;
  private final Sessions sessions = new Sessions(new SecureRandom(), false);
  private final List<WritException> refusals = new CopyOnWriteArrayList<>();
  private WholeGateway server;
  private TestProvider provider;

  @BeforeEach
  void start() throws IOException {
    var home = TestGateway.newHome(dir);
    provider = new TestProvider(home.clock);
    Path secret = dir.resolve("oidc-secret.txt");
    Files.writeString(secret, TestProvider.SECRET + "\n");
    Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
    server =
        new WholeGateway(
            home,
            yaml(PEOPLE),
            dir,
            installation -> installation.with(sessions),
            pipeline ->
                List.of(
                    new OidcSurface(sessions, new SecureRandom(), home.clock, refusals::add),
                    new ConsoleSurface(
                        pipeline, sessions, new ConsoleSurface.Server("1", "", false))));
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
    provider.close();
  }

  private String yaml(String people) {
    return "writ_gateway: 1\nlisten: { port: 0 }\noidc:\n  issuer: "
        + provider.issuer
        + "\n  client_id: writ\n  client_secret: oidc-secret.txt\n"
        + people.indent(0);
  }

  private void reload(String yaml) {
    server.gateway.reload(() ->
        GatewayConfig.parse(yaml.getBytes(StandardCharsets.UTF_8), "gateway.yaml", Map.of())
            .inFolder(dir));
  }

  /** A browser on its way. */
  private record Begun(String cookie, String location) {}

  private static String cookie(HttpResponse<String> answer, String name) {
    return answer.headers().allValues("set-cookie").stream()
        .filter(line -> line.startsWith(name + "="))
        .map(line -> line.substring(0, line.indexOf(';')))
        .findFirst()
        .orElse("");
  }

  private static String location(HttpResponse<String> answer) {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(303);
    return answer.headers().firstValue("location").orElseThrow();
  }

  private Begun begin(String query) throws Exception {
    HttpResponse<String> answer = server.send(server.to(BEGIN + query).GET());
    return new Begun(cookie(answer, "writ-sign-in"), location(answer));
  }

  private HttpResponse<String> callback(String cookie, String address) throws Exception {
    HttpRequest.Builder request = server.to(address).GET();
    if (!cookie.isEmpty()) {
      request.header("Cookie", cookie);
    }
    return server.send(request);
  }

  private HttpResponse<String> signIn() throws Exception {
    Begun begun = begin("");
    return callback(begun.cookie, provider.agree(begun.location));
  }

  private HttpResponse<String> session(String cookie) throws Exception {
    return server.send(server.to("/console/session").header("Cookie", cookie).GET());
  }

  private static JsonValue.Obj json(HttpResponse<String> answer) {
    return (JsonValue.Obj) Jcs.parse(answer.body().getBytes(StandardCharsets.UTF_8));
  }

  /** The code of a refusal, which the page is told, and that nobody is signed in. */
  private String refused(HttpResponse<String> answer) {
    assertThat(cookie(answer, "writ-session")).isEmpty();
    assertThat(sessions.size()).isZero();
    return location(answer).replace("/?refused=", "");
  }

  @Test
  void whoAgreesThereIsSignedInHere() throws Exception {
    assertThat(server.send(server.to("/console/sign-in").GET()).body())
        .isEqualTo("{\"ways\":[\"token\",\"oidc\"]}");
    HttpResponse<String> sent =
        server.send(server.to(BEGIN + "?to=%23%2Feffects%3Ftool%3Dcalc%26text%3Da%2520b").GET());
    assertThat(sent.headers().firstValue("set-cookie").orElseThrow())
        .matches(
            "writ-sign-in=[0-9]+\\.[A-Za-z0-9_-]{43}\\.[A-Za-z0-9_-]*; Path=/; HttpOnly;"
                + " SameSite=Lax; Max-Age=600");
    assertThat(sent.headers().firstValue("cache-control")).contains("no-store");
    String location = location(sent);
    assertThat(location).startsWith(provider.issuer + "/authorize?kind=code&");
    Map<String, String> asked = TestProvider.query(URI.create(location).getRawQuery());
    assertThat(asked)
        .containsEntry("response_type", "code")
        .containsEntry("client_id", "writ")
        .containsEntry("redirect_uri", server.gateway.url() + "/console/oidc/callback")
        .containsEntry("scope", "openid")
        .containsEntry("code_challenge_method", "S256");
    HttpResponse<String> back = callback(cookie(sent, "writ-sign-in"), provider.agree(location));
    assertThat(location(back)).isEqualTo("/#/effects?tool=calc&text=a%20b");
    assertThat(back.headers().allValues("set-cookie"))
        .hasSize(2)
        .anyMatch(line ->
            line.matches(
                "writ-session=[A-Za-z0-9_-]{43}; Path=/; HttpOnly; SameSite=Strict;"
                    + " Max-Age=43200"))
        .contains("writ-sign-in=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
    HttpResponse<String> seen = session(cookie(back, "writ-session"));
    assertThat(json(seen).get("subject")).isEqualTo(JsonValue.of("alice"));
    assertThat(json(seen).get("tenant")).isEqualTo(JsonValue.of("acme"));
    assertThat(json(seen).get("roles")).isEqualTo(JsonValue.of(List.of(JsonValue.of("worker"))));
    assertThat(server.logged().toString()).doesNotContain(TestProvider.SECRET, "code-0-");
  }

  @Test
  void whatComesBackCountsOnceAndInTheBrowserThatBegan() throws Exception {
    Begun mine = begin("");
    Begun others = begin("");
    String othersAnswer = provider.agree(others.location);
    // Login CSRF: somebody else's answer in a browser that began none, or its own.
    assertThat(refused(callback("", othersAnswer))).isEqualTo("GWY-136");
    assertThat(refused(callback(mine.cookie, othersAnswer))).isEqualTo("GWY-136");
    String answer = provider.agree(mine.location);
    for (String wrong :
        List.of(
            answer.replaceAll("&state=[^&]*", ""),
            answer.replaceAll("&state=[^&]*", "&state="),
            answer.replaceAll("&state=[^&]*", "&state=" + "A".repeat(43)))) {
      assertThat(refused(callback(mine.cookie, wrong))).as(wrong).isEqualTo("GWY-136");
    }
    for (String odd :
        List.of(
            "writ-sign-in=x",
            "writ-sign-in=1.2.!!",
            mine.cookie + "x",
            mine.cookie.replace("=", "=9"),
            mine.cookie.replace("writ-sign-in", "__Host-writ-sign-in"))) {
      assertThat(refused(callback(odd, answer))).as(odd).isEqualTo("GWY-136");
    }
    assertThat(provider.timesAsked("/realm/token")).isZero();
    HttpResponse<String> twice = callback(mine.cookie, answer + "&state=other");
    assertThat(twice.statusCode()).isEqualTo(400);
    assertThat(twice.body()).contains("GWY-018");
    assertThat(location(callback(mine.cookie, answer))).isEqualTo("/");
    assertThat(location(callback(mine.cookie, answer))).isEqualTo("/?refused=GWY-136");
    assertThat(sessions.size()).isEqualTo(1);
    assertThat(provider.timesAsked("/realm/token")).isEqualTo(1);
  }

  @Test
  void whoTakesTooLongBeginsAgain() throws Exception {
    Begun begun = begin("");
    String answer = provider.agree(begun.location);
    server.home.clock.forward(Duration.ofMinutes(10).plusSeconds(1));
    assertThat(refused(callback(begun.cookie, answer))).isEqualTo("GWY-136");
  }

  @Test
  void aCodeOfOneProviderIsNeverShownToAnother() throws Exception {
    Begun begun = begin("");
    String answer = provider.agree(begun.location).replaceAll("&iss=.*", "");
    assertThat(refused(callback(begun.cookie, answer + "&iss=https%3A%2F%2Fevil.example")))
        .isEqualTo("GWY-137");
    begun = begin("");
    answer = provider.agree(begun.location).replaceAll("&iss=.*", "");
    assertThat(refused(callback(begun.cookie, answer))).isEqualTo("GWY-137");
    assertThat(provider.timesAsked("/realm/token")).isZero();
  }

  @Test
  void aCodeThatTheProviderDoesNotKnowSignsNobodyIn() throws Exception {
    Begun begun = begin("");
    String answer = provider.agree(begun.location);
    assertThat(refused(callback(begun.cookie, answer.replaceAll("code=[^&]*", "code=other"))))
        .isEqualTo("GWY-139");
    begun = begin("");
    answer = provider.agree(begun.location).replaceAll("code=[^&]*&", "");
    assertThat(refused(callback(begun.cookie, answer))).isEqualTo("GWY-139");
    begun = begin("");
    answer = provider.agree(begun.location).replaceAll("code=[^&]*", "error=%3Cscript%3E");
    assertThat(refused(callback(begun.cookie, answer))).isEqualTo("GWY-139");
    assertThat(server.logged().toString()).contains("GWY-139").doesNotContain("script");
  }

  private String signedInBy(Consumer<Map<String, Object>> stating) throws Exception {
    provider.stating = stating;
    return refused(signIn());
  }

  @Test
  void aTokenThatIsNotAboutThisSignInSignsNobodyIn() throws Exception {
    long now = server.home.clock.instant().getEpochSecond();
    Map<String, Consumer<Map<String, Object>>> attacks = new TreeMap<>();
    attacks.put("another issuer", c -> c.put("iss", "https://evil.example/realm"));
    attacks.put("issuer with a slash", c -> c.put("iss", provider.issuer + "/"));
    attacks.put("no issuer", c -> c.remove("iss"));
    attacks.put("another audience", c -> c.put("aud", "other"));
    attacks.put("no audience", c -> c.remove("aud"));
    attacks.put("no audience at all", c -> c.put("aud", List.of()));
    attacks.put("an audience more", c -> c.put("aud", List.of("writ", "other")));
    attacks.put("a party of its own", c -> c.put("azp", "other"));
    attacks.put("a party that is no text", c -> c.put("azp", List.of("writ")));
    attacks.put("another nonce", c -> c.put("nonce", "A".repeat(43)));
    attacks.put("no nonce", c -> c.remove("nonce"));
    attacks.put("expired", c -> c.put("exp", now - 61));
    attacks.put("for ever", c -> c.remove("exp"));
    attacks.put("for ever as text", c -> c.put("exp", "2099"));
    attacks.put("out of numbers", c -> c.put("exp", 1e300));
    attacks.put("of before", c -> c.put("iat", now - 61));
    attacks.put("of later", c -> c.put("iat", now + 62));
    attacks.put("of no time", c -> c.remove("iat"));
    attacks.put("not yet", c -> c.put("nbf", now + 62));
    attacks.put("not yet, as text", c -> c.put("nbf", "1"));
    attacks.put("nobody", c -> c.remove("sub"));
    attacks.put("nobody at all", c -> c.put("sub", ""));
    attacks.put("a long name", c -> c.put("sub", "a".repeat(256)));
    for (Map.Entry<String, Consumer<Map<String, Object>>> attack : attacks.entrySet()) {
      assertThat(signedInBy(attack.getValue())).as(attack.getKey()).isEqualTo("GWY-137");
    }
    provider.stating =
        c -> {
          c.put("aud", List.of("writ"));
          c.put("azp", "writ");
          c.put("nbf", now);
          c.put("exp", now - 59);
        };
    assertThat(location(signIn())).isEqualTo("/");
  }

  private static String unsigned(Map<String, Object> claims) {
    Base64.Encoder base64 = Base64.getUrlEncoder().withoutPadding();
    return base64.encodeToString("{\"alg\":\"none\"}".getBytes(StandardCharsets.UTF_8))
        + "."
        + base64.encodeToString(
            JSONObjectUtils.toJSONString(claims).getBytes(StandardCharsets.UTF_8))
        + ".";
  }

  /** By the public key as a secret, which everybody has. */
  private static String byPublicKey(Map<String, Object> claims) {
    try {
      byte[] known = TestProvider.FIRST.toRSAPublicKey().getEncoded();
      return TestProvider.signed(
          new JWSHeader.Builder(JWSAlgorithm.HS256).keyID("first").build(),
          new MACSigner(known),
          claims);
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String head(JWSHeader.Builder head, RSAKey key, Map<String, Object> claims) {
    try {
      return TestProvider.signed(head.build(), new RSASSASigner(key), claims);
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aTokenThatTheProviderHasNotSignedSignsNobodyIn() throws Exception {
    RSAKey stranger = new RSAKeyGenerator(2048).keyID("first").generate();
    JWSAlgorithm rs256 = JWSAlgorithm.RS256;
    Map<String, Function<Map<String, Object>, String>> attacks = new TreeMap<>();
    attacks.put("none", AProviderSignsPeopleInTest::unsigned);
    attacks.put("HS256 by the public key", AProviderSignsPeopleInTest::byPublicKey);
    attacks.put("a stranger", c -> TestProvider.signed(stranger, c));
    attacks.put(
        "a stranger's key in the head",
        c -> head(new JWSHeader.Builder(rs256).jwk(stranger.toPublicJWK()), stranger, c));
    attacks.put(
        "a stranger's keys by address",
        c ->
            head(
                new JWSHeader.Builder(rs256).jwkURL(URI.create(provider.issuer + "/evil")),
                stranger,
                c));
    attacks.put(
        "an access token",
        c ->
            head(
                new JWSHeader.Builder(rs256).keyID("first").type(new JOSEObjectType("at+jwt")),
                TestProvider.FIRST,
                c));
    attacks.put("another key of the provider", c -> TestProvider.signed(TestProvider.SECOND, c));
    attacks.put(
        "cut", c -> TestProvider.signed(TestProvider.FIRST, c).replaceAll("\\.[^.]*$", "."));
    attacks.put(
        "changed",
        c -> {
          String whole = TestProvider.signed(TestProvider.FIRST, c);
          c.put("preferred_username", "rita");
          String other = TestProvider.signed(TestProvider.FIRST, c);
          return whole.split("\\.")[0] + "." + other.split("\\.")[1] + "." + whole.split("\\.")[2];
        });
    attacks.put("no token", _ -> "token");
    attacks.put("", _ -> "");
    for (Map.Entry<String, Function<Map<String, Object>, String>> attack : attacks.entrySet()) {
      provider.signing = attack.getValue();
      assertThat(refused(signIn())).as(attack.getKey()).isEqualTo("GWY-137");
    }
    assertThat(provider.asked).doesNotContain("/realm/evil");
  }

  @Test
  void keysAreTakenAsTheyAreNowButNotAskedForWithEachToken() throws Exception {
    signIn();
    provider.signing = c -> TestProvider.signed(TestProvider.SECOND, c);
    for (int i = 0; i < 5; i++) {
      assertThat(location(signIn())).isEqualTo("/?refused=GWY-137");
    }
    assertThat(provider.timesAsked("/realm/keys")).isEqualTo(1);
    provider.keys = List.of(TestProvider.SECOND);
    server.home.clock.forward(Kept.PAUSE);
    assertThat(location(signIn())).isEqualTo("/");
    assertThat(provider.timesAsked("/realm/keys")).isEqualTo(2);
    provider.signing = c -> TestProvider.signed(TestProvider.FIRST, c); // it was withdrawn
    assertThat(location(signIn())).isEqualTo("/?refused=GWY-137");
  }

  /** Neither of a token without the name of a key nor of a name that is used again. */
  @Test
  void anExchangedKeyIsAskedForWhateverTokensCallIt() throws Exception {
    provider.keys = List.of(TestProvider.FIRST);
    assertThat(location(signIn())).isEqualTo("/");
    server.home.clock.forward(Kept.PAUSE);
    RSAKey again = new RSAKeyGenerator(2048).keyID(TestProvider.FIRST.getKeyID()).generate();
    provider.keys = List.of(again);
    provider.signing = c -> TestProvider.signed(again, c);
    assertThat(location(signIn())).isEqualTo("/");
    server.home.clock.forward(Kept.PAUSE);
    provider.keys = List.of(TestProvider.SECOND);
    provider.signing = c -> head(new JWSHeader.Builder(JWSAlgorithm.RS256), TestProvider.SECOND, c);
    assertThat(location(signIn())).isEqualTo("/");
    assertThat(provider.timesAsked("/realm/keys")).isEqualTo(3);
  }

  @Test
  void keysOfCurvesAreTakenAndShortOnesAreNot() throws Exception {
    ECKey curve = new ECKeyGenerator(Curve.P_256).keyID("curve").generate();
    provider.keys = List.of(TestProvider.FIRST, curve);
    ECDSASigner signer = new ECDSASigner(curve);
    provider.signing =
        c ->
            TestProvider.signed(
                new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("curve").build(), signer, c);
    assertThat(location(signIn())).isEqualTo("/");
    RSAKey small = new RSAKeyGenerator(1024, true).keyID("small").generate();
    RSASSASigner weak =
        new RSASSASigner(small.toPrivateKey(), Set.of(AllowWeakRSAKey.getInstance()));
    provider.keys = List.of(small);
    server.home.clock.forward(Kept.PAUSE);
    provider.signing =
        c ->
            TestProvider.signed(
                new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("small").build(), weak, c);
    assertThat(location(signIn())).isEqualTo("/?refused=GWY-137");
  }

  @Test
  void whoHasNoPlaceHereIsNobody() throws Exception {
    List<Consumer<Map<String, Object>>> nobodies =
        List.of(
            c -> c.remove("access"),
            c -> c.put("access", Map.of("roles", List.of("others"))),
            c -> c.put("access", Map.of("roles", List.of())),
            c -> c.put("access", List.of("workers")),
            c -> c.put("access", Map.of("roles", List.of("workers", 1))),
            c -> c.remove("preferred_username"),
            c -> c.put("preferred_username", " "),
            c -> c.put("preferred_username", List.of("alice")),
            c -> c.put("preferred_username", "alice\n"),
            c -> c.put("preferred_username", "\u202Eecila"),
            c -> c.put("preferred_username", "alice\u200B"));
    for (Consumer<Map<String, Object>> nobody : nobodies) {
      assertThat(signedInBy(nobody)).isEqualTo("GWY-138");
    }
    reload(
        yaml("  subject_claim: email\n  tenant_claim: org\n  tenants: { \"Acme Inc\": acme }\n"));
    assertThat(signedInBy(c -> c.putAll(Map.of("org", "Acme Inc", "email", "a@b.example"))))
        .isEqualTo("GWY-138");
    assertThat(
            signedInBy(c ->
                c.putAll(Map.of("org", "acme", "email", "a@b.example", "email_verified", true))))
        .isEqualTo("GWY-138");
    provider.stating =
        c -> c.putAll(Map.of("org", "Acme Inc", "email", "a@b.example", "email_verified", true));
    HttpResponse<String> back = signIn();
    JsonValue.Obj seen = json(session(cookie(back, "writ-session")));
    assertThat(seen.get("subject")).isEqualTo(JsonValue.of("a@b.example"));
    assertThat(seen.get("tenant")).isEqualTo(JsonValue.of("acme"));
  }

  /** Whoever runs the server is told why, and not flooded. */
  @Test
  void refusalsAreTold() throws Exception {
    assertThat(signedInBy(c -> c.put("aud", "other"))).isEqualTo("GWY-137");
    assertThat(refusals).hasSize(1);
    assertThat(refusals.getFirst().found()).contains("aud");
    for (int i = 0; i < 50; i++) {
      callback("", "/console/oidc/callback?state=a");
    }
    assertThat(refusals).hasSize(10);
    server.home.clock.forward(Duration.ofSeconds(1));
    callback("", "/console/oidc/callback?state=a");
    assertThat(refusals).hasSize(11);
  }

  @Test
  void whoSignsOutHereMaySignOutThere() throws Exception {
    assertThat(json(session(cookie(signIn(), "writ-session"))).get("by"))
        .isEqualTo(JsonValue.of("oidc"));
    assertThat(location(server.send(server.to("/console/oidc/out").GET()))).isEqualTo("/");
    provider.describing = d -> d.put("end_session_endpoint", provider.issuer + "/out");
    server.home.clock.forward(Kept.GOOD_FOR);
    assertThat(location(server.send(server.to("/console/oidc/out").GET())))
        .isEqualTo(provider.issuer + "/out?client_id=writ");
    HttpResponse<String> other =
        server.send(server.to("/console/oidc/out").header("Sec-Fetch-Site", "cross-site").GET());
    assertThat(other.body()).contains("GWY-092");
  }

  @Test
  void noAddressLeadsElsewhere() throws Exception {
    for (String to :
        List.of(
            "https%3A%2F%2Fevil.example",
            "%2F%2Fevil.example",
            "%2F%5Cevil.example",
            "javascript%3Aalert(1)",
            "%23live%0d%0aSet-Cookie%3Aa%3Db",
            "%23%2F%0d%0aSet-Cookie%3Aa%3Db",
            "evil.example",
            "%40evil.example")) {
      Begun begun = begin("?to=" + to);
      HttpResponse<String> back = callback(begun.cookie, provider.agree(begun.location));
      assertThat(location(back)).as(to).isEqualTo("/");
      assertThat(cookie(back, "a")).isEmpty();
    }
    Begun begun = begin("?to=%23%2F%2Fevil.example");
    HttpResponse<String> back = callback(begun.cookie, provider.agree(begun.location));
    assertThat(URI.create(server.gateway.url()).resolve(location(back)).getHost())
        .isEqualTo(URI.create(server.gateway.url()).getHost());
  }

  @Test
  void aSessionThatSomebodyPreparedIsNotTheOneThatIsOpened() throws Exception {
    String prepared = cookie(signIn(), "writ-session");
    Begun begun = begin("");
    HttpResponse<String> back =
        callback(prepared + "; " + begun.cookie, provider.agree(begun.location));
    assertThat(cookie(back, "writ-session")).isNotEmpty().isNotEqualTo(prepared);
  }

  @Test
  void anotherSitesPageBeginsNone() throws Exception {
    for (String site : List.of("cross-site", "same-site")) {
      HttpResponse<String> answer =
          server.send(server.to(BEGIN).header("Sec-Fetch-Site", site).GET());
      assertThat(answer.statusCode()).isEqualTo(403);
      assertThat(answer.body()).contains("GWY-092");
      assertThat(answer.headers().allValues("set-cookie")).isEmpty();
    }
  }

  @Test
  void aSessionEndsWithTheConfigurationThatOpenedIt() throws Exception {
    String alice = cookie(signIn(), "writ-session");
    reload(yaml(PEOPLE));
    assertThat(session(alice).statusCode()).isEqualTo(200);
    Begun onTheWay = begin("");
    reload(yaml(PEOPLE.replace("workers: [worker]", "workers: [operator]")));
    assertThat(session(alice).body()).contains("GWY-090");
    assertThat(location(callback(onTheWay.cookie, provider.agree(onTheWay.location))))
        .isEqualTo("/?refused=GWY-136");
    String again = cookie(signIn(), "writ-session");
    assertThat(session(again).statusCode()).isEqualTo(200);
    reload("writ_gateway: 1\nlisten: { port: 0 }\n");
    assertThat(session(again).statusCode()).isEqualTo(401);
    assertThat(server.send(server.to(BEGIN).GET()).statusCode()).isEqualTo(404);
    assertThat(server.send(server.to("/console/oidc/callback?state=a").GET()).statusCode())
        .isEqualTo(404);
    assertThat(server.send(server.to("/console/sign-in").GET()).body()).doesNotContain("oidc");
  }

  /** Such as a SIGHUP for a token, while the provider is asked. */
  @Test
  void aConfigurationThatSaysTheSameOfTheProviderEndsNoSignIn() throws Exception {
    Begun begun = begin("");
    String answer = provider.agree(begun.location);
    AtomicInteger asked = new AtomicInteger();
    provider.instead =
        _ -> {
          if (asked.getAndIncrement() == 0) {
            reload(yaml(PEOPLE));
            anotherBegins();
          }
          return false;
        };
    assertThat(location(callback(begun.cookie, answer))).isEqualTo("/");
  }

  private void anotherBegins() {
    try {
      begin("");
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aConfigurationWhoseFilesCannotBeUsedChangesNothing() throws Exception {
    String alice = cookie(signIn(), "writ-session");
    Files.setPosixFilePermissions(
        dir.resolve("oidc-secret.txt"), PosixFilePermissions.fromString("rw-r--r--"));
    reload(yaml(PEOPLE));
    reload(yaml(PEOPLE + "  ca: none.pem\n").replace("  client_secret: oidc-secret.txt\n", ""));
    assertThat(session(alice).statusCode()).isEqualTo(200);
    assertThat(server.logged().toString()).contains("GWY-005", "GWY-007");
  }

  private String begun() throws Exception {
    server.home.clock.forward(Kept.GOOD_FOR);
    HttpResponse<String> answer = server.send(server.to(BEGIN).GET());
    assertThat(cookie(answer, "writ-sign-in")).isEmpty();
    return refused(answer);
  }

  @Test
  void aProviderThatDescribesItselfOtherwiseIsNotAsked() throws Exception {
    List<Consumer<Map<String, Object>>> descriptions =
        List.of(
            d -> d.put("issuer", "https://evil.example"),
            d -> d.remove("issuer"),
            d -> d.put("token_endpoint", "https://evil.example/token"),
            d -> d.put("token_endpoint", "http://evil.example/token"),
            d -> d.put("jwks_uri", provider.issuer.replace("127.0.0.1", "localhost") + "/keys"),
            d -> d.put("jwks_uri", "file:///etc/passwd"),
            d -> d.put("authorization_endpoint", "javascript:alert(1)"),
            d -> d.put("authorization_endpoint", "data:text/html,x"),
            d -> d.put("authorization_endpoint", " "),
            d -> d.put("authorization_endpoint", provider.issuer + "/a#b"),
            d -> d.remove("authorization_endpoint"),
            d -> d.put("end_session_endpoint", "https://evil.example/out"),
            d -> d.put("code_challenge_methods_supported", List.of("plain")));
    for (Consumer<Map<String, Object>> description : descriptions) {
      provider.describing = description;
      assertThat(begun()).isEqualTo("GWY-135");
    }
  }

  private static boolean redirect(HttpExchange exchange) throws IOException {
    exchange.getResponseHeaders().add("Location", "/realm/elsewhere");
    exchange.sendResponseHeaders(302, -1);
    return true;
  }

  private static boolean flood(HttpExchange exchange) throws IOException {
    exchange.sendResponseHeaders(200, 0);
    byte[] much = new byte[1 << 16];
    for (int i = 0; i < 64; i++) {
      exchange.getResponseBody().write(much);
    }
    return true;
  }

  @Test
  void aProviderThatAnswersOtherwiseIsAnOutage() throws Exception {
    List<TestProvider.Answering> ways = new ArrayList<>();
    ways.add(AProviderSignsPeopleInTest::redirect);
    ways.add(AProviderSignsPeopleInTest::flood);
    ways.add(e -> {
      TestProvider.send(e, 500, Map.of());
      return true;
    });
    ways.add(e -> {
      e.sendResponseHeaders(200, 3);
      e.getResponseBody().write("[1]".getBytes(StandardCharsets.UTF_8));
      return true;
    });
    for (TestProvider.Answering way : ways) {
      provider.instead = way;
      assertThat(begun()).isEqualTo("GWY-135");
    }
    assertThat(provider.asked).doesNotContain("/realm/elsewhere");
    long asked = provider.asked.size();
    assertThat(refused(server.send(server.to(BEGIN).GET()))).isEqualTo("GWY-135");
    assertThat(provider.asked.size()).as("no other try at once").isEqualTo(asked);
    provider.instead = _ -> false;
    server.home.clock.forward(Kept.PAUSE);
    Begun begun = begin("");
    provider.instead =
        e -> {
          TestProvider.send(e, 503, Map.of());
          return true;
        };
    assertThat(refused(callback(begun.cookie, provider.agree(begun.location))))
        .isEqualTo("GWY-135");
    provider.instead = _ -> false;
    assertThat(location(signIn())).isEqualTo("/");
    provider.close();
    server.home.clock.forward(Kept.GOOD_FOR);
    assertThat(location(server.send(server.to(BEGIN).GET()))).isEqualTo("/?refused=GWY-135");
    assertThat(server.logged().toString()).contains("GWY-135");
  }

  /** Neither one that says nothing nor one that never ends. */
  @Test
  void aSlowProviderIsGivenUp() {
    CountDownLatch over = new CountDownLatch(1);
    OidcProvider configured = sessions.provider().orElseThrow();
    List<TestProvider.Answering> ways =
        List.of(
            _ -> await(over),
            e -> {
              e.sendResponseHeaders(200, 0);
              e.getResponseBody().write('{');
              e.getResponseBody().flush();
              return await(over);
            });
    try (ProviderWeb web = new ProviderWeb(configured, Duration.ofMillis(300))) {
      for (TestProvider.Answering way : ways) {
        provider.instead = way;
        assertThatThrownBy(() -> web.get("description", URI.create(provider.issuer + "/slow")))
            .isInstanceOfSatisfying(
                WritException.class, e -> assertThat(e.code()).isEqualTo(OidcError.UNREACHED));
      }
    } finally {
      over.countDown();
    }
  }

  /** Strangers can have it asked as often as they like, by codes that they make up. */
  @Test
  void whoComesWhileManyAskWaitsForATurn() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    AtomicInteger asked = new AtomicInteger();
    provider.instead =
        e -> {
          asked.incrementAndGet();
          await(over);
          TestProvider.send(e, 200, Map.of("known", "yes"));
          return true;
        };
    OidcProvider configured = sessions.provider().orElseThrow();
    try (ProviderWeb web = new ProviderWeb(configured, Duration.ofSeconds(30));
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<ProviderWeb.Answer>> all = new ArrayList<>();
      URI token = URI.create(provider.issuer + "/x");
      for (int i = 0; i < 20; i++) {
        all.add(
            threads.submit(
                () -> web.post("token", token, new TreeMap<>(), Optional.empty(), "127.0.0.1")));
      }
      Await.until(() -> asked.get() == 16);
      assertThat(all).as("nobody is refused").noneMatch(Future::isDone);
      over.countDown();
      for (Future<ProviderWeb.Answer> each : all) {
        assertThat(each.get(60, TimeUnit.SECONDS).status()).isEqualTo(200);
      }
    } finally {
      over.countDown();
    }
  }

  private static boolean await(CountDownLatch over) {
    try {
      over.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return true;
  }

  /** A client without a secret says its name in the form; one whose secret goes there, too. */
  @Test
  void aSecretGoesWhereTheProviderTakesIt() throws Exception {
    Map<String, String> sent = new TreeMap<>();
    provider.describing =
        d -> d.put("token_endpoint_auth_methods_supported", List.of("client_secret_post"));
    provider.instead =
        e -> {
          if (!e.getRequestURI().getPath().equals("/realm/token")) {
            return false;
          }
          sent.putAll(
              TestProvider.query(
                  new String(e.getRequestBody().readAllBytes(), StandardCharsets.UTF_8)));
          sent.put(
              "Authorization",
              Optional.ofNullable(e.getRequestHeaders().getFirst("Authorization")).orElse(""));
          TestProvider.send(e, 400, Map.of("error", "invalid_client"));
          return true;
        };
    assertThat(refused(signIn())).isEqualTo("GWY-139");
    assertThat(sent)
        .containsEntry("client_id", "writ")
        .containsEntry("client_secret", TestProvider.SECRET)
        .containsEntry("Authorization", "");
    sent.clear();
    reload(yaml(PEOPLE).replace("  client_secret: oidc-secret.txt\n", ""));
    assertThat(refused(signIn())).isEqualTo("GWY-139");
    assertThat(sent)
        .containsEntry("client_id", "writ")
        .containsEntry("Authorization", "")
        .doesNotContainKey("client_secret");
    assertThat(server.logged().toString()).contains("GWY-139").doesNotContain(TestProvider.SECRET);
  }
}
