package dev.writ.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.AriaRole;
import dev.writ.console.page.Desk.Screen;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A walk through the console in another engine. */
class TheConsoleInFirefoxTest {
  @Test
  void the_same_pages_show_check_and_sign(@TempDir Path dir) {
    try (Playwright playwright = Browsers.playwright();
        Desk desk = new Desk(dir, Browsers.firefox(playwright))) {
      Page page = desk.open("rita", Screen.WIDE, "#/live");
      assertThat(page.locator(".link.open")).isVisible();
      assertThat(page.locator(".fxrow")).hasCount(5);
      desk.ask("alice", "sim", "{\"order\":2}");
      assertThat(page.locator(".fxrow")).hasCount(6);
      page.locator(".fxrow", new Page.LocatorOptions().setHasText("Succeeded")).last().click();
      assertThat(page.locator(".effect")).hasAttribute("data-proof", "checked");
      page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("Keys")).click();
      page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("A key of this browser"))
          .click();
      assertThat(page.locator(".keycard .chip")).hasText("Not enrolled");
      desk.enrolKeyOf(page);
      page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("Approvals")).click();
      page.locator(".wait").click();
      page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Reject")).click();
      page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Sign and reject"))
          .click();
      assertThat(page.locator(".given h1")).hasText("You rejected it");
      assertThat(desk.closePages()).isEmpty();
    }
  }
}
