package dev.writ.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import dev.writ.console.page.Desk.Screen;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a first visit costs and how a long list scrolls, beside their budgets, in {@code
 * target/budgets.txt}, which {@code ./check} prints. Bytes are held to; times are told, since they
 * are of the machine, too.
 */
class TheConsoleIsMeasuredTest {
  private static final int KILOBYTES_MAX = 300;
  private static final int ROWS = 10_000;
  private static final int LIVE = 3_000;
  private static final int BEFORE = 5; // those of a desk

  @TempDir Path dir;

  @Test
  void a_first_visit_and_a_long_list() throws IOException {
    try (Playwright playwright = Browsers.playwright();
        Browser browser = Browsers.chromium(playwright);
        Desk desk = new Desk(dir, browser)) {
      // A browser that is warm before a server that is not: no page was asked for yet.
      browser.newContext().newPage().navigate("about:blank");
      Page page = desk.unhurried("rita", Screen.WIDE);
      page.navigate(desk.gateway.server.url() + "/#/live");
      page.waitForSelector(".fxrow");
      double paint = number(page, FIRST_PAINT);
      double whole = number(page, "performance.now()");
      double bytes = number(page, TRANSFERRED);
      Page list = desk.unhurried("rita", Screen.WIDE);
      LongRun.serve(list, desk.gateway.get("rita", "/v1/effects?limit=1").text(), ROWS);
      list.navigate(desk.gateway.server.url() + "/#/runs/run-1");
      list.waitForSelector(".long li");
      double quick = ((Number) list.evaluate(SCROLLED, 8_000)).doubleValue();
      double throughAll = ((Number) list.evaluate(SCROLLED, 0)).doubleValue();
      assertThat(list.locator(".long li").count()).isLessThan(100);
      Page live = desk.unhurried("rita", Screen.WIDE);
      LongRun.stream(live, desk.gateway.get("rita", "/v1/effects?limit=1").text(), LIVE, 1_000);
      live.navigate(desk.gateway.server.url() + "/#/live");
      live.waitForSelector(".long li");
      double following = ((Number) live.evaluate(DRAWN)).doubleValue();
      assertThat(live.locator(".long li").first())
          .hasAttribute("aria-setsize", String.valueOf(LIVE + BEFORE));
      Files.write(
          Path.of("target/budgets.txt"),
          List.of(
              line("first paint from a cold server", paint / 1000, "s", "1"),
              line("its first rows are there", whole / 1000, "s", "-"),
              line("all of it, as sent", bytes / 1000, "kB", String.valueOf(KILOBYTES_MAX)),
              line("frames a second, 10,000 effects, 8,000 px/s", quick, "", "60"),
              line("the same, through all of them in 3 s", throughAll, "", "-"),
              line("frames a second, live, 1,000 effects a second", following, "", "-")));
      assertThat(bytes / 1000).isBetween(10.0, (double) KILOBYTES_MAX);
      assertThat(desk.closePages()).isEmpty();
    }
  }

  private static String line(String what, double value, String unit, String budget) {
    return String.format(Locale.ROOT, "%-44s %8.2f %-3s budget %s", what, value, unit, budget);
  }

  private static double number(Page page, String script) {
    return ((Number) page.evaluate(script)).doubleValue();
  }

  private static final String FIRST_PAINT =
      "performance.getEntriesByName('first-contentful-paint')[0].startTime";

  private static final String TRANSFERRED =
      "performance.getEntriesByType('resource')"
          + ".filter(e => new URL(e.name).pathname.startsWith('/console/'))"
          + ".reduce((all, e) => all + e.transferSize,"
          + " performance.getEntriesByType('navigation')[0].transferSize)";

  /** What is drawn in two seconds. */
  private static final String DRAWN =
      """
      () => new Promise(done => {
        const began = performance.now();
        let frames = 0;
        const step = now => {
          if (now - began >= 2000) return done(frames / 2);
          frames++;
          requestAnimationFrame(step);
        };
        requestAnimationFrame(step);
      })
      """;

  /** Scrolls for three seconds, so fast or through the whole list, and counts what was drawn. */
  private static final String SCROLLED =
      """
      pixelsPerSecond => new Promise(done => {
        scrollTo(0, 0);
        const all = pixelsPerSecond > 0 ? 3 * pixelsPerSecond : document.documentElement.scrollHeight - innerHeight;
        const began = performance.now();
        let frames = 0;
        const step = now => {
          const part = (now - began) / 3000;
          if (part >= 1) return done(frames / 3);
          frames++;
          scrollTo(0, all * part);
          requestAnimationFrame(step);
        };
        requestAnimationFrame(step);
      })
      """;
}
