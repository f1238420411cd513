package dev.writ.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import dev.writ.console.page.Browsers.Engine;
import dev.writ.console.page.Desk.Screen;
import dev.writ.gateway.http.auth.OidcProvider;
import dev.writ.gateway.http.auth.OidcSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page for signing in where an organization signs people in, and what it says of refusals. */
class TheOrganizationsDoorIsOnThePageTest {
  @TempDir Path dir;
  private Desk desk;

  @BeforeEach
  void open() {
    desk = Desk.with(dir, Engine.CHROMIUM);
  }

  @AfterEach
  void close() {
    assertThat(desk.closePages()).isEmpty();
    desk.close();
  }

  private void trusting() {
    OidcSettings.People people =
        new OidcSettings.People(
            "sub",
            Optional.of("acme"),
            Optional.empty(),
            new TreeMap<>(),
            List.of(),
            new TreeMap<>());
    OidcSettings settings =
        new OidcSettings(
            "https://login.example",
            "writ",
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            List.of(),
            List.of(),
            people);
    desk.sessions.signInBy(Optional.of(new OidcProvider(settings, Optional.empty(), List.of())));
  }

  private Page at(Screen screen, String address) {
    Page page = desk.stranger(screen);
    page.navigate(desk.gateway.server.url() + "/" + address);
    page.waitForSelector("main h1");
    return page;
  }

  @Test
  void whoWasRefusedReadsWhyOnceAndComesBackToTheSamePlace() {
    trusting();
    Page page = at(Screen.PHONE, "?refused=GWY-138#/effects?tool=calc");
    assertThat(page.getByRole(AriaRole.ALERT))
        .containsText("GWY-138 Your organization knows you, but gives you no place here.");
    assertThat(page).hasURL(desk.gateway.server.url() + "/#/effects?tool=calc");
    assertThat(
            page.getByRole(
                AriaRole.LINK,
                new Page.GetByRoleOptions().setName("Sign in with your organization")))
        .hasAttribute("href", "/console/oidc?to=%23%2Feffects%3Ftool%3Dcalc");
    page.reload();
    page.waitForSelector("main h1");
    assertThat(page.getByRole(AriaRole.ALERT)).hasCount(0);
    page.evaluate(
        PageFiles.resource("/META-INF/resources/webjars/axe-core/4.6.3/axe.min.js") + ";0");
    assertThat(page.evaluate("async () => (await axe.run(document)).violations.map(v => v.id)"))
        .isEqualTo(List.of());
  }

  @Test
  void aRefusalIsReadableForEverybody() {
    trusting();
    for (Screen screen : List.of(Screen.WIDE.dark(), new Screen(320, 700, ColorScheme.LIGHT))) {
      for (String code : List.of("GWY-135", "GWY-136", "GWY-137", "GWY-139", "GWY-777")) {
        Page page = at(screen, "?refused=" + code);
        assertThat(page.getByRole(AriaRole.ALERT)).containsText(code + " ");
        page.evaluate(
            PageFiles.resource("/META-INF/resources/webjars/axe-core/4.6.3/axe.min.js") + ";0");
        assertThat(page.evaluate("async () => (await axe.run(document)).violations.map(v => v.id)"))
            .isEqualTo(List.of());
        assertThat(page.evaluate("document.documentElement.scrollWidth - innerWidth")).isEqualTo(0);
        page.close();
      }
    }
  }

  /** Anybody can make such an address: no words of theirs are shown. */
  @Test
  void anAddressPutsNoWordsOnThePage() {
    trusting();
    for (String text :
        List.of("%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", "Call%20555", "GWY-138%20Call", "")) {
      Page page = at(Screen.WIDE, "?refused=" + text);
      assertThat(page.getByRole(AriaRole.ALERT)).hasCount(0);
      assertThat(page.locator("body")).not().containsText("Call");
      page.close();
    }
  }

  @Test
  void whereNoOrganizationSignsInThereIsNoDoor() {
    Page page = at(Screen.WIDE, "");
    assertThat(page.locator("input[name=token]")).isVisible();
    assertThat(page.locator("a[href^='/console/oidc']")).hasCount(0);
  }
}
