package dev.writ.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.microsoft.playwright.CDPSession;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.AriaRole;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.console.page.Browsers.Engine;
import dev.writ.console.page.Desk.Screen;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.http.auth.Caller;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every page of the console in a real Chromium, before a real server. */
class TheConsoleInChromiumTest {
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

  private static List<String> pages() {
    return List.of(
        "#/live",
        "#/effects",
        "#/runs/run-1",
        Desk.effect(desk.done),
        Desk.effect(desk.denied),
        Desk.effect(desk.hostile),
        "#/approvals",
        Desk.approval(desk.waiting),
        "#/audit",
        "#/audit/reads",
        "#/tools",
        "#/tools/mail/1.0.0",
        "#/operations",
        "#/policy",
        "#/keys",
        "#/no-such-page");
  }

  /** Waits until a page shows what it is about. */
  private static Page settled(Page page) {
    assertThat(page.locator("main h1").first()).isAttached();
    assertThat(page.locator(".loading, [data-proof=waiting], [aria-busy=true]")).hasCount(0);
    return page;
  }

  private static final int[] WIDTHS = {320, 390, 768, 1280, 1920, 3840};

  /**
   * Wide and light, narrow and dark: nothing that axe finds, and nothing sticks out of any screen.
   */
  @Test
  void nobody_is_kept_out_by_how_a_page_is_made() {
    Page page = settled(desk.open("rita", Screen.WIDE, "#/live"));
    // The policy of content lets no foreign script in, so it comes through the debugger.
    page.evaluate(
        PageFiles.resource("/META-INF/resources/webjars/axe-core/4.6.3/axe.min.js") + ";0");
    TreeMap<String, Object> found = new TreeMap<>();
    for (String address : pages()) {
      go(page, address);
      for (Screen screen : List.of(Screen.WIDE, Screen.PHONE.dark())) {
        page.setViewportSize(screen.width(), screen.height());
        page.emulateMedia(new Page.EmulateMediaOptions().setColorScheme(screen.colours()));
        found.put(address + " " + screen, page.evaluate(VIOLATIONS));
      }
      for (int width : WIDTHS) {
        page.setViewportSize(width, 900);
        Object out =
            page.evaluate("Math.max(0, document.documentElement.scrollWidth - innerWidth)");
        found.put(address + " at " + width, out.equals(0) ? List.of() : out);
      }
    }
    found.values().removeIf(List.of()::equals);
    assertThat(found).isEmpty();
  }

  private static final String VIOLATIONS =
      "async () => (await axe.run(document, {resultTypes: ['violations']})).violations"
          + ".map(v => v.id + ': ' + v.nodes.map(n => n.html).join(' | ').slice(0, 600))";

  /** To another page of the console, in the same document. */
  private static Page go(Page page, String address) {
    page.evaluate("address => { location.hash = address; }", address);
    page.waitForURL("**/" + address);
    return settled(page);
  }

  @Test
  void an_effect_is_checked_in_the_browser() {
    Page page = settled(desk.open("rita", Screen.WIDE, Desk.effect(desk.done)));
    assertThat(page.locator(".effect")).hasAttribute("data-proof", "checked");
    assertThat(page.locator(".picture h2"))
        .hasText(new String[] {"Request", "Decision", "Intent", "Dispatch", "Receipt"});
    assertThat(page.locator(".station .t-bad, .station .marks .t-none")).hasCount(0);
    assertThat(page.locator("#outcome table tbody tr")).hasCount(2);
    assertThat(page.locator("#outcome .about")).containsText("has the signed digest");
    // Another time the log is known already, and its history is compared with what was seen.
    desk.ask("alice", "mail", "{\"subject\":\"one more\"}");
    page.navigate(desk.gateway.server.url() + "/#/effects");
    page.navigate(desk.gateway.server.url() + "/" + Desk.effect(desk.denied));
    settled(page);
    assertThat(page.locator(".checked")).containsText("rewrote nothing");
  }

