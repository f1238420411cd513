package dev.writ.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import dev.writ.console.page.Browsers.Engine;
import dev.writ.console.page.Desk.Screen;
import dev.writ.gateway.http.auth.Caller;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The page for operators in both browsers: what is wrong stands first, and charts are drawn. */
@ParameterizedClass(name = "{0}")
@EnumSource(Engine.class)
class TheOperationsPageTest {
  private static final String OPERATIONS = "#/operations";
  private static final String OPERATOR = "deputy";

  @TempDir static Path dir;
  @Parameter Engine engine;
  private static Desk desk;

  @BeforeParameterizedClassInvocation
  static void start(Engine engine) {
    desk = Desk.with(dir.resolve(engine.name()), engine);
  }

  @AfterParameterizedClassInvocation
  static void stop() {
    desk.close();
  }

  @BeforeEach
  void something() {
    desk.state.well = false;
  }

  /** Exceptions, dialogs, and faults against the policy of content. */
  @AfterEach
  void nothingWentWrong() {
    assertThat(desk.closePages()).isEmpty();
  }

  private static Page settled(Page page) {
    assertThat(page.locator(".chart[data-drawn=true]")).hasCount(2);
    assertThat(page.locator("[data-standing=waiting], .loading")).hasCount(0);
    return page;
  }

  private static Page operations(Screen screen) {
    return settled(desk.open(OPERATOR, screen, OPERATIONS));
  }

