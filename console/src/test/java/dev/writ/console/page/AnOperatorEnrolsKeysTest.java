package dev.writ.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import dev.writ.console.page.Browsers.Engine;
import dev.writ.console.page.Desk.Screen;
import dev.writ.executor.journal.EventKind;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From one browser's screen to another's: an approver's key, enrolled by an operator's. */
class AnOperatorEnrolsKeysTest {
  @TempDir static Path dir;
  private static Desk desk;

  @BeforeAll
  static void start() {
    desk = Desk.with(dir, Engine.CHROMIUM);
  }

  @AfterAll
  static void stop() {
    desk.close();
  }

  private static Page withKey(String who, String role) {
    Page page = desk.open(who, Screen.PHONE, "#/keys");
    page.locator(".make select").selectOption(role);
    page.getByRole(
            AriaRole.BUTTON,
            new Page.GetByRoleOptions().setName(Pattern.compile("^A key of this browser")))
        .click();
    assertThat(page.locator(".keycard .chip")).hasText("Not enrolled");
    return page;
  }

  @Test
  void what_the_holder_shows_is_pasted_compared_and_signed() {
    Page bob = withKey("bob", "approver");
    String shown = bob.locator("pre.command").innerText();
    Page rita = withKey("rita", "operator");
    assertThat(rita.locator(".enrol")).hasCount(0);
    desk.enrolOperatorKeyOf(rita);
    rita.reload();
    assertThat(rita.locator(".keycard .chip")).hasText("Enrolled");
    rita.locator("textarea[name=key]").fill("nothing of the kind");
    assertThat(rita.locator(".enrol [role=alert]")).hasText("There is no public key in it.");
    rita.locator("textarea[name=key]").fill(shown.replace("\"kty\"", "\"d\":\"AAAA\",\"kty\""));
    assertThat(rita.locator(".enrol [role=alert]")).hasText("There is no public key in it.");
    rita.locator("textarea[name=key]").fill(shown);
    assertThat(rita.locator(".enrol input[name=subject]")).hasValue("bob");
    assertThat(rita.locator(".enrol input[name=tenant]")).hasValue("acme");
    assertThat(rita.locator(".enrol .id")).hasText(bob.locator(".keycard .id").first().innerText());
    rita.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Sign and enrol")).click();
    assertThat(rita.locator(".enrol [role=status]")).containsText("Enrolled: ");
    assertThat(desk.gateway.home.kinds("writ", "system").getLast())
        .isEqualTo(EventKind.KEY_ENROLLED);
    bob.reload();
    assertThat(bob.locator(".keycard .chip")).hasText("Enrolled");
    // Once is enough: a second time is refused, and said so.
    rita.locator("textarea[name=key]").fill(shown);
    rita.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Sign and enrol")).click();
    assertThat(rita.locator(".enrol .fault .kicker")).hasText("CAN-056");
    assertThat(desk.closePages()).isEmpty();
  }
}
