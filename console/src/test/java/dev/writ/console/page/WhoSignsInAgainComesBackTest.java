package dev.writ.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.console.page.Browsers.Engine;
import dev.writ.console.page.Desk.Screen;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.TestGateway;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where a session ends under a page: what is said, what is kept for whom, and other tabs. */
class WhoSignsInAgainComesBackTest {
  private static final String DRAFTS = "Object.keys(sessionStorage).join()";

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

  @AfterEach
  void nothingWentWrong() {
    assertThat(desk.closePages()).isEmpty();
  }

  private static Locator button(Page page, String name) {
    return page.getByRole(
        AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name).setExact(true));
  }

  private static Page signedIn(String who, String address) {
    Page page = desk.stranger(Screen.WIDE);
    page.navigate(desk.gateway.server.url() + "/" + address);
    assertThat(page.locator("main h1")).hasText("Sign in");
    assertThat(page.locator(".lead")).not().containsText("has ended");
    signIn(page, who);
    return page;
  }

  private static void signIn(Page page, String who) {
    page.getByLabel("Token").fill(TestGateway.tokenOf(who));
    page.keyboard().press("Enter");
    assertThat(page.locator(".person")).containsText(who);
  }

  private static void endsUnder(Page page) {
    page.context().clearCookies();
    assertThat(page.locator("main h1")).hasText("Sign in");
    assertThat(page.locator(".lead")).containsText("Your session has ended");
  }

  @Test
  void the_reason_that_was_being_typed_is_there_again_for_its_author_alone() {
    Envelope asked = desk.ask("bob", "pay", "{\"amount\":701}");
    Page page = signedIn("rita", "#/keys");
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("A key of this browser"))
        .click();
    assertThat(page.locator(".keycard .chip")).hasText("Not enrolled");
    desk.enrolKeyOf(page);
    page.reload();
    assertThat(page.locator(".keycard .chip")).hasText("Enrolled");
    page.navigate(desk.gateway.server.url() + "/" + Desk.approval(asked));
    button(page, "Approve").click();
    Locator reason = page.locator("textarea[name=reason]");
    reason.fill("as agreed with Ann");
    endsUnder(page);
    signIn(page, "rita");
    assertThat(page.locator(".would")).containsText("701");
    assertThat(page.locator(".confirm")).hasCount(0); // what was meant is asked once more
    button(page, "Approve").click();
    assertThat(reason).hasValue("as agreed with Ann");
    reason.fill("as agreed with Bo");
    endsUnder(page);
    signIn(page, "alice");
    assertThat(page.evaluate(DRAFTS)).isEqualTo("");
    endsUnder(page);
    signIn(page, "rita");
    button(page, "Approve").click();
    assertThat(reason).hasValue("");
    reason.fill("as agreed with Cy");
    page.locator(".back a").click();
    assertThat(page.locator("main h1")).hasText("Approvals");
    assertThat(page.evaluate(DRAFTS)).isEqualTo("");
  }

  /** Rows and pages that were there before would look like what is still to be seen. */
  @Test
  void a_page_becomes_what_policy_lets_its_person_see_now() {
    Page page = signedIn("rita", "#/effects");
    Locator others = page.locator(".fxrow:has-text('mail')");
    assertThat(others.first()).isVisible();
    Locator tools = page.locator(".others > a[href='#/tools']");
    assertThat(tools).isVisible();
    desk.gateway.home.activate(TestPolicy.YAML);
    page.clock().fastForward(60_000);
    assertThat(tools).hasCount(0);
    assertThat(others).hasCount(0); // she is still told what waits for her
    desk.gateway.home.activate(Desk.POLICY);
    page.clock().fastForward(60_000);
    assertThat(tools).isVisible();
    assertThat(others.first()).isVisible();
  }

  /** As after the server was started again, which ends the sessions of all tabs. */
  @Test
  void a_tab_that_waits_for_a_sign_in_becomes_who_another_one_signed_in() {
    Page page = signedIn("deputy", "#/effects");
    endsUnder(page);
    Page other = page.context().newPage();
    other.navigate(desk.gateway.server.url() + "/#/keys");
    signIn(other, "deputy");
    page.evaluate("dispatchEvent(new Event('focus'))");
    assertThat(page.locator(".person")).containsText("deputy");
    assertThat(page.locator("main h1")).hasText("Effects");
  }

  @Test
  void signing_out_everywhere_ends_the_sessions_of_other_browsers() {
    Page page = signedIn("bob", "#/keys");
    Page other = signedIn("bob", "#/live");
    page.locator(".person summary").click();
    button(page, "Sign out everywhere").click();
    assertThat(page.locator("main h1")).hasText("Sign in");
    assertThat(page.locator(".lead")).not().containsText("has ended");
    assertThat(other.locator("main h1")).hasText("Sign in");
    assertThat(other.locator(".lead")).containsText("Your session has ended");
  }
}
