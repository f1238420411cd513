package dev.writ.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.WaitUntilState;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.console.page.Browsers.Engine;
import dev.writ.console.page.Desk.Screen;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Date;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where the server does not answer, or has nothing, the page says that and counts nothing. */
class WhatIsNotKnownIsNotToldTest {
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

  @Test
  void a_run_that_is_not_there_has_no_search() {
    Page page = desk.open("rita", Screen.WIDE, "#/runs/nobody-knows-it");
    assertThat(page.getByRole(AriaRole.ALERT)).containsText("GWY-040");
    assertThat(page.locator("main .filters, main .empty, main .further")).hasCount(0);
    assertThat(page.locator("main")).not().containsText("Nothing fits");
  }

  @Test
  void a_search_that_failed_found_no_number_of_effects() {
    Page page = desk.open("rita", Screen.WIDE, "#/keys");
    page.route("**/v1/effects?*", Route::abort);
    page.evaluate("location.hash = '#/effects'");
    assertThat(page.getByRole(AriaRole.ALERT)).containsText("The server does not answer");
    assertThat(page.locator("main")).not().containsText("0 effects");
    page.unrouteAll();
    page.locator(".fault button").click();
    assertThat(page.locator(".fxrow").first()).isVisible();
  }

  /** An empty page would look like one that is still on its way. */
  @Test
  void a_module_that_does_not_come_is_told() {
    Page page = desk.page("rita", Screen.WIDE);
    page.route("**/console/parts/view.mjs", Route::abort);
    page.navigate(desk.gateway.server.url() + "/#/effects");
    assertThat(page.getByRole(AriaRole.ALERT)).containsText("The console did not load");
    page.unrouteAll();
    page.reload();
    assertThat(page.locator(".fxrow").first()).isVisible();
    assertThat(page.getByRole(AriaRole.ALERT)).hasCount(0);
  }

  @Test
  void a_page_that_is_on_its_way_says_so() {
    Page page = desk.page("rita", Screen.WIDE);
    List<Route> held = new CopyOnWriteArrayList<>();
    page.route("**/console/main.mjs", held::add);
    page.navigate(
        desk.gateway.server.url() + "/#/effects",
        new Page.NavigateOptions().setWaitUntil(WaitUntilState.COMMIT));
    assertThat(page.locator("#page .loading .bar")).isVisible();
    page.unrouteAll();
    held.forEach(Route::resume);
    page.reload();
    assertThat(page.locator(".fxrow").first()).isVisible();
  }

  /** As where the connection breaks, or the page is left, while an answer is on its way. */
  @Test
  void an_answer_that_breaks_off_is_none() {
    Page page = desk.page("rita", Screen.WIDE);
    page.addInitScript(
        """
        const whole = fetch;
        window.fetch = async (path, options) => {
          const answer = await whole(path, options);
          if (!String(path).startsWith('/v1/effects?')) return answer;
          return new Response(new ReadableStream({
            start(to) {
              to.enqueue(new TextEncoder().encode('{"effects":['));
              to.error(new TypeError('Failed to fetch'));
            },
          }), { status: answer.status, headers: answer.headers });
        };
        """);
    page.navigate(desk.gateway.server.url() + "/#/effects");
    assertThat(page.getByRole(AriaRole.ALERT)).containsText("The server does not answer");
  }

  /** This device's clock is a day fast. */
  @Test
  void how_long_something_waits_is_told_by_the_servers_clock() {
    Envelope asked = desk.ask("bob", "pay", "{\"amount\":507}");
    Page page = desk.page("rita", Screen.WIDE);
    page.context()
        .clock()
        .setSystemTime(Date.from(desk.gateway.home.clock.instant().plus(Duration.ofDays(1))));
    page.navigate(desk.gateway.server.url() + "/" + Desk.approval(asked));
    assertThat(page.locator(".approval .lead").first())
        .containsText(
            Pattern.compile("has waited for [0-9.]+ m?s\\. It is refused in 23 h 59 min"));
    assertThat(page.locator(".approval")).not().containsText("Its time is over");
  }
}
