package dev.writ.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.Media;
import dev.writ.console.page.Browsers.Engine;
import dev.writ.console.page.Desk.Screen;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A list that is scrolled has its rows where they are looked for: none is left out. */
class AListHasTheRowsThatAreSeenTest {
  private static final int WAITING = 40;

  @TempDir static Path dir;
  private static Desk desk;

  @BeforeAll
  static void start() {
    desk = Desk.with(dir, Engine.CHROMIUM);
    for (int i = 0; i < WAITING; i++) {
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

  @Test
  void who_scrolls_through_what_waits_sees_each_request() {
    Page page = desk.open("rita", Screen.PHONE, "#/approvals");
    assertThat(page.locator("h1 + .count")).containsText("4");
    int height = (Integer) page.evaluate("document.querySelector('.long li').offsetHeight");
    for (int row : new int[] {14, 25, 30, 5, 25, 0}) {
      page.evaluate("y => scrollTo(0, y)", height * row);
      assertThat(page.locator("li[aria-posinset='" + (row + 1) + "'] .wait")).isInViewport();
      assertThat(page.locator("li[aria-posinset='" + (row + 5) + "'] .wait")).isInViewport();
    }
  }

  /** As where news comes while somebody scrolls: two drawings between the scroll and its frame. */
  @Test
  void a_drawing_in_the_midst_of_a_scroll_leaves_no_row_out() {
    Page page = desk.open("rita", Screen.PHONE, "#/effects");
    assertThat(page.locator(".fxrow").first()).isVisible();
    page.evaluate(
        """
        async () => {
          const { language } = await import('/console/parts/text.mjs');
          const was = language.get();
          const drawn = async () => { for (let i = 0; i < 20; i++) await null; };
          await new Promise((done) => {
            addEventListener('scroll', async () => {
              language.set('x');
              await drawn();
              language.set(was);
              await drawn();
              done();
            }, { once: true });
            scrollTo(0, 30 * document.querySelector('.long li').offsetHeight);
          });
        }
        """);
    assertThat(page.locator("li[aria-posinset='31'] .fxrow")).isInViewport();
  }

  /** A sheet of paper is not scrolled: the rows that were not drawn would be blank pages. */
  @Test
  void a_list_is_printed_with_all_its_rows() {
    Page page = desk.open("rita", Screen.WIDE.dark(), "#/effects");
    assertThat(page.locator(".fxrow").first()).isVisible();
    int drawn = page.locator(".long li").count();
    page.evaluate("document.documentElement.dataset.theme = 'dark'");
    page.evaluate("dispatchEvent(new Event('beforeprint'))");
    page.emulateMedia(new Page.EmulateMediaOptions().setMedia(Media.PRINT));
    int all = Integer.parseInt(page.locator(".long li").first().getAttribute("aria-setsize"));
    assertThat(all).isGreaterThan(drawn);
    assertThat(page.locator(".long li")).hasCount(all);
    String gaps =
        """
        () => [...document.querySelectorAll('.long li')].filter((row, i, rows) => i > 0
          && Math.abs(row.getBoundingClientRect().top - rows[i - 1].getBoundingClientRect().bottom) > 1).length
        """;
    assertThat(page.evaluate(gaps)).isEqualTo(0);
    assertThat(page.locator(".fxrow .what").first()).hasCSS("color", "rgb(0, 0, 0)");
    assertThat(page.locator("h1")).hasCSS("color", "rgb(0, 0, 0)");
    assertThat(page.locator(".lead")).hasCSS("color", "rgb(93, 88, 79)");
    page.emulateMedia(new Page.EmulateMediaOptions().setMedia(Media.SCREEN));
    page.evaluate("dispatchEvent(new Event('afterprint'))");
    assertThat(page.locator("li[aria-posinset='" + all + "']")).hasCount(0);
  }

  /** By the library of views that the console has, which left rows out in one of its releases. */
  @Test
  void any_part_of_a_list_may_follow_any_other() {
    Page page = desk.open("rita", Screen.WIDE, "#/keys");
    String wrong =
        (String)
            page.evaluate(
                """
                async () => {
                  const { h, render } = await import('/console/parts/view.mjs');
                  const box = document.createElement('div');
                  let seed = 1;
                  const below = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
                  let before = '';
                  for (let step = 0; step < 3000; step++) {
                    const from = below(50);
                    const part = Array.from({ length: below(60 - from) }, (_, i) => from + i);
                    render(h('ol', null, part.map((n) => h('li', { key: n }, String(n)))), box);
                    const seen = [...box.querySelectorAll('li')].map((row) => row.textContent).join();
                    if (seen !== part.join()) return `${before} then ${part.join()}: ${seen}`;
                    before = seen;
                  }
                  return '';
                }
                """);
    assertThat(wrong).isEmpty();
  }
}