  /** Changes the story of an effect on its way. */
  private static Page lied(Envelope request, UnaryOperator<String> lie) {
    Page page = desk.page("rita", Screen.WIDE);
    page.route(
        "**/v1/effects/sha256*",
        route -> {
          String told = route.fetch().text();
          String changed = lie.apply(told);
          assertThat(changed).isNotEqualTo(told);
          route.fulfill(
              new Route.FulfillOptions().setContentType("application/json").setBody(changed));
        });
    page.navigate(desk.gateway.server.url() + "/" + Desk.effect(request));
    page.waitForSelector("main h1");
    return settled(page);
  }

  private static String again(String payload) {
    return Base64.getEncoder().encodeToString(payload.getBytes(StandardCharsets.UTF_8));
  }

  /** One document's payload, changed and packed again. */
  private static UnaryOperator<String> payload(String document, UnaryOperator<String> change) {
    return told -> {
      JsonValue.Obj whole = (JsonValue.Obj) Jcs.parse(told.getBytes(StandardCharsets.UTF_8));
      JsonValue.Obj envelope =
          (JsonValue.Obj) ((JsonValue.Obj) whole.get(document)).get("envelope");
      String payload = ((JsonValue.Str) envelope.get("payload")).value();
      String text = new String(Base64.getDecoder().decode(payload), StandardCharsets.UTF_8);
      return told.replace(payload, again(change.apply(text)));
    };
  }

  private static Stream<UnaryOperator<String>> lies() {
    return Stream.of(
        payload("receipt", text -> text.replace("\"lamport\":1", "\"lamport\":2")),
        payload("decision", text -> text.replace("ALLOW", "DENY")),
        payload("request", text -> text.replace("Monthly", "Weekly")),
        told -> told.replaceFirst("\"verdict\":\"ALLOW\"", "\"verdict\":\"DENY\""),
        told -> told.replaceFirst("\"tool\":\"mail\"", "\"tool\":\"calc\""),
        told -> told.replaceFirst("\"outcome\":\"succeeded\"", "\"outcome\":\"failed\""),
        told -> told.replaceFirst("Monthly report", "Weekly report"),
        told -> told.replaceFirst("\"kind\":\"request.received\"", "\"kind\":\"run.closed\""),
        told -> told.replaceFirst("\"hashes\":\\[\"sha256:.", "\"hashes\":[\"sha256:g"),
        told -> told.replaceFirst("\"checkpoint\":\"writ.example/log\\\\n", "$0" + "1"),
        told -> told.replaceFirst("\"writ_role\":\"executor\"", "\"writ_role\":\"agent\""));
  }

  @ParameterizedTest
  @MethodSource("lies")
  void what_was_changed_on_its_way_is_found(UnaryOperator<String> lie) {
    Page page = lied(desk.done, lie);
    assertThat(page.locator(".effect")).hasAttribute("data-proof", "failed");
    assertThat(page.locator(".seal.bad .kicker")).hasText("Does not hold");
  }

  /** A log with another key than the one that this browser knows is another log. */
  @Test
  void another_log_is_not_taken_for_this_one() {
    Page page = settled(desk.open("rita", Screen.WIDE, Desk.effect(desk.done)));
    page.evaluate(
        "name => { const was = JSON.parse(localStorage.getItem(name));"
            + " localStorage.setItem(name, JSON.stringify({...was, key: 'x' + was.key})); }",
        "writ-log " + TestHome.ORIGIN);
    page.reload();
    settled(page);
    assertThat(page.locator(".effect")).hasAttribute("data-proof", "failed");
  }

  /**
   * Also not by a fault of the page: one that is left while it loads would report one each time.
   */
  @Test
  void a_page_without_its_texts_is_not_an_empty_one() {
    Page page = desk.page("rita", Screen.WIDE);
    page.route("**/console/text/*", Route::abort);
    page.navigate(desk.gateway.server.url() + "/#/live");
    assertThat(page.getByRole(AriaRole.ALERT)).containsText("The server does not answer");
    page.unroute("**/console/text/*");
    page.reload();
    settled(page);
    page.route("**/console/text/*", Route::abort);
    page.locator(".person summary").click();
    Locator language = page.locator(".person .look select").last();
    language.selectOption("de");
    assertThat(language).hasValue("en");
    page.unroute("**/console/text/*");
    page.reload(); // what never arrived is not remembered either
    assertThat(page.locator("html")).hasAttribute("lang", "en");
  }

