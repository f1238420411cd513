package dev.writ.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.console.page.Browsers.Engine;
import dev.writ.console.page.Desk.Screen;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What Live shows is how things stand, whatever comes late, twice, or not at all. */
class TheLivePageLosesNothingTest {
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

  /** The page's list and stream, answered by the test: {@code lists} are those that wait. */
  private static final String BY_HAND =
      """
      {
        const real = window.fetch;
        const bytes = new TextEncoder();
        let out;
        Object.assign(window, {
          lists: [],
          streams: 0,
          places: [],
          row: (id, state) => ({ request_id: id, index: id.length, state, tool: id, operation: 'do', subject: 'bob', run: 'run-2', received_at: new Date().toISOString() }),
          answer: (status, rows) => lists.shift()(new Response(JSON.stringify({ effects: rows, complete: true }), { status })),
          sign: (id) => out.enqueue(bytes.encode(`:\\nid: ${id}\\n\\n`)),
          cut: () => out.close(),
          tell: (name, data) => out.enqueue(bytes.encode(`id: 0.1\\nevent: ${name}\\ndata: ${JSON.stringify(data)}\\n\\n`)),
        });
        window.fetch = (url, options) => {
          if (String(url).includes('/v1/effects?')) return new Promise((resolve) => lists.push(resolve));
          if (!String(url).includes('/v1/effects/live')) return real(url, options);
          streams++;
          places.push(options.headers['Last-Event-ID'] ?? '');
          return Promise.resolve(new Response(new ReadableStream({
            start(controller) {
              out = controller;
              options.signal.addEventListener('abort', () => controller.error(new Error('aborted')));
            },
          })));
        };
      }
      """;

  private static Page live() {
    Page page = desk.page("rita", Screen.WIDE);
    page.addInitScript(BY_HAND);
    page.navigate(desk.gateway.server.url() + "/#/live");
    page.waitForFunction("() => lists.length === 1 && streams === 1");
    assertThat(page.locator(".link.open")).isVisible();
    return page;
  }

  @Test
  void a_row_that_is_not_asked_for_any_more_goes() {
    Envelope asked = desk.ask("bob", "pay", "{\"amount\":601}");
    Page page = desk.open("rita", Screen.WIDE, "#/live?state=waiting");
    String row = "a[href$='" + asked.id() + "']";
    assertThat(page.locator(row)).containsText("Waiting");
    desk.gateway.home.reject(asked, "roy");
    assertThat(page.locator(row)).hasCount(0);
    assertThat(page.locator("a[href$='" + desk.waiting.id() + "']")).hasCount(1);
  }

  @Test
  void a_list_that_comes_late_takes_nothing_back() {
    Page page = live();
    page.evaluate("tell('effect', row('mail', 'denied')), tell('gone', row('sim', ''))");
    page.evaluate(
        "answer(200, [row('calc', 'waiting'), row('mail', 'waiting'), row('sim', 'waiting')])");
    assertThat(page.locator(".fxrow")).hasCount(2);
    assertThat(page.locator(".fxrow", new Page.LocatorOptions().setHasText("mail")))
        .containsText("Denied");
  }

  /** spec/gateway.md, Effects: the reader loads its list again. */
  @Test
  void what_was_passed_over_is_asked_for_again() {
    Page page = live();
    page.evaluate("answer(200, [row('mail', 'waiting'), row('sim', 'waiting')])");
    assertThat(page.locator(".fxrow")).hasCount(2);
    page.evaluate("tell('skipped', { count: 5, from_index: 1, to_index: 6 })");
    page.waitForFunction("() => lists.length === 1");
    page.evaluate("answer(200, [row('mail', 'denied')])");
    assertThat(page.locator(".fxrow")).hasCount(1);
    assertThat(page.locator(".fxrow")).containsText("Denied");
  }

  @Test
  void a_list_that_fails_once_hides_nothing_for_good() {
    Page page = live();
    page.evaluate("tell('effect', row('mail', 'denied'))");
    page.evaluate("answer(503, [])");
    assertThat(page.locator(".fault")).isVisible();
    page.clock().fastForward(6_000);
    page.waitForFunction("() => lists.length === 1");
    page.evaluate("answer(200, [row('sim', 'waiting')])");
    assertThat(page.locator(".fault")).hasCount(0);
    assertThat(page.locator(".fxrow")).hasCount(2);
  }

  /** A connection that nobody closed looks like quiet; signs of life tell them apart. */
  @Test
  void a_stream_that_is_silent_is_taken_for_lost() {
    Page page = live();
    page.evaluate("answer(200, [])");
    page.clock().fastForward(40_000);
    page.evaluate("tell('effect', row('mail', 'denied'))");
    assertThat(page.locator(".fxrow")).hasCount(1);
    page.clock().fastForward(40_000);
    assertThat(page.locator(".link.open")).isVisible();
    page.clock().fastForward(6_000);
    assertThat(page.locator(".link.lost")).isVisible();
    page.clock().fastForward(1_100);
    page.waitForFunction("() => streams === 2");
    assertThat(page.locator(".link.open")).isVisible();
  }

  /** A quiet server says by its signs of life from where to take the stream up. */
  @Test
  void a_quiet_stream_that_broke_is_taken_up_where_it_was() {
    Page page = live();
    page.evaluate("answer(200, [])");
    page.evaluate("sign('0.6'), sign('0.7'), cut()");
    assertThat(page.locator(".link.lost")).isVisible();
    page.clock().fastForward(1_100);
    page.waitForFunction("() => streams === 2");
    assertThat(page.evaluate("places")).isEqualTo(List.of("", "0.7"));
    page.evaluate("sign('0.7'), tell('effect', row('mail', 'denied'))");
    assertThat(page.locator(".fxrow")).hasCount(1);
    assertThat(page.evaluate("lists.length")).isEqualTo(0);
  }

  @Test
  void what_happened_before_a_stream_had_a_place_is_in_the_list() {
    Page page = live();
    page.evaluate("answer(200, [row('mail', 'waiting')])");
    assertThat(page.locator(".fxrow")).hasCount(1);
    page.evaluate("cut()");
    assertThat(page.locator(".link.lost")).isVisible();
    page.clock().fastForward(1_100);
    page.waitForFunction("() => streams === 2 && lists.length === 1");
    page.evaluate("answer(200, [row('calc', 'waiting'), row('mail', 'denied')])");
    assertThat(page.locator(".fxrow")).hasCount(2);
  }
}
