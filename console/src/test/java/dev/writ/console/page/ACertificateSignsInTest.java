package dev.writ.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ClientCertificate;
import dev.writ.console.web.ConsoleSurface;
import dev.writ.fixture.TestHome;
import dev.writ.gateway.TestCertificates;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.WholeGateway;
import dev.writ.gateway.http.auth.Sessions;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Signing in by what the browser's connection shows (mutual TLS). */
class ACertificateSignsInTest {
  @TempDir Path dir;

  @Test
  void who_has_a_known_certificate_needs_no_token_and_nobody_else_gets_in_by_it() throws Exception {
    TestCertificates pki =
        new TestCertificates(dir)
            .authority("ca")
            .issue("server", "/CN=server", "ca")
            .issue("alice", "/O=acme/CN=alice", "ca")
            .issue("stranger", "/O=acme/CN=stranger", "ca");
    TestHome home = TestGateway.newHome(dir.resolve("home"));
    home.clock.set(Instant.now()); // certificates are of now
    Sessions sessions = new Sessions(new SecureRandom(), true);
    String config =
        """
        writ_gateway: 1
        listen: { host: 127.0.0.1, port: 0, tls: own, certificate: server.pem, key: server.key, client_ca: ca.pem }
        certificates:
          - { name: people, dn: "CN=alice, O=acme", tenant: acme, subject: alice }
        """;
    try (WholeGateway server =
            new WholeGateway(
                home,
                config,
                dir,
                installation -> installation.with(sessions),
                pipeline ->
                    List.of(
                        new ConsoleSurface(
                            pipeline, sessions, new ConsoleSurface.Server("1", "", true))));
        Playwright playwright = Browsers.playwright();
        Browser browser = Browsers.chromium(playwright)) {
      String url = server.gateway.url();
      Page known = page(browser, url, pki, "alice");
      button(known).click();
      assertThat(known.locator("main h1")).hasText("Live");
      assertThat(known.locator(".person")).containsText("alice");
      assertThat(known.context().cookies().getFirst().name).isEqualTo("__Host-writ-session");
      assertThat(known.context().cookies().getFirst().secure).isTrue();
      Page stranger = page(browser, url, pki, "stranger");
      button(stranger).click();
      assertThat(stranger.locator("[role=alert]")).containsText("GWY-020");
      assertThat(stranger.context().cookies()).isEmpty();
      // Without tokens in the configuration, nobody else even connects.
      assertThatThrownBy(() -> page(browser, url, pki, "")).hasMessageContaining("net::ERR_");
      assertThat(sessions.size()).isEqualTo(1);
    }
  }

  private static Locator button(Page page) {
    return page.getByRole(
        AriaRole.BUTTON, new Page.GetByRoleOptions().setName("certificate").setExact(false));
  }

  private static Page page(Browser browser, String url, TestCertificates pki, String name) {
    Browser.NewContextOptions options =
        new Browser.NewContextOptions().setIgnoreHTTPSErrors(true).setLocale("en-GB");
    if (!name.isEmpty()) {
      options.setClientCertificates(
          List.of(new ClientCertificate(url).setCertPath(pki.pem(name)).setKeyPath(pki.key(name))));
    }
    BrowserContext context = browser.newContext(options);
    Page page = context.newPage();
    page.navigate(url + "/");
    assertThat(page.locator("main h1")).hasText("Sign in");
    return page;
  }
}
