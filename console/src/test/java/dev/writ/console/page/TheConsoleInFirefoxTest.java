package dev.writ.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Download;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import dev.writ.console.page.Browsers.Engine;
import dev.writ.console.page.Desk.Screen;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A walk through the console in another engine, and what an auditor does there. */
class TheConsoleInFirefoxTest {
  @TempDir static Path dir;
  private static Desk desk;

  @BeforeAll
  static void start() {
    desk = Desk.with(dir, Engine.FIREFOX);
  }

  @AfterAll
  static void stop() {
    desk.close();
  }

  @AfterEach
  void nothingWentWrong() {
    assertThat(desk.closePages()).isEmpty();
  }

  private static void press(Page page, String name) {
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name).setExact(true))
        .click();
  }

  @Test
  void the_same_pages_show_check_and_sign() {
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
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Sign and reject")).click();
    assertThat(page.locator(".given h1")).hasText("You rejected it");
  }

  @Test
  void runs_are_checked_and_taken_away_and_the_log_is_walked() throws IOException {
    desk.recordReads();
    Page page = desk.open("rita", Screen.WIDE, "#/audit");
    assertThat(page.locator(".log")).hasAttribute("data-history", "checked");
    Locator run = page.locator("input[value='run-1']");
    run.check();
    Locator done = page.locator(".cards .card").first();
    for (String[] job :
        new String[][] {
          {"Verify", "Everything verifies"},
          {"Replay", "Every event is the same again"},
          {"Report", "The report is ready"},
        }) {
      press(page, job[0]);
      press(page, "Start: " + job[0]);
      assertThat(done.locator(".chip").first()).hasText(job[1]);
    }
    assertThat(saved(page, done.getByText("Save the report"))).startsWith("<!doctype html>");
    assertThat(saved(page, page.locator(".cards .card").last().getByText("Save as CSV")))
        .startsWith("\"run\",\"holds\"")
        .contains("\"run-1\"");
    press(page, "Compare");
    page.locator("input[value='run-2']").check();
    press(page, "Start: Compare");
    assertThat(done.locator(".chip").first()).hasText("They differ");
    Locator row = page.locator(".runlist li", new Page.LocatorOptions().setHas(run));
    assertThat(saved(page, row.getByText("Bundle"))).startsWith("PK");
    page.getByText("What people read").click();
    assertThat(page.locator("tbody .chip").first()).hasText("Verified here");
    assertThat(page.locator("tbody")).containsText("bundle");
  }

  private static String saved(Page page, Locator link) throws IOException {
    Download file = page.waitForDownload(link::click);
    return Files.readString(file.path(), StandardCharsets.ISO_8859_1);
  }
}
