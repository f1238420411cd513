package dev.writ.tools.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.crypto.TlsAuthorities;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.sandbox.testing.TestTls;
import dev.writ.tools.Call;
import dev.writ.tools.author.ToolProject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateException;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The driver sends exactly the request that the package describes, and shows its answer. */
class RequestsAreSentAsDescribedTest {
  private static final TestTls TLS = TestTls.forNames("api.test");
  private static final Map<String, String> SECRETS =
      Map.of(
          "token",
          "tok3n-of-the-tool\n",
          "login",
          "robot:pa55word-of-it",
          "key",
          "k3y of the tool");
  private static final HttpLab LAB =
      new HttpLab(
          settings -> settings.with(RequestsAreSentAsDescribedTest::resolve).trusting(trusted()),
          SECRETS);
  private static final String ID =
      "{ type: object, properties: { id: { type: string } },"
          + " required: [id], additionalProperties: false }";
  private static final String GET =
      "{ method: GET, path: \"/pets/{id}\"," + " parameters: { id: { in: path } } }";

  @AfterAll
  static void close() {
    LAB.close();
  }

  private static javax.net.ssl.SSLContext trusted() {
    try {
      return TlsAuthorities.trusting(TLS.authority());
    } catch (CertificateException e) {
      throw new IllegalStateException(e);
    }
  }

  private static List<InetAddress> resolve(String name) throws UnknownHostException {
    return switch (name) {
      case "api.test", "other.test" -> List.of(InetAddress.getByName("127.0.0.1"));
      case "127.0.0.1" -> List.of(InetAddress.getByName(name));
      default -> throw new UnknownHostException(name);
    };
  }

  private static String at(TestApi api) {
    return "http://127.0.0.1:" + api.port();
  }

  @Test
  void aGetWithItsPathQueryAndHeaders() {
    try (TestApi api =
        TestApi.plain(TestApi.says("200 OK", "application/json", "{\"b\": 1,\"a\":[]}"))) {
      ToolProject project =
          HttpLab.project(
              at(api) + "/v1/",
              "",
              "{ method: GET, path: \"/pets/{id}/toys\", headers: [Content-Type, Set-X],"
                  + " parameters: { id: { in: path }, tag: { in: query }, ids: { in: query, name:"
                  + " \"ids[]\", explode: false }, trace: { in: header, name: X-Trace } } }",
              "{ type: object, properties: { id: { type: string }, tag: { type: array }, ids: {"
                  + " type: array }, trace: { type: string } }, required: [id],"
                  + " additionalProperties: false }");
      DriverOutcome outcome =
          LAB.call(
                  project,
                  "{\"id\":\"a b?é\",\"tag\":[\"x&y\",true,1.5],\"ids\":[1,2],\"trace\":\"t 1\"}")
              .run();
      assertThat(Call.text(outcome))
          .isEqualTo(
              "{\"body\":{\"a\":[],\"b\":1},\"headers\":{\"content-type\":\"application/json\"},"
                  + "\"status\":200}");
      TestApi.Asked asked = api.asked().getFirst();
      assertThat(asked.line())
          .isEqualTo(
              "GET /v1/pets/a%20b%3F%C3%A9/toys?tag=x%26y&tag=true&tag=1.5&ids%5B%5D=1,2 HTTP/1.1");
      assertThat(asked.field("Host")).isEqualTo("127.0.0.1:" + api.port());
      assertThat(asked.field("X-Trace")).isEqualTo("t 1");
      assertThat(asked.field("Accept-Encoding")).isEqualTo("gzip");
      assertThat(Call.show(outcome)).contains("\"place\":\"127.0.0.1:" + api.port() + "\"");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "application/json | {\"b\":[1,{}],\"a\":\"é\"} | {\"a\":\"é\",\"b\":[1,{}]}",
        "application/merge-patch+json | [1] | [1]",
        "application/x-www-form-urlencoded | {\"a b\":\"c&d\",\"e\":[1,2]} | a%20b=c%26d&e=1&e=2",
        "text/plain | \"a = 1\" | a = 1"
      })
  void contentIsSentInItsMediaType(String type, String value, String sent) {
    try (TestApi api = TestApi.plain(TestApi.says("201 Created", "text/plain", "made"))) {
      ToolProject project =
          HttpLab.project(
              at(api),
              "",
              "{ method: POST, path: /pets, body: { from: pet, media_type: " + type + " } }",
              "{ type: object, properties: { pet: {} }, additionalProperties: false }");
      DriverOutcome outcome = LAB.call(project, "{\"pet\":" + value + "}").run();
      assertThat(Call.text(outcome)).isEqualTo("{\"body\":\"made\",\"headers\":{},\"status\":201}");
      assertThat(api.asked().getFirst().text()).isEqualTo(sent);
      assertThat(api.asked().getFirst().field("Content-Type")).isEqualTo(type);
      assertThat(Call.text(LAB.call(project, "{}").run())).contains("201");
      assertThat(api.asked().get(1).field("Content-Length")).isEqualTo("0");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "token, as: bearer, Authorization: Bearer tok3n-of-the-tool",
    "login, as: basic, Authorization: Basic cm9ib3Q6cGE1NXdvcmQtb2YtaXQ=",
    "key, as: header; name: X-Api-Key, x-api-key: k3y of the tool",
    "key, as: query; name: api_key, GET /pets/7?api_key=k3y%20of%20the%20tool HTTP/1.1"
  })
  void secretsAreSentAndShownNowhere(String secret, String way, String line) {
    TestApi.Handler echo =
        (asked, out, _) ->
            TestApi.write(
                out,
                TestApi.message(
                        "200 OK", "text/plain", asked.head() + "and " + SECRETS.get(secret) + " !")
                    .replace(
                        "Content-Type",
                        "X-Echo: " + SECRETS.get(secret).strip() + "\r\nContent-Type"));
    try (TestApi api = TestApi.plain(echo)) {
      ToolProject project =
          HttpLab.project(
              at(api),
              "credentials: { " + secret + ": { " + way.replace(';', ',') + " } }",
              GET.replace("{ method", "{ headers: [x-echo], method"),
              ID);
      assertThat(project.manifest().capabilities().ownSecrets()).containsExactly(secret);
      DriverOutcome outcome = LAB.call(project, "{\"id\":\"7\"}").run();
      assertThat(api.asked().getFirst().head().lines()).contains(line);
      String word = SECRETS.get(secret).strip();
      assertThat(Call.show(outcome))
          .contains("[secret]")
          .doesNotContain(word)
          .doesNotContain(word.substring(word.indexOf(':') + 1))
          .doesNotContain("cm9ib3Q6cGE1NXdvcmQtb2YtaXQ");
    }
  }

