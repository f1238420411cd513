package dev.writ.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.Cookie;
import com.microsoft.playwright.options.SameSiteAttribute;
import dev.writ.canonicalize.WritException;
import dev.writ.console.oidc.OidcSurface;
import dev.writ.console.web.ConsoleSurface;
import dev.writ.fixture.TestHome;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.WholeGateway;
import dev.writ.gateway.http.auth.Sessions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Signing in by a real provider in a real browser, for which the two are different sites. */
class AKeycloakSignsPeopleInTest {
  private static final String YAML =
      """
      writ_gateway: 1
      listen: { port: 0 }
      oidc:
        issuer: ISSUER
        client_id: writ
        client_secret: oidc-secret.txt
        scopes: [profile]
        subject_claim: preferred_username
        tenant: acme
        roles_claim: [roles]
        roles: { writ-viewer: [viewer, worker] }
      """;

  private final Sessions sessions = new Sessions(new SecureRandom(), false);
  private final List<String> faults = new ArrayList<>();
  private final List<WritException> refusals = new CopyOnWriteArrayList<>();

  private WholeGateway server(Path dir, String issuer) throws IOException {
    Path secret = dir.resolve("oidc-secret.txt");
    Files.writeString(secret, "the-secret-of-writ\n");
    Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
    TestHome home = TestGateway.newHome(dir.resolve("home"));
    return new WholeGateway(
        home,
        YAML.replace("ISSUER", issuer),
        dir,
        installation -> installation.with(sessions),
        pipeline ->
            List.of(
                new OidcSurface(sessions, new SecureRandom(), home.clock, refusals::add),
                new ConsoleSurface(
                    pipeline, sessions, new ConsoleSurface.Server("0.1.0", "", false))));
  }

  /** The provider has the time of this machine. */
  private static void now(TestHome home) {
    home.clock.forward(Duration.between(home.clock.instant(), Instant.now()));
  }

  private Page stranger(Browser browser, WholeGateway server) {
    BrowserContext context = browser.newContext(new Browser.NewContextOptions().setLocale("en-GB"));
    Page page = context.newPage();
    page.onPageError(fault -> faults.add(page.url() + ": " + fault));
    page.onConsoleMessage(message -> {
      boolean ours = message.location().startsWith(server.gateway.url());
      if (ours && message.type().equals("error") && !message.text().contains("Failed to load")) {
        faults.add(message.text());
      }
    });
    return page;
  }

  private static Locator door(Page page) {
    return page.getByRole(
        AriaRole.LINK, new Page.GetByRoleOptions().setName("Sign in with your organization"));
  }

  /** As a person does it. */
  private static void signIn(Page page, WholeGateway server, String name, String password) {
    page.navigate(server.gateway.url() + "/#/effects?tool=calc");
    door(page).click();
    page.locator("#username").fill(name);
    page.locator("#password").fill(password);
    now(server.home);
    page.locator("#kc-login").click();
  }

  @Test
  @Timeout(600)
  void whoSignsInThereIsSignedInHere(@TempDir Path dir) throws Exception {
    try (KeycloakServer keycloak = new KeycloakServer(dir);
        WholeGateway server = server(dir, keycloak.issuer());
        Playwright playwright = Browsers.playwright()) {
      now(server.home);
      try (Browser browser = Browsers.chromium(playwright)) {
        aPersonComesBackSignedIn(browser, server);
        whoHasNoRoleThereIsNobodyHere(browser, server);
      }
      try (Browser browser = Browsers.firefox(playwright)) {
        aPersonComesBackSignedIn(browser, server);
      }
      try (Browser browser = Browsers.chromium(playwright)) {
        keycloak.kill();
        anOutageIsSaid(browser, server);
      }
    }
    assertThat(faults).withFailMessage("faults of pages: %s", faults).isEmpty();
  }

  private void aPersonComesBackSignedIn(Browser browser, WholeGateway server) {
    Page page = stranger(browser, server);
    List<String> callbacks = new ArrayList<>();
    page.onRequest(request -> {
      if (request.url().contains("/console/oidc/callback")) {
        callbacks.add(request.url());
      }
    });
    signIn(page, server, "alice", "open-sesame");
    assertThat(page).hasURL(server.gateway.url() + "/#/effects?tool=calc");
    assertThat(page.locator(".person summary")).containsText("alice");
    assertThat(page.locator("main h1")).isVisible();
    page.reload();
    assertThat(page.locator(".person summary")).containsText("alice");
    List<Cookie> kept = page.context().cookies(server.gateway.url());
    assertThat(kept).hasSize(1);
    assertThat(kept.getFirst().name).isEqualTo("writ-session");
    assertThat(kept.getFirst().httpOnly).isTrue();
    assertThat(kept.getFirst().sameSite).isEqualTo(SameSiteAttribute.STRICT);
    // What came back counts once, also in the browser that it came to.
    assertThat(callbacks).hasSize(1);
    page.navigate(callbacks.getFirst());
    assertThat(page).hasURL(Pattern.compile(".*/\\?refused=GWY-136.*"));
    // A page that is left while it loads its texts reports that as a fault.
    assertThat(page.locator("main h1")).isVisible();
    page.navigate(server.gateway.url() + "/#/live");
    page.locator(".person summary").click();
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Sign out").setExact(true))
        .click();
    assertThat(door(page)).isVisible();
    assertThat(page.context().cookies(server.gateway.url())).isEmpty();
    page.getByRole(
            AriaRole.LINK, new Page.GetByRoleOptions().setName("Sign out at your organization"))
        .click();
    page.locator("#kc-logout").click(); // it asks first
    assertThat(page.locator("#kc-page-title")).containsText("logged out");
    page.navigate(server.gateway.url() + "/#/live");
    door(page).click();
    assertThat(page.locator("#username")).isVisible();
    page.context().close();
  }

  private void whoHasNoRoleThereIsNobodyHere(Browser browser, WholeGateway server) {
    Page page = stranger(browser, server);
    int before = sessions.size();
    signIn(page, server, "mallory", "let-me-in");
    assertThat(page.getByRole(AriaRole.ALERT)).containsText("GWY-138");
    assertThat(page.getByRole(AriaRole.ALERT)).containsText("gives you no place here");
    assertThat(page).hasURL(Pattern.compile(".*/$|.*/#.*")); // it is said once
    assertThat(page.context().cookies(server.gateway.url()))
        .noneMatch(cookie -> cookie.name.equals("writ-session"));
    assertThat(sessions.size()).isEqualTo(before);
    page.context().close();
  }

  private void anOutageIsSaid(Browser browser, WholeGateway server) {
    server.home.clock.forward(Duration.ofMinutes(11)); // what it said of itself is old by now
    Page page = stranger(browser, server);
    page.navigate(server.gateway.url() + "/#/live");
    door(page).click();
    assertThat(page.getByRole(AriaRole.ALERT)).containsText("GWY-135");
    assertThat(door(page)).isVisible();
    page.context().close();
  }
}