  @Test
  void an_operator_signs_somebody_out_everywhere() {
    Caller ada = new Caller("bearer", "ada", "0", "acme", "ada", List.of());
    desk.sessions.open(ada, desk.gateway.home.clock.instant());
    Page page = operations(Screen.WIDE);
    Locator end =
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("End all sessions"));
    assertThat(end).isDisabled();
    for (int open : new int[] {1, 0}) {
      page.getByLabel("Person", new Page.GetByLabelOptions().setExact(true)).fill("ada");
      end.click();
      assertThat(page.locator("#sessions .note"))
          .hasText("Sessions of ada that were ended: " + open);
    }
  }

  @Test
  void what_is_wrong_stands_first() {
    Page page = operations(Screen.WIDE);
    assertThat(page.locator(".seal")).hasAttribute("data-standing", "bad");
    assertThat(page.locator(".seal h2")).hasText("3 things need somebody");
    assertThat(page.locator(".seal .lines li.t-bad"))
        .containsText(
            new String[] {"The server is not ready: Sandbox SBX-001", "does not deliver: SNK-001"});
    assertThat(page.locator(".checks:not(.guarantees) .t-bad")).hasCount(1);
    assertThat(page.locator(".guarantees .chip"))
        .hasText(new String[] {"Held", "Lacking", "Not needed"});
    assertThat(page.locator(".seal .lines")).containsText("<img src=x onerror=alert(1)>");
    assertThat(page.locator("main img, main script")).hasCount(0);
  }

  @Test
  void a_server_that_is_well_says_so() {
    desk.state.well = true;
    Page page = operations(Screen.WIDE);
    assertThat(page.locator(".seal")).hasAttribute("data-standing", "good");
    assertThat(page.locator(".seal h2")).hasText("Everything is well");
    // It is asked again by itself.
    desk.state.well = false;
    page.clock().runFor(11_000);
    assertThat(page.locator(".seal")).hasAttribute("data-standing", "bad");
  }

  private static final String PAINTED =
      "canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)"
          + ".data.some(byte => byte !== 0)";

  @Test
  void charts_are_drawn_and_said_in_words_and_figures() {
    Page page = operations(Screen.WIDE);
    Locator canvases = page.locator(".chart canvas");
    assertThat(canvases).hasCount(2);
    for (int i = 0; i < 2; i++) {
      assertThat(canvases.nth(i).evaluate(PAINTED)).isEqualTo(true);
    }
    assertThat(page.getByRole(AriaRole.IMG).first())
        .hasAttribute("aria-label", Pattern.compile("Effects a second, from .+"));
    Locator chart = page.locator(".chart").first();
    assertThat(chart.locator("table")).hasCount(0);
    chart.locator("summary").click();
    assertThat(chart.locator("tbody tr")).hasCount(60);
    assertThat(chart.locator("thead th"))
        .hasText(new String[] {"Time", "Allowed", "Denied", "Waiting", "Failed"});
    assertThat(chart.locator("table")).containsText("/s");
    assertThat(page.locator(".codes")).containsText("GRD-102");
    page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("24 hours")).click();
    assertThat(page.locator(".chart").first().locator("tbody tr")).hasCount(96);
    assertThat(page.locator("[aria-current=true]")).hasText("24 hours");
    assertThat(page.url()).endsWith("#/operations?span=day");
  }

  @Test
  void another_theme_paints_them_again() {
    Page page = operations(Screen.WIDE);
    Locator canvas = page.locator(".chart canvas").first();
    Object light = canvas.evaluate("canvas => canvas.toDataURL()");
    page.evaluate("document.documentElement.dataset.theme = 'dark'");
    page.waitForFunction(
        "was => document.querySelector('.chart canvas').toDataURL() !== was", light);
  }

  @Test
  void budgets_keys_incidents_and_checks_are_there() {
    Page page = operations(Screen.WIDE);
    Locator budget =
        page.locator(".accounts li").filter(new Locator.FilterOptions().setHasText("alice"));
    assertThat(budget).containsText("of 100,000 calls");
    assertThat(page.locator(".accounts")).not().containsText("eve");
    Locator keys = page.getByRole(AriaRole.REGION, named("Enrolled keys"));
    assertThat(keys).containsText("guardian");
    assertThat(keys).not().containsText("eve");
    assertThat(page.getByRole(AriaRole.REGION, named("Incidents")))
        .containsText("Denied by policy");
    assertThat(page.getByRole(AriaRole.REGION, named("Sinks"))).containsText("Failing");
    assertThat(page.locator("main")).containsText("bubblewrap 0.11");
    assertThat(page.locator(".facts")).containsText("76 GiB");
  }

  private static Page.GetByRoleOptions named(String name) {
    return new Page.GetByRoleOptions().setName(name);
  }

  @Test
  void who_operates_nothing_is_told_so_and_shown_nothing() {
    Page page = desk.open("alice", Screen.WIDE, OPERATIONS);
    assertThat(page.locator(".fault")).containsText("GWY-120");
    assertThat(page.locator(".seal, .chart, .accounts, table")).hasCount(0);
    assertThat(page.locator("nav.pages")).not().containsText("Operations");
  }

  @Test
  void it_can_be_reached_by_the_keyboard() {
    Page page = desk.open(OPERATOR, Screen.WIDE, "#/live");
    assertThat(page.locator("nav.pages")).containsText("Operations");
    page.keyboard().press("g");
    page.keyboard().press("o");
    page.waitForURL("**/" + OPERATIONS);
    settled(page);
  }

  private static final String VIOLATIONS =
      "async () => (await axe.run(document, {resultTypes: ['violations']})).violations"
          + ".map(v => v.id + ': ' + v.nodes.map(n => n.html).join(' | ').slice(0, 600))";

  @Test
  void nobody_is_kept_out_by_how_it_is_made() {
    Page page = operations(Screen.WIDE);
    page.evaluate(
        PageFiles.resource("/META-INF/resources/webjars/axe-core/4.6.3/axe.min.js") + ";0");
    page.locator(".chart summary").first().click();
    TreeMap<String, Object> found = new TreeMap<>();
    for (Screen screen : List.of(Screen.WIDE, Screen.PHONE.dark())) {
      page.setViewportSize(screen.width(), screen.height());
      page.emulateMedia(new Page.EmulateMediaOptions().setColorScheme(screen.colours()));
      found.put(screen.toString(), page.evaluate(VIOLATIONS));
    }
    for (int width : new int[] {320, 390, 768, 1280, 1920, 3840}) {
      page.setViewportSize(width, 900);
      Object out = page.evaluate("Math.max(0, document.documentElement.scrollWidth - innerWidth)");
      found.put("at " + width, out.equals(0) ? List.of() : out);
    }
    found.values().removeIf(List.of()::equals);
    assertThat(found).isEmpty();
  }
}