  @Test
  void output_that_is_not_what_was_signed_is_not_shown() {
    Page page = desk.page("rita", Screen.WIDE);
    page.route("**/output", route -> route.fulfill(new Route.FulfillOptions().setBody("[1]")));
    page.navigate(desk.gateway.server.url() + "/" + Desk.effect(desk.done));
    assertThat(page.locator("#outcome .note.bad")).isVisible();
    assertThat(page.locator("#outcome pre, #outcome table")).hasCount(0);
  }

  @Test
  void what_others_wrote_is_shown_as_what_it_is() {
    Page page = settled(desk.open("rita", Screen.WIDE, Desk.effect(desk.hostile)));
    assertThat(page.locator(".effect")).hasAttribute("data-proof", "checked");
    assertThat(page.locator("#asked")).containsText("<img src=x onerror=alert(1)>");
    assertThat(page.locator("#asked .ctl").first()).hasText("U+202E");
    assertThat(page.locator("#outcome pre")).containsText("</script><script>alert(2)</script>");
    assertThat(page.locator("main img, main script")).hasCount(0);
  }

  /** Names cannot hold control characters; a page does not rely on that. */
  @Test
  void no_field_of_a_row_or_of_what_waits_is_believed() {
    String hostile = "\"" + Desk.HOSTILE.replace("\u0007", "\\u0007") + "x".repeat(9000) + "\"";
    Page page = desk.page("rita", Screen.WIDE);
    for (String path : List.of("**/v1/effects?*", "**/v1/approvals?*")) {
      page.route(
          path,
          route ->
              route.fulfill(
                  new Route.FulfillOptions()
                      .setContentType("application/json")
                      .setBody(
                          route
                              .fetch()
                              .text()
                              .replaceAll(
                                  "\"(run|subject|tool|operation|code|reason|surface|role|version)\":\"[^\"]*\"",
                                  "\"$1\":" + Matcher.quoteReplacement(hostile)))));
    }
    page.navigate(desk.gateway.server.url() + "/#/effects");
    assertThat(page.locator(".fxrow .ctl").first()).hasText("U+202E");
    assertThat(page.locator("main img, main script")).hasCount(0);
    assertThat(page.evaluate("document.documentElement.scrollWidth <= innerWidth")).isEqualTo(true);
    page.navigate(desk.gateway.server.url() + "/#/approvals");
    assertThat(page.locator(".wait .ctl").first()).hasText("U+202E");
    page.locator(".wait").first().click();
    assertThat(page.locator(".approval h1 .ctl").first()).hasText("U+202E");
    assertThat(page.locator("main img, main script")).hasCount(0);
  }

