package dev.writ.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import dev.writ.console.page.Browsers.Engine;
import dev.writ.console.page.Desk.Screen;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Back leads to where the reader was in a list, with the rows that were loaded. */
class WhoComesBackFindsTheListAsItWasTest {
  private static final int ROWS_A_PAGE = 200;

  @TempDir static Path dir;
  private static Desk desk;

  @BeforeAll
  static void start() {
    desk = Desk.with(dir, Engine.CHROMIUM);
    for (int i = 0; i < 40; i++) {
      desk.ask("bob", "pay", "{\"amount\":" + (600 + i) + "}");
    }
  }

  @AfterAll
  static void stop() {
    desk.close();
  }

  @AfterEach
  void nothingWentWrong() {
    assertThat(desk.closePages()).isEmpty();
  }

  /** Scrolls there; returns the row that is first seen then. */
  private static Locator downTo(Page page, int index, String rows) {
    int row = (Integer) page.evaluate("document.querySelector('.long li').offsetHeight");
    page.evaluate("y => scrollTo(0, y)", row * index);
    return page.locator("li[aria-posinset='" + (index + 1) + "'] " + rows);
  }

  private static void isAgain(Page page, int top, Locator link) {
    page.waitForCondition(() -> top(page) == top);
    assertThat(link).isInViewport();
    assertThat(link).isFocused();
  }

  private static int top(Page page) {
    return (Integer) page.evaluate("Math.round(scrollY)");
  }

  @Test
  void back_from_an_approval_by_the_browser_and_by_the_link() {
    Page page = desk.open("rita", Screen.PHONE, "#/approvals");
    assertThat(page.locator("h1 + .count")).hasText("41");
    Locator link = downTo(page, 14, ".wait");
    for (boolean byBrowser : new boolean[] {true, false}) {
      link.focus();
      int top = top(page);
      link.click();
      assertThat(page.locator(".approval")).isVisible();
      page.waitForCondition(() -> top(page) == 0);
      page.evaluate("scrollTo(0, 40)");
      if (byBrowser) {
        page.goBack();
      } else {
        page.locator(".back a").click();
      }
      assertThat(page.locator("main h1")).hasText("Approvals");
      isAgain(page, top, link);
    }
  }

  /**
   * Another way to the same address is no way back: it begins at the top, with what is there now.
   */
  @Test
  void back_from_an_effect_with_all_that_was_loaded() {
    Page page = desk.page("rita", Screen.WIDE);
    AtomicInteger calls = new AtomicInteger();
    String row =
        desk.gateway
            .get("rita", "/v1/effects?limit=1")
            .text()
            .replaceFirst("^.*?\\[(\\{.*?})].*$", "$1");
    page.route(
        "**/v1/effects?*",
        route -> {
          int first = calls.getAndIncrement() * ROWS_A_PAGE;
          String rows =
              IntStream.range(first, first + ROWS_A_PAGE)
                  .mapToObj(i ->
                      row.replaceFirst(
                          "\"request_id\":\"[^\"]*\"", "\"request_id\":\"r" + i + "\""))
                  .collect(Collectors.joining(","));
          route.fulfill(
              new Route.FulfillOptions()
                  .setContentType("application/json")
                  .setBody(
                      "{\"effects\":["
                          + rows
                          + "],\"searched\":{},\"complete\":false,\"next_before\":7}"));
        });
    page.navigate(desk.gateway.server.url() + "/#/effects");
    assertThat(page.locator(".fxrow").first()).isVisible();
    downTo(page, ROWS_A_PAGE - 1, "a");
    // Before the rows are in the list, nobody can scroll to them.
    assertThat(page.locator("li[aria-setsize='" + 2 * ROWS_A_PAGE + "']").first()).isAttached();
    Locator link = downTo(page, 250, ".fxrow");
    assertThat(link).isVisible();
    int top = top(page);
    link.focus();
    page.keyboard().press("Enter");
    page.waitForURL("**/#/effects/r*");
    page.waitForCondition(() -> top(page) == 0);
    page.goBack();
    isAgain(page, top, link);
    assertThat(calls).hasValue(2);
    page.locator(".others > a[href='#/keys']").click();
    page.locator("nav.pages > a[href='#/effects']").click();
    assertThat(page.locator(".fxrow").first()).isVisible();
    assertThat(calls).hasValue(3);
    page.waitForCondition(() -> top(page) == 0);
  }
}
