package dev.writ.tools.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.executor.driver.DriverOutcome;
import dev.writ.tools.Call;
import dev.writ.tools.author.ToolProject;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A redirect leads where the package lets it, and takes no credential along. */
class RedirectsFollowTheRulesTest {
  private static final HttpLab LAB =
      new HttpLab(settings -> settings, Map.of("token", "tok3n-of-the-tool"));
  private static final String NONE = "{ type: object, additionalProperties: false }";

  @AfterAll
  static void close() {
    LAB.close();
  }

  /** Redirects {@code /start} to a place, and answers everything else. */
  private static TestApi redirecting(String status, String location) {
    return TestApi.plain((asked, out, _) ->
        TestApi.write(
            out,
            asked.line().contains("/start")
                ? "HTTP/1.1 "
                    + status
                    + " Moved\r\nLocation: "
                    + location
                    + "\r\nContent-Length: 0\r\n\r\n"
                : TestApi.message("200 OK", "text/plain", "arrived at " + asked.line())));
  }

  private static ToolProject project(TestApi api, String method, String more) {
    return HttpLab.project(
        "http://127.0.0.1:" + api.port() + "/base",
        "credentials: { token: { as: bearer } }",
        "{ method: " + method + ", path: /start" + more + " }",
        NONE);
  }

  @ParameterizedTest
  @CsvSource({"/next, /next", "next?a=b, /base/next?a=b", "./../up, /up", "?q, /base/start?q"})
  void toTheSameHostWithTheCredential(String location, String target) {
    int[] times = {0};
    try (TestApi api =
        TestApi.plain((asked, out, _) ->
            TestApi.write(
                out,
                times[0]++ == 0
                    ? "HTTP/1.1 302 Found\r\nLocation: "
                        + location
                        + "\r\nContent-Length: 0\r\n\r\n"
                    : TestApi.message("200 OK", "text/plain", "arrived")))) {
      assertThat(Call.text(LAB.call(project(api, "GET", ""), "{}").run())).contains("arrived");
      assertThat(api.asked().get(1).line()).isEqualTo("GET " + target + " HTTP/1.1");
      assertThat(api.asked().get(1).field("Authorization")).contains("tok3n");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://127.0.0.1:1/x",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]:80/",
        "http://10.0.0.1/",
        "https://127.0.0.1/x",
        "http://localhost/x",
        "//evil.test/x",
        "http://127.0.0.1.evil.test/"
      })
  void neverToAnotherHostThatThePackageDoesNotList(String location) {
    try (TestApi api = redirecting("302", location)) {
      for (String redirects : new String[] {"", ", redirects: listed"}) {
        DriverOutcome outcome = LAB.call(project(api, "GET", redirects), "{}").run();
        assertThat(HttpLab.end(outcome)).isEqualTo("failed redirect-refused");
        assertThat(outcome.message()).contains("127.0.0.1:" + api.port() + " leads to ");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ftp://x/",
        "javascript:alert(1)",
        "http://u:p@h/",
        "http://h:99999/",
        "http://%zz/",
        "a b"
      })
  void whatCannotBeReadIsRefused(String location) {
    try (TestApi api = redirecting("302", location)) {
      assertThat(HttpLab.end(LAB.call(project(api, "GET", ""), "{}").run()))
          .isEqualTo("failed redirect-refused");
    }
  }

  @Test
  void aListedHostIsHeldToPublicAddressesAndGetsNoCredential() {
    try (TestApi other = TestApi.plain(TestApi.says("200 OK", "text/plain", "there"))) {
      try (TestApi api = redirecting("302", "https://localhost:" + other.port() + "/x")) {
        ToolProject project =
            HttpLab.project(
                "http://127.0.0.1:" + api.port(),
                "redirect_servers: [\"https://localhost:" + other.port() + "\"]",
                "{ method: GET, path: /start, redirects: listed }",
                NONE);
        assertThat(project.manifest().capabilities().hosts()).contains("localhost:" + other.port());
        DriverOutcome outcome = LAB.call(project, "{}").run();
        assertThat(HttpLab.end(outcome)).isEqualTo("failed egress-denied");
        assertThat(other.asked()).isEmpty();
      }
    }
  }

  @Test
  void noneAreFollowedWhereThePackageSaysSo() {
    try (TestApi api = redirecting("302", "/next")) {
      assertThat(HttpLab.end(LAB.call(project(api, "GET", ", redirects: none"), "{}").run()))
          .isEqualTo("failed http-302");
      assertThat(api.asked()).hasSize(1);
    }
  }

  @Test
  void aCircleEnds() {
    try (TestApi api = redirecting("302", "/start")) {
      assertThat(HttpLab.end(LAB.call(project(api, "GET", ""), "{}").run()))
          .isEqualTo("failed redirect-refused");
      assertThat(api.asked()).hasSize(6);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "301, failed redirect-refused, 1",
    "307, failed redirect-refused, 1",
    "308, failed redirect-refused, 1",
    "303, succeeded ok, 2"
  })
  void aPostIsNotSentAgain(String status, String end, int requests) {
    try (TestApi api = redirecting(status, "/next")) {
      assertThat(HttpLab.end(LAB.call(project(api, "POST", ""), "{}").run())).isEqualTo(end);
      assertThat(api.asked()).hasSize(requests);
      assertThat(api.asked().getLast().line()).startsWith(requests == 2 ? "GET /next" : "POST");
    }
  }
}