  /** A name of a run may have 256 characters, and no place to break. */
  @Test
  void a_long_name_widens_no_page_of_an_effect() {
    String run = "x".repeat(256);
    Envelope request =
        desk.gateway.home.ask("alice").run(run).tool("mail").params("{\"forbidden\":1}").sign();
    desk.gateway.submit(request);
    Page page = settled(desk.open("rita", Screen.PHONE, "#/effects/" + request.id()));
    assertThat(page.locator(".seal-says a")).containsText("xxx");
    for (int width : WIDTHS) {
      page.setViewportSize(width, 844);
      assertThat(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
          .as("at " + width)
          .isEqualTo(true);
    }
  }

  /** At 320 pixels, which are 1280 at 400 %, the date of a run's first effect lay over its time. */
  @Test
  void nothing_lies_over_anything_on_a_runs_page() {
    Screen narrow = new Screen(320, 700, Screen.WIDE.colours());
    Page page = settled(desk.open("alice", narrow, "#/runs/run-1"));
    assertThat(page.locator(".stop .took").first()).containsText("s");
    assertThat(
            page.evaluate(
                """
                [...document.querySelectorAll('.stop .card')].every(card => {
                  const at = document.createRange();
                  at.selectNodeContents(card.querySelector('.when'));
                  const [when, all] = [at.getBoundingClientRect(), card.getBoundingClientRect()];
                  const took = card.querySelector('.took').getBoundingClientRect();
                  return when.right <= took.left && when.bottom <= all.bottom;
                })\
                """))
        .isEqualTo(true);
  }

  @Test
  void live_shows_what_happens_and_a_pause_holds_it_back() {
    Page page = settled(desk.open("rita", Screen.WIDE, "#/live"));
    assertThat(page.locator(".link.open")).isVisible();
    Locator first = page.locator(".fxrow").first();
    desk.ask("alice", "sim", "{\"order\":1}");
    assertThat(first).containsText("sim");
    assertThat(first).containsText("Failed");
    page.keyboard().press("p");
    assertThat(page.locator(".link.paused")).isVisible();
    desk.ask("bob", "mail", "{\"forbidden\":1}");
    assertThat(page.locator(".banner")).containsText("held back");
    assertThat(first).containsText("sim");
    page.keyboard().press("p");
    assertThat(first).containsText("Denied");
  }

  @Test
  void filters_stand_in_the_address() {
    Page page = settled(desk.open("rita", Screen.WIDE, "#/effects"));
    page.keyboard().press("/");
    page.keyboard().type("invoice");
    page.waitForURL("**/#/effects?text=invoice");
    assertThat(page.locator(".fxrow")).hasCount(1);
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Denied")).click();
    page.waitForURL("**/#/effects?text=invoice&verdict=DENY");
    assertThat(page.locator(".empty")).isVisible();
    Page other = settled(desk.open("rita", Screen.WIDE, "#/effects?verdict=DENY&tool=mail"));
    assertThat(other.locator(".fxrow").first()).containsText("Denied");
    assertThat(other.locator("#filter-tool")).hasValue("mail");
  }

  /** The address comes back to the field after a moment, in which a slow machine gets more keys. */
  @Test
  void what_is_typed_while_the_list_narrows_stays() {
    Page page = settled(desk.open("rita", Screen.WIDE, "#/effects"));
    Object typed =
        page.evaluate(
            """
            () => new Promise((done) => {
              const field = document.getElementById('filter-text');
              const type = (text) => {
                field.value = text;
                field.dispatchEvent(new Event('input', { bubbles: true }));
              };
              const replace = history.replaceState;
              history.replaceState = (...address) => {
                history.replaceState = replace;
                history.replaceState(...address);
                type('invo');
                requestAnimationFrame(() => requestAnimationFrame(() => done(field.value)));
              };
              type('inv');
            })
            """);
    assertThat(typed).isEqualTo("invo");
    page.waitForURL("**/#/effects?text=invo");
    page.evaluate("() => { location.hash = '#/effects?text=other'; }");
    assertThat(page.locator("#filter-text")).hasValue("other");
  }

  @Test
  void pages_are_walked_by_keyboard() {
    Page page = settled(desk.open("rita", Screen.WIDE, "#/live"));
    page.keyboard().press("Tab");
    assertThat(page.locator(".skip")).isFocused();
    page.keyboard().press("Enter");
    assertThat(page.locator("main")).isFocused();
    page.keyboard().press("g");
    page.keyboard().press("e");
    page.waitForURL("**/#/effects");
    assertThat(page.locator("main h1")).isFocused();
    page.waitForSelector(".fxrow");
    page.keyboard().press("j");
    page.keyboard().press("j");
    assertThat(page.locator(".fxrow").nth(1)).isFocused();
    page.keyboard().press("k");
    page.keyboard().press("Enter");
    page.waitForURL("**/#/effects/sha256*");
    settled(page); // its heading is another one now
    assertThat(page.locator("main h1")).isFocused();
    assertThat(page).hasTitle(Pattern.compile("mail|sim|calc|pay.* · Writ"));
    page.keyboard().press("?");
    assertThat(page.locator("dialog.help")).isVisible();
    page.keyboard().press("g"); // of the page behind it
    page.keyboard().press("k");
    page.keyboard().press("Escape");
    assertThat(page.locator("dialog.help")).hasCount(0);
    assertThat(page).hasURL(Pattern.compile(".*#/effects/sha256.*"));
    assertThat(page.locator("main h1")).isFocused();
    // WCAG 2.5.3: whoever speaks to the page says what stands there.
    assertThat(page.locator(".person summary"))
        .hasAccessibleName(Pattern.compile(".*language and theme.*rita.*"));
    page.locator(".person summary").press("Enter");
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Keyboard")).press("Enter");
    assertThat(page.locator("dialog.help")).isVisible();
    page.keyboard().press("Escape");
    assertThat(page.locator(".person summary")).isFocused();
    page.keyboard().press("g");
    page.keyboard().press("a");
    page.waitForURL("**/#/approvals");
    assertThat(page).hasTitle("Approvals · Writ");
  }

  @Test
  void letters_that_are_switched_off_do_nothing_until_they_are_on_again() {
    Page page = settled(desk.open("rita", Screen.WIDE, "#/live"));
    page.keyboard().press("?");
    page.locator("dialog.help input[type=checkbox]").uncheck();
    page.keyboard().press("Escape");
    page.reload(); // it is kept
    settled(page);
    for (String letter : List.of("p", "g", "e", "?", "/")) {
      page.keyboard().press(letter);
    }
    assertThat(page.locator(".link.paused")).hasCount(0);
    assertThat(page.locator("dialog.help")).hasCount(0);
    assertThat(page).hasURL(Pattern.compile(".*#/live"));
    page.locator(".person summary").press("Enter");
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Keyboard")).press("Enter");
    page.locator("dialog.help input[type=checkbox]").check();
    page.keyboard().press("Escape");
    page.keyboard().press("Escape"); // the menu
    page.keyboard().press("g");
    page.keyboard().press("e");
    page.waitForURL("**/#/effects");
  }

  @ParameterizedTest
  @ValueSource(strings = {"#/effects", "#/runs/run-1"})
  void a_list_of_any_length_has_few_rows_in_the_page(String address) {
    Page page = desk.page("rita", Screen.WIDE);
    LongRun.serve(page, desk.gateway.get("rita", "/v1/effects?limit=1").text(), 10_000);
    page.navigate(desk.gateway.server.url() + "/" + address);
    page.waitForSelector(".long li");
    assertThat(page.locator(".long li").first()).hasAttribute("aria-setsize", "10000");
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
    assertThat(page.locator(".long li[aria-posinset='10000']")).isVisible();
    assertThat(page.locator(".long li").count()).isLessThan(60);
  }

  /** And back to the address that was asked for. */
  @Test
  void who_is_not_signed_in_sees_nothing_and_comes_back_after_signing_in() {
    Page page = desk.stranger(Screen.PHONE);
    page.navigate(desk.gateway.server.url() + "/" + Desk.effect(desk.denied));
    assertThat(page.locator("main h1")).hasText("Sign in");
    assertThat(page.getByLabel("Token")).isFocused();
    page.keyboard().type("writ_not-a-token");
    page.keyboard().press("Enter");
    assertThat(page.locator("[role=alert]")).isVisible();
    assertThat(page.getByLabel("Token")).hasValue("");
    page.keyboard().type(TestGateway.tokenOf("rita"));
    page.keyboard().press("Enter");
    assertThat(page.locator(".effect")).hasAttribute("data-proof", "checked");
    assertThat(page.evaluate("document.cookie + localStorage.length"))
        .asString()
        .doesNotContain("session");
    // Its session ends while the page stands: the next call finds that out.
    page.context().clearCookies();
    page.evaluate("location.hash = '#/effects'");
    assertThat(page.locator("main h1")).hasText("Sign in");
    page.getByLabel("Token").fill(TestGateway.tokenOf("rita"));
    page.keyboard().press("Enter");
    assertThat(page.locator("main h1")).hasText("Effects");
    page.locator(".person summary").click();
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Sign out").setExact(true))
        .click();
    assertThat(page.locator("main h1")).hasText("Sign in");
  }

  private static String codeOfAlice() {
    return desk.sessions
        .codes()
        .issue(
            new Caller(
                "access", TestKeys.key("alice").verifyingKey().kid(), "acme", "alice", List.of()),
            desk.gateway.home.clock.instant())
        .text();
  }

  @Test
  void an_address_with_a_code_signs_in_once_and_keeps_nothing_of_it() {
    String code = codeOfAlice();
    Page page = desk.stranger(Screen.PHONE);
    page.navigate(desk.gateway.server.url() + "/#/sign-in/" + code);
    assertThat(page.locator("main h1")).hasText("Live");
    assertThat(page.locator(".person")).containsText("alice");
    assertThat(page).hasURL(desk.gateway.server.url() + "/#/live");
    page.goBack();
    assertThat(page.evaluate("history.length + ' ' + location.href"))
        .asString()
        .doesNotContain(code);
    Page other = desk.stranger(Screen.PHONE);
    other.navigate(desk.gateway.server.url() + "/#/sign-in/" + code);
    assertThat(other.locator("main h1")).hasText("Sign in");
    assertThat(other.locator("[role=alert]")).containsText("GWY-095");
    other.getByLabel("Token").fill(TestGateway.tokenOf("rita"));
    other.keyboard().press("Enter");
    other.locator(".person summary").click();
    other
        .getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Sign out").setExact(true))
        .click();
    assertThat(other.locator("main h1")).hasText("Sign in");
    assertThat(other.locator("[role=alert]")).hasCount(0);
  }

  /** Where only the fragment of the address changes, nothing is loaded. */
  @Test
  void a_code_is_taken_in_a_tab_where_the_console_is_open() {
    String code = codeOfAlice();
    Page page = desk.stranger(Screen.PHONE);
    page.navigate(desk.gateway.server.url() + "/#/live");
    assertThat(page.locator("main h1")).hasText("Sign in");
    page.evaluate("code => location.hash = '#/sign-in/' + code", code);
    assertThat(page.locator("main h1")).hasText("Live");
    assertThat(page.locator(".person")).containsText("alice");
    assertThat(page).hasURL(desk.gateway.server.url() + "/#/live");
    Page other = desk.stranger(Screen.PHONE);
    other.navigate(desk.gateway.server.url() + "/#/live");
    assertThat(other.locator("main h1")).hasText("Sign in");
    other.evaluate("code => location.hash = '#/sign-in/' + code", code);
    assertThat(other.locator("[role=alert]")).containsText("GWY-095");
    assertThat(other).hasURL(desk.gateway.server.url() + "/#/live");
  }

  @Test
  void german_is_chosen_and_kept() {
    Page page = settled(desk.open("rita", Screen.WIDE, "#/approvals"));
    page.locator(".person summary").click();
    page.locator(".look select").last().selectOption("de");
    assertThat(page.locator("main h1")).hasText("Genehmigungen");
    assertThat(page.locator("html")).hasAttribute("lang", "de");
    page.locator(".look select").first().selectOption("dark");
    page.reload();
    assertThat(page.locator("main h1")).hasText("Genehmigungen");
    assertThat(page.locator("html")).hasAttribute("data-theme", "dark");
  }

  /** From no key at all to an effect, on a telephone. */
  @Test
  void an_approver_signs_with_a_key_of_the_browser() {
    Envelope asked = desk.ask("alice", "pay", "{\"amount\":99}");
    Page page = settled(desk.open("rita", Screen.PHONE, Desk.approval(asked)));
    assertThat(page.locator(".approval pre")).containsText("\"amount\": 99");
    assertThat(page.locator(".note")).containsText("key of your own");
    page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("Make a key")).click();
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("A key of this browser"))
        .click();
    assertThat(page.locator(".keycard .chip")).hasText("Not enrolled");
    desk.enrolKeyOf(page);
    page.navigate(desk.gateway.server.url() + "/" + Desk.approval(asked));
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Approve")).click();
    assertThat(page.locator(".confirm h2")).isFocused();
    page.locator("textarea[name=reason]").fill(" Agreed with Ann,\n this once. ");
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Sign and approve"))
        .click();
    assertThat(page.locator(".given h1")).hasText("You approved it");
    assertThat(
            desk.gateway.home.events(TestKeys.TENANT, "run-1").stream().map(event -> event.kind()))
        .contains(EventKind.APPROVAL_RECEIVED);
    assertThat(approvals()).contains("\"reason\":\"Agreed with Ann, this once.\"");
    page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("See the effect")).click();
    settled(page);
    assertThat(page.locator(".effect")).hasAttribute("data-proof", "checked");
    assertThat(page.locator(".picture")).containsText("Approved");
  }

  @Test
  void an_approver_sees_the_files_that_an_effect_would_get() {
    byte[] change =
        "--- a/limits\n+++ b/limits\n@@ -1 +1 @@\n-most=10\n+most=99\n"
            .getBytes(StandardCharsets.UTF_8);
    Digest digest = Digest.sha256(change);
    desk.gateway.send(
        desk.gateway
            .as("alice", "/v1/blobs/" + digest)
            .PUT(HttpRequest.BodyPublishers.ofByteArray(change)));
    Envelope asked =
        desk.gateway
            .home
            .ask("alice")
            .run("run-1")
            .tool("pay")
            .input("limits.diff", digest, change.length)
            .sign();
    desk.gateway.submit(asked);
    Page page = settled(desk.open("rita", Screen.PHONE, Desk.approval(asked)));
    assertThat(page.locator(".would .diff .plus")).hasText("+most=99\n");
    assertThat(page.locator(".would .about")).containsText("has the signed digest");
  }

  @Test
  void a_run_is_verified_replayed_and_reported_from_its_page() {
    Page page = settled(desk.open("alice", Screen.WIDE, "#/runs/run-1"));
    for (String[] asked :
        new String[][] {
          {"Verify", "Everything verifies"},
          {"Replay", "Every event is the same again"},
          {"Report", "The report is ready"}
        }) {
      page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(asked[0]).setExact(true))
          .click();
      assertThat(page.locator(".audit .chip")).hasText(asked[1]);
    }
    assertThat(page.locator(".audit a")).hasText("Save the report");
  }

  /** By an authenticator of Chromium's own, which answers as a fingerprint would. */
  @Test
  void an_approver_signs_with_a_passkey() {
    Envelope asked = desk.ask("bob", "pay", "{\"amount\":71}");
    Page page = desk.stranger(Screen.PHONE);
    CDPSession protocol = page.context().newCDPSession(page);
    protocol.send("WebAuthn.enable");
    JsonObject options = new JsonObject();
    options.addProperty("protocol", "ctap2");
    options.addProperty("transport", "internal");
    options.addProperty("hasUserVerification", true);
    options.addProperty("isUserVerified", true);
    JsonObject authenticator = new JsonObject();
    authenticator.add("options", options);
    protocol.send("WebAuthn.addVirtualAuthenticator", authenticator);
    String origin = desk.gateway.server.url().replace("127.0.0.1", "localhost");
    page.navigate(origin + "/#/keys");
    page.locator("#token").fill(TestGateway.tokenOf("rita"));
    page.keyboard().press("Enter");
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("A passkey")).click();
    assertThat(page.locator(".keycard .chip")).hasText("Not enrolled");
    assertThat(page.locator("pre.command")).containsText("\"writ_rp_id\":\"localhost\"");
    desk.enrolKeyOf(page);
    page.navigate(origin + "/" + Desk.approval(asked));
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Reject")).click();
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Sign and reject")).click();
    assertThat(page.locator(".given h1")).hasText("You rejected it");
  }

  /** The approvals of the run, as they were signed. */
  private static String approvals() {
    return desk.gateway.home.events(TestKeys.TENANT, "run-1").stream()
        .filter(event -> event.kind().equals(EventKind.APPROVAL_RECEIVED))
        .map(event -> desk.gateway.home.document(event.body()).payload())
        .map(payload -> new String(payload, StandardCharsets.UTF_8))
        .collect(Collectors.joining("\n"));
  }
}