  @Test
  void aSecretInAFormThatCannotBeSentStopsTheCallWithoutAWordOfIt() {
    try (TestApi api = TestApi.plain(TestApi.says("200 OK", "text/plain", ""))) {
      ToolProject project =
          HttpLab.project(at(api), "credentials: { key: { as: bearer } }", GET, ID);
      DriverOutcome outcome = LAB.call(project, "{\"id\":\"7\"}").run();
      assertThat(outcome.message()).contains("TOL-253").contains("key").doesNotContain("k3y");
      assertThat(api.asked()).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "404 Not Found, fail, failed http-404",
    "500 Oops, fail, failed http-500",
    "301 Moved, fail, failed http-301",
    "404 Not Found, output, succeeded ok"
  })
  void otherStatusesAreAFailureOrAnOutputByDeclaration(String status, String other, String end) {
    try (TestApi api =
        TestApi.plain(TestApi.says(status, "application/problem+json", "{\"title\":\"no\"}"))) {
      ToolProject project =
          HttpLab.project(
              at(api), "", GET.replace("{ method", "{ other_statuses: " + other + ", method"), ID);
      DriverOutcome outcome = LAB.call(project, "{\"id\":\"7\"}").run();
      assertThat(HttpLab.end(outcome)).isEqualTo(end);
      assertThat(Call.text(outcome))
          .isEqualTo(
              "{\"body\":{\"title\":\"no\"},\"headers\":{},\"status\":"
                  + status.substring(0, 3)
                  + "}");
    }
  }

  @Test
  void bytesOfADeclaredTypeAreTheOutput() {
    try (TestApi api = TestApi.plain(TestApi.says("200 OK", "Image/PNG; x=y", "not really"))) {
      String manifest =
          """
          format: 1
          tool: api
          version: 1.0.0
          language: http
          runtime: "1"
          http: { server: "%s" }
          operations:
            op:
              http: { method: GET, path: /logo }
              input: { type: object, additionalProperties: false }
              media_type: image/%s
          resource_class: small
          """;
      DriverOutcome png = LAB.call(HttpLab.project(manifest.formatted(at(api), "png")), "{}").run();
      assertThat(png.output().orElseThrow().mediaType()).isEqualTo("image/png");
      assertThat(Call.text(png)).isEqualTo("not really");
      assertThat(api.asked().getFirst().field("Accept")).isEqualTo("image/png");
      DriverOutcome gif = LAB.call(HttpLab.project(manifest.formatted(at(api), "gif")), "{}").run();
      assertThat(HttpLab.end(gif)).isEqualTo("failed answer-media-type");
    }
  }

  @Test
  void gzipIsUnpackedAndABombIsNot() throws IOException {
    ByteArrayOutputStream bomb = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bomb)) {
      gzip.write(new byte[50 << 20]);
    }
    ByteArrayOutputStream fine = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(fine)) {
      gzip.write("{\"n\":1}".getBytes(StandardCharsets.UTF_8));
    }
    TestApi.Handler handler =
        (asked, out, _) -> {
          byte[] content = asked.line().contains("bomb") ? bomb.toByteArray() : fine.toByteArray();
          TestApi.write(
              out,
              "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"
                  + "Content-Length: "
                  + content.length
                  + "\r\n\r\n");
          out.write(content);
        };
    try (TestApi api = TestApi.plain(handler)) {
      ToolProject project = HttpLab.project(at(api), "", GET, ID);
      assertThat(Call.text(LAB.call(project, "{\"id\":\"fine\"}").run())).contains("{\"n\":1}");
      assertThat(HttpLab.end(LAB.call(project, "{\"id\":\"bomb\"}").run()))
          .isEqualTo("failed answer-too-large");
    }
  }

  @Test
  void overTlsTheServerProvesItsName() {
    try (TestApi api =
        TestApi.secure(TLS.server(), TestApi.says("200 OK", "text/plain", "hello"))) {
      try (HttpLab lab =
          new HttpLab(
              settings ->
                  settings
                      .with(RequestsAreSentAsDescribedTest::resolve)
                      .trusting(trusted())
                      .reaching(List.of("api.test:" + api.port(), "other.test:" + api.port())),
              SECRETS)) {
        String credentials = "credentials: { token: { as: bearer } }";
        assertThat(
                Call.text(
                    lab.call(
                            HttpLab.project("https://api.test:" + api.port(), credentials, GET, ID),
                            "{\"id\":\"7\"}")
                        .run()))
            .contains("hello");
        DriverOutcome other =
            lab.call(
                    HttpLab.project("https://other.test:" + api.port(), credentials, GET, ID),
                    "{\"id\":\"7\"}")
                .run();
        assertThat(HttpLab.end(other)).isEqualTo("failed tls-unverified");
        assertThat(api.asked()).as("no credential went to it").hasSize(1);
        try (HttpLab stranger =
            new HttpLab(
                settings ->
                    settings
                        .with(RequestsAreSentAsDescribedTest::resolve)
                        .reaching(List.of("api.test:" + api.port())),
                SECRETS)) {
          DriverOutcome unknown =
              stranger
                  .call(
                      HttpLab.project("https://api.test:" + api.port(), credentials, GET, ID),
                      "{\"id\":\"7\"}")
                  .run();
          assertThat(HttpLab.end(unknown))
              .as("an authority that this JDK does not know")
              .isEqualTo("failed tls-unverified");
        }
        assertThat(api.asked()).hasSize(1);
      }
    }
  }

  @Test
  void aNameThatLeadsToAPrivateAddressIsRefusedUnlessTheInstallationListsThePlace() {
    try (TestApi api = TestApi.plain(TestApi.says("200 OK", "text/plain", "hello"))) {
      DriverOutcome outcome =
          LAB.call(HttpLab.project("http://api.test:" + api.port(), "", GET, ID), "{\"id\":\"7\"}")
              .run();
      assertThat(HttpLab.end(outcome)).isEqualTo("failed egress-denied");
      assertThat(outcome.message())
          .isEqualTo(
              "api.test:" + api.port() + ": the name leads to an address that is not public");
      assertThat(api.asked()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "..",
        ".",
        "../x",
        "a/b",
        "a\\\\b",
        "%2e%2e",
        "..%2f",
        "%252e%252e%252f",
        "..;x",
        "",
        "a\\nb",
        "%0d%0aX: y"
      })
  void aValueThatCouldLeaveItsPlaceIsNotSent(String value) {
    try (TestApi api = TestApi.plain(TestApi.says("200 OK", "text/plain", ""))) {
      DriverOutcome outcome =
          LAB.call(HttpLab.project(at(api), "", GET, ID), "{\"id\":\"" + value + "\"}").run();
      assertThat(HttpLab.end(outcome)).isEqualTo("failed refused");
      assertThat(outcome.message()).contains("TOL-252");
      assertThat(api.asked()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"a\\r\\nX-Evil: 1", "a\\u0000", "é", " a", "a\\u007f"})
  void aHeaderHoldsOneLineOfVisibleCharacters(String value) {
    try (TestApi api = TestApi.plain(TestApi.says("200 OK", "text/plain", ""))) {
      ToolProject project =
          HttpLab.project(
              at(api),
              "",
              "{ method: GET, path: /, parameters: { id: { in: header, name: X-Id } } }",
              ID);
      DriverOutcome outcome = LAB.call(project, "{\"id\":\"" + value + "\"}").run();
      assertThat(outcome.message()).contains("TOL-252");
      assertThat(api.asked()).isEmpty();
    }
  }

  @Test
  void theAddressThatWasCheckedIsTheOneThatIsConnectedTo() {
    int[] lookups = {0};
    try (TestApi api = TestApi.plain(TestApi.says("200 OK", "text/plain", "hello"));
        HttpLab lab =
            new HttpLab(
                settings ->
                    settings.with(_ -> {
                      // A name that is public at the first look and this machine's at the next.
                      byte[] address =
                          lookups[0]++ == 0 ? new byte[] {1, 1, 1, 1} : new byte[] {127, 0, 0, 1};
                      return List.of(InetAddress.getByAddress(address));
                    }),
                SECRETS)) {
      DriverOutcome outcome =
          lab.call(
                  HttpLab.project("http://rebind.test:" + api.port(), "", GET, ID),
                  "{\"id\":\"7\"}")
              .wallMs(300)
              .run();
      assertThat(outcome.end()).isNotEqualTo(DriverOutcome.End.SUCCEEDED);
      assertThat(lookups[0]).isEqualTo(1);
      assertThat(api.asked()).isEmpty();
    }
  }

  @Test
  void anIdempotencyKeyIsTheEffectsOwnAndTheSameInEachAttempt() {
    int[] times = {0};
    TestApi.Handler handler =
        (_, out, _) ->
            TestApi.write(
                out,
                TestApi.message(
                    times[0]++ == 0 ? "503 Busy" : "200 OK", "text/plain", "n" + times[0]));
    try (TestApi api = TestApi.plain(handler)) {
      ToolProject project =
          HttpLab.project(
              at(api),
              "",
              "{ method: POST, path: /orders, idempotent: true, retries: 2, idempotency_key:"
                  + " Idempotency-Key }",
              "{ type: object, additionalProperties: false }");
      assertThat(Call.text(LAB.call(project, "{}").run())).contains("n2");
      List<String> keys =
          api.asked().stream().map(asked -> asked.field("Idempotency-Key")).distinct().toList();
      assertThat(keys).hasSize(1);
      assertThat(keys.getFirst()).matches("[0-9a-f]{64}");
      LAB.call(project, "{}").seed(Call.seed(2)).run();
      assertThat(api.asked().getLast().field("Idempotency-Key")).isNotEqualTo(keys.getFirst());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{ method: GET, path: /x, retries: 1 } | TOL-201",
        "{ method: TRACE, path: /x } | TOL-201",
        "{ method: GET, path: /x/../y } | TOL-250",
        "{ method: GET, path: /x%2f } | TOL-250",
        "{ method: GET, path: //x } | TOL-250",
        "{ method: GET, path: '/x?y' } | TOL-250",
        "{ method: GET, path: '/x/{a}' } | TOL-250",
        "{ method: GET, path: /x, body: { from: b } } | TOL-201",
        "{ method: GET, path: /x, parameters: { a: { in: cookie } } } | TOL-201",
        "{ method: GET, path: /x, parameters: { a: { in: header, name: Host } } } | TOL-201",
        "{ method: GET, path: /x, parameters: { a: { in: header, name: \"X\\r\\nY\" } } } |"
            + " TOL-201",
        "{ method: GET, path: /x, parameters: { a: { in: header, name: Cookie } } } | TOL-201",
        "{ method: GET, path: /x, parameters: { a: { in: query } } } | TOL-250",
        "{ method: GET, path: /x, headers: [Set-Cookie] } | TOL-201",
        "{ method: POST, path: /x, body: { from: b, media_type: multipart/form-data } } | TOL-201",
        "{ method: GET, path: /x, credentials: [mine] } | TOL-201",
        "{ method: GET, path: /x, more: 1 } | TOL-201"
      })
  void whatDescribesNoRequestIsRefusedWhenItIsRead(String http, String code) {
    assertThatThrownBy(() ->
            HttpLab.project(
                "https://api.test", "", http, "{ type: object, additionalProperties: false }"))
        .hasMessageContaining(code);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ftp://api.test", "https://user@api.test", "https://{region}.api.test",
            "https://api.test/../x",
        "https://api.test/%2e%2e", "https://api.test?x", "https://api.test#x", "//api.test",
        "https://api.test:99999", "https://", "https://api .test"
      })
  void whatIsNoServerIsRefused(String server) {
    assertThatThrownBy(() -> HttpLab.project("\"" + server + "\"", "", GET, ID))
        .hasMessageContaining("TOL-251");
  }

  @Test
  void credentialsAreDeclaredForHttpsAlone() {
    assertThatThrownBy(() ->
            HttpLab.project("http://api.test", "credentials: { key: { as: bearer } }", GET, ID))
        .hasMessageContaining("TOL-201")
        .hasMessageContaining("https");
  }
}
