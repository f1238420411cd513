package dev.writ.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.Cookie;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.console.page.Browsers.Engine;
import dev.writ.console.page.Desk.Screen;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestKeys;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.http.auth.Caller;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a page says is of its own address, whole, and so now. */
class WhatIsShownIsWhatIsSignedTest {
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

  private static void go(Page page, String address) {
    page.evaluate("address => { location.hash = address; }", address);
    page.waitForURL("**/" + address);
  }

  private static Locator button(Page page, String name) {
    return page.getByRole(
        AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name).setExact(true));
  }

  private static void withKey(Page page) {
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("A key of this browser"))
        .click();
    assertThat(page.locator(".keycard .chip")).hasText("Not enrolled");
    desk.enrolKeyOf(page);
    page.reload();
    assertThat(page.locator(".keycard .chip")).hasText("Enrolled");
  }

  /** As by a link of a message, which opens in the tab that is there. */
  @Test
  void an_approval_has_nothing_of_the_one_that_was_open_before() {
    Envelope first = desk.ask("bob", "pay", "{\"amount\":501}");
    Envelope second = desk.ask("bob", "pay", "{\"amount\":502}");
    Page page = desk.open("rita", Screen.WIDE, "#/keys");
    withKey(page);
    go(page, Desk.approval(first));
    button(page, "Approve").click();
    page.locator("textarea[name=reason]").fill("the first is fine");
    go(page, Desk.approval(second));
    assertThat(page.locator(".would")).containsText("502");
    assertThat(page.locator(".confirm")).hasCount(0);
    button(page, "Approve").click();
    assertThat(page.locator("textarea[name=reason]")).hasValue("");
    button(page, "Sign and approve").click();
    assertThat(page.locator(".given h1")).hasText("You approved it");
    go(page, Desk.approval(first));
    assertThat(page.locator(".would")).containsText("501");
    assertThat(page.locator(".given, .confirm")).hasCount(0);
    assertThat(button(page, "Approve")).isVisible();
  }

  /** On a small telephone the button that signs comes to lie under the finger. */
  @Test
  void a_double_click_signs_nothing() {
    Envelope asked = desk.ask("bob", "pay", "{\"amount\":505}");
    Page page = desk.open("rita", new Screen(390, 667, Screen.WIDE.colours()), "#/keys");
    withKey(page);
    go(page, Desk.approval(asked));
    button(page, "Approve").dblclick();
    assertThat(page.locator(".confirm h2")).hasText("Approve this?");
    assertThat(button(page, "Sign and approve")).isEnabled();
    assertThat(page.locator(".given")).hasCount(0);
    assertThat(desk.gateway.home.kinds("acme", "run-2").getLast()).isEqualTo("decision.made");
    button(page, "Sign and approve").click();
    assertThat(page.locator(".given h1")).hasText("You approved it");
  }

  @Test
  void what_somebody_else_has_answered_is_not_offered_any_more() {
    Envelope asked = desk.ask("bob", "pay", "{\"amount\":503}");
    Page page = desk.open("rita", Screen.WIDE, Desk.approval(asked));
    assertThat(page.locator(".approval")).containsText("It has waited");
    desk.gateway.home.reject(asked, "roy");
    assertThat(page.locator(".approval .note").first()).containsText("does not wait any more");
    assertThat(page.locator(".would")).containsText("503");
    assertThat(page.locator(".word, .confirm")).hasCount(0);
    assertThat(page.locator(".approval")).not().containsText("It has waited");
  }

  /** The list has it, and its run stays open, as long as nobody said anything. */
  @Test
  void what_waited_for_too_long_can_only_be_rejected() {
    Envelope asked = desk.ask("bob", "pay", "{\"amount\":506}");
    Page page = desk.open("rita", Screen.WIDE, "#/keys");
    withKey(page);
    Instant until = desk.gateway.home.clock.instant().plusSeconds(120);
    page.route(
        "**/v1/approvals?*",
        route ->
            route.fulfill(
                new Route.FulfillOptions()
                    .setContentType("application/json")
                    .setBody(
                        route
                            .fetch()
                            .text()
                            .replaceAll(
                                "\"waits_until\":\"[^\"]*\"",
                                "\"waits_until\":\"" + until + "\""))));
    go(page, Desk.approval(asked));
    button(page, "Approve").click();
    assertThat(button(page, "Sign and approve")).isEnabled();
    desk.gateway.home.clock.forward(Duration.ofSeconds(150));
    page.clock().fastForward(150_000);
    assertThat(page.locator(".approval .note").first()).containsText("Its time is over");
    assertThat(page.locator(".confirm")).hasCount(0);
    assertThat(button(page, "Approve")).hasCount(0);
    go(page, "#/approvals");
    assertThat(page.locator(".wait:has-text('506') .when")).containsText("too late");
    go(page, Desk.approval(asked));
    button(page, "Reject").click();
    button(page, "Sign and reject").click();
    assertThat(page.locator(".given h1")).hasText("You rejected it");
  }

  @Test
  void what_waits_where_its_tenant_has_left_can_not_be_answered() {
    Envelope asked = desk.ask("bob", "pay", "{\"amount\":507}");
    Page page = desk.open("rita", Screen.WIDE, "#/keys");
    withKey(page);
    page.route(
        "**/v1/approvals?*",
        route ->
            route.fulfill(
                new Route.FulfillOptions()
                    .setContentType("application/json")
                    .setBody(
                        route
                            .fetch()
                            .text()
                            .replace("\"network\":", "\"moved_to\":2,\"network\":"))));
    go(page, "#/approvals");
    assertThat(page.locator(".wait:has-text('507') .when")).containsText("moved");
    go(page, Desk.approval(asked));
    assertThat(page.locator(".approval .note").first()).containsText("moved to another cell");
    assertThat(button(page, "Approve")).hasCount(0);
    assertThat(button(page, "Reject")).hasCount(0);
  }

  @Test
  void a_yes_that_came_too_late_is_not_shown_as_one_that_counts() {
    Envelope asked = desk.ask("bob", "pay", "{\"amount\":507}");
    Page page = desk.open("rita", Screen.WIDE, "#/keys");
    withKey(page);
    go(page, Desk.approval(asked));
    button(page, "Approve").click();
    page.route(
        "**/v1/approvals",
        route ->
            route.fulfill(
                new Route.FulfillOptions()
                    .setContentType("application/json")
                    .setBody("{\"verdict\":\"DENY\"}")));
    button(page, "Sign and approve").click();
    assertThat(page.locator(".given .note.bad")).containsText("It is refused all the same");
  }

  private static String waiting(List<String> ids, String after) {
    List<String> page = ids.stream().filter(id -> id.compareTo(after) > 0).limit(200).toList();
    String rows =
        page.stream()
            .map(id ->
                "{\"effect\":{\"operation\":\"do\",\"params\":{},\"tool\":\"pay\"},\"request_id\":\""
                    + id
                    + "\",\"subject\":\"bob\",\"waiting_since\":\"2026-11-21T12:00:00.000Z\"}")
            .collect(Collectors.joining(","));
    String next =
        page.isEmpty() || page.getLast().equals(ids.getLast())
            ? ""
            : ",\"next_after\":\"" + page.getLast() + "\"";
    return "{\"my_roles\":[\"reviewer\"],\"waiting\":[" + rows + "]" + next + "}";
  }

  /** Also where more wait than the page asks for at first. */
  @Test
  void further_pages_of_what_waits_are_as_they_are_now() {
    List<String> ids =
        new CopyOnWriteArrayList<>(
            IntStream.range(1000, 1300).mapToObj(i -> "sha256:" + i).toList());
    Page page = desk.page("rita", Screen.WIDE);
    page.route(
        "**/v1/approvals?*",
        route -> {
          String after = route.request().url().replaceFirst("^.*[?&]after=", "after=");
          route.fulfill(
              new Route.FulfillOptions()
                  .setContentType("application/json")
                  .setBody(
                      waiting(
                          ids,
                          after.startsWith("after=")
                              ? after.substring(6).replaceFirst("&.*", "").replace("%3A", ":")
                              : "")));
        });
    page.navigate(desk.gateway.server.url() + "/#/approvals");
    assertThat(page.locator(".title .count")).hasText("200+");
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
    assertThat(page.locator(".title .count")).hasText("300");
    ids.subList(0, 10).clear();
    page.clock().fastForward(11_000);
    assertThat(page.locator(".title .count")).hasText("290");
    page.navigate(desk.gateway.server.url() + "/#/approvals/sha256:1299");
    assertThat(page.locator("main h1")).containsText("pay");
    ids.removeLast();
    page.clock().fastForward(11_000);
    assertThat(page.locator(".approval .note").first()).containsText("does not wait any more");
  }

  private static void signIn(Page page, String who) {
    page.getByLabel("Token").fill(TestGateway.tokenOf(who));
    page.keyboard().press("Enter");
    assertThat(page.locator(".person")).containsText(who);
  }

  /** All tabs of a browser have one session. */
  @Test
  void who_is_named_is_who_is_signed_in_in_this_browser() {
    Page page = desk.stranger(Screen.WIDE);
    page.navigate(desk.gateway.server.url() + "/#/effects");
    signIn(page, "rita");
    Page other = page.context().newPage();
    other.navigate(desk.gateway.server.url() + "/#/effects");
    other.locator(".person summary").click();
    button(other, "Sign out").click();
    signIn(other, "deputy");
    page.evaluate("dispatchEvent(new Event('focus'))");
    assertThat(page.locator(".person")).containsText("deputy");
    assertThat(page.locator(".person")).not().containsText("rita");
  }

  /** Of a browser that several people use. */
  @Test
  void a_key_that_somebody_else_made_in_this_browser_is_not_ones_own() {
    Page page = desk.stranger(Screen.WIDE);
    page.navigate(desk.gateway.server.url() + "/#/keys");
    signIn(page, "rita");
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("A key of this browser"))
        .click();
    assertThat(page.locator(".keycard .chip")).hasText("Not enrolled");
    page.locator(".person summary").click();
    button(page, "Sign out").click();
    signIn(page, "deputy");
    assertThat(page.locator(".keycard .chip")).hasText("Somebody else’s");
    assertThat(page.locator(".keycard")).containsText("rita");
    assertThat(page.locator(".keycard pre")).hasCount(0);
  }

  /** A difference of two files is shown line by line; a long line is no place to hide. */
  @Test
  void what_is_cut_has_a_button_for_the_rest() {
    String line = "+" + "x".repeat(1200) + " LAST";
    Envelope asked =
        desk.ask("bob", "pay", "{\"patch\":\"--- a\\n+++ b\\n@@ -1 +1 @@\\n" + line + "\\n\"}");
    Page page = desk.open("rita", Screen.WIDE, Desk.approval(asked));
    Locator plus = page.locator(".would .diff .plus");
    assertThat(plus).hasCount(1);
    assertThat(plus).not().containsText("LAST");
    plus.getByRole(AriaRole.BUTTON).click();
    assertThat(plus).containsText("LAST");
  }

  @Test
  void each_character_that_would_not_be_seen_is_named() {
    Envelope asked = desk.ask("bob", "pay", "{\"to\":\"a\u2800b\uD834\uDD73c\uD82F\uDCA0d\"}");
    Page page = desk.open("rita", Screen.WIDE, Desk.approval(asked));
    assertThat(page.locator(".would .ctl")).hasText(new String[] {"U+2800", "U+1D173", "U+1BCA0"});
  }

  /** The columns and rows of a value are a table; its other members stand below. */
  @Test
  void a_table_hides_no_member_that_is_none_of_it() {
    Page page = desk.open("rita", Screen.WIDE, Desk.effect(desk.done));
    assertThat(page.locator("#outcome table tbody tr")).hasCount(2);
    assertThat(page.locator("#outcome pre").first()).hasText("{ \"ok\": true }");
  }

  private static Locator output(String json) {
    desk.gateway.home.driver.does("sim", Behaviours.gives(json, Behaviours.JSON));
    Envelope asked = desk.ask("alice", "sim", "{}");
    desk.gateway.home.driver.does("sim", Behaviours.fails());
    Page page = desk.open("rita", Screen.WIDE, Desk.effect(asked));
    assertThat(page.locator("#outcome .content")).isVisible();
    return page.locator("#outcome .content");
  }

  @Test
  void a_long_table_has_a_button_for_the_rest_of_its_rows() {
    Locator rows = output("{\"columns\":[\"n\"],\"rows\":[" + "[1],".repeat(249) + "[2]]}");
    assertThat(rows.locator("tbody tr")).hasCount(200);
    rows.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Show 50 more")).click();
    assertThat(rows.locator("tbody tr")).hasCount(250);
    assertThat(rows.locator(".cut")).hasCount(0);
  }

  /** A browser would draw it for a minute, in which its reader can do nothing. */
  @Test
  void what_has_too_many_parts_is_one_text() {
    String many = "0,".repeat(100);
    for (String value :
        List.of(
            "{\"columns\":[" + many + "0],\"rows\":[]}",
            "{\"columns\":[0],\"rows\":[[" + many + "0]]}",
            "{\"content\":["
                + "{\"text\":\"\",\"type\":\"text\"},".repeat(100)
                + "{\"text\":\"\",\"type\":\"text\"}]}")) {
      Locator shown = output(value);
      assertThat(shown.locator("pre")).hasCount(1);
      assertThat(shown.locator("table")).hasCount(0);
    }
    StringBuilder params = new StringBuilder();
    for (int i = 0; i < 101; i++) {
      params.append(i == 0 ? "" : ",").append("\"p").append(1000 + i).append("\":\"");
      params.append("x".repeat(41)).append("\"");
    }
    Envelope asked = desk.ask("bob", "pay", "{" + params + "}");
    Page page = desk.open("rita", Screen.WIDE, Desk.approval(asked));
    assertThat(page.locator(".would pre")).hasCount(1);
    assertThat(page.locator(".would pre")).containsText("\"p1100\"");
  }

  /** Where there is little height, what is approved is not behind the buttons. */
  @Test
  void buttons_cover_nothing_on_a_small_screen() {
    Envelope asked = desk.ask("bob", "pay", "{\"amount\":504}");
    Page page = desk.open("rita", new Screen(320, 256, Screen.WIDE.colours()), "#/keys");
    withKey(page);
    go(page, Desk.approval(asked));
    page.waitForSelector(".approval > .word");
    assertThat(page.locator(".approval > .word")).hasCSS("position", "static");
    page.setViewportSize(390, 844);
    assertThat(page.locator(".approval > .word")).hasCSS("position", "sticky");
  }

  /** A space is no plus: the API takes a plus for one. */
  @Test
  void a_run_has_its_effects_whatever_its_name_is() {
    Envelope asked =
        desk.gateway
            .home
            .ask("alice")
            .run("<b> of the + run")
            .tool("mail")
            .params("{\"subject\":\"two words\"}")
            .sign();
    desk.gateway.submit(asked);
    Page page = desk.open("rita", Screen.WIDE, "#/runs/%3Cb%3E%20of%20the%20%2B%20run");
    assertThat(page.locator(".long li")).hasCount(1);
    go(page, "#/effects?text=two+words");
    assertThat(page.locator(".fxrow")).hasCount(1);
  }

  @Test
  void a_run_whose_name_is_a_step_in_a_path_has_its_page() {
    for (String run : List.of(".", "..")) {
      desk.gateway.submit(desk.gateway.home.ask("alice").run(run).tool("mail").sign());
      Page page = desk.open("rita", Screen.WIDE, "#/runs/" + run);
      assertThat(page.locator(".long li")).hasCount(1);
      assertThat(page.locator(".facts")).containsText("Receipts");
      Object got =
          page.evaluate(
              "async () => (await fetch(document.querySelector('.title a.button').href)).status");
      assertThat(got).isEqualTo(200);
    }
  }

  /** Whoever gets the address sees the same effects, wherever he is. */
  @Test
  void times_of_a_filter_are_instants_in_the_address() {
    Page page = desk.open("rita", Screen.WIDE, "#/effects?from=2026-11-21T12:00:00.000Z");
    assertThat(page.locator("#filter-from")).hasValue("2026-11-21T12:00");
    page.locator("#filter-from").fill("2026-11-21T13:30");
    page.waitForURL("**/#/effects?from=2026-11-21T13%3A30%3A00.000Z");
    assertThat(page.locator(".empty")).isVisible();
    go(page, "#/effects?from=yesterday");
    assertThat(page.getByRole(AriaRole.ALERT)).containsText("GWY-018");
    assertThat(page.locator(".fxrow")).hasCount(0);
  }

  /** Whoever has a key can have such an address made, and send it to anybody. */
  @Test
  void nobody_becomes_somebody_else_by_opening_an_address() {
    String code =
        desk.sessions
            .codes()
            .issue(
                new Caller(
                    "access",
                    TestKeys.key("alice").verifyingKey().kid(),
                    "acme",
                    "alice",
                    List.of()),
                desk.gateway.home.clock.instant())
            .text();
    Page page = desk.page("bob", Screen.WIDE);
    page.navigate(desk.gateway.server.url() + "/#/sign-in/" + code);
    assertThat(page.locator("main h1")).hasText("Somebody is signed in here");
    assertThat(page.locator("main")).containsText("bob");
    assertThat(page).hasURL(desk.gateway.server.url() + "/#/live");
    assertThat(
            page.evaluate("async () => (await (await fetch('/console/session')).json()).subject"))
        .isEqualTo("bob");
    button(page, "Stay signed in").click();
    assertThat(page.locator(".person")).containsText("bob");
    page.navigate("about:blank");
    page.navigate(desk.gateway.server.url() + "/#/sign-in/" + code);
    button(page, "Sign in by the address").click();
    assertThat(page.locator(".person")).containsText("alice");
  }

  /** Both are seen at once; nobody looks away and back. */
  @Test
  void a_tab_becomes_who_another_one_signed_in() {
    Page page = desk.open("rita", Screen.WIDE, "#/approvals");
    assertThat(page.locator(".person")).containsText("rita");
    Page bobs = desk.open("bob", Screen.WIDE, "#/keys");
    page.context()
        .addCookies(
            bobs.context().cookies().stream()
                .map(c ->
                    new Cookie(c.name, c.value)
                        .setUrl(desk.gateway.server.url() + "/")
                        .setHttpOnly(true))
                .toList());
    assertThat(page.locator(".person")).containsText("bob");
    assertThat(page.locator("main h1")).hasText("Approvals");
  }

  @Test
  void who_is_not_signed_out_is_told() {
    Page page = desk.page("bob", Screen.WIDE);
    page.route(
        "**/console/session",
        route -> {
          if (route.request().method().equals("DELETE")) {
            route.fulfill(new Route.FulfillOptions().setStatus(503).setBody("{}"));
          } else {
            route.resume();
          }
        });
    page.navigate(desk.gateway.server.url() + "/#/keys");
    page.locator(".person summary").click();
    button(page, "Sign out").click();
    assertThat(page.locator(".person .note.bad")).containsText("You are still signed in");
    page.unroute("**/console/session");
    page.context().clearCookies(); // it is over meanwhile
    button(page, "Sign out").click();
    assertThat(page.locator("main h1")).hasText("Sign in");
  }

  /** The page that was there before would stand under another's address. */
  @Test
  void a_page_that_cannot_be_drawn_says_so_and_leaves_the_others_alone() {
    Page page = desk.page("rita", Screen.WIDE);
    page.route(
        "**/v1/runs?*",
        route ->
            route.fulfill(
                new Route.FulfillOptions().setContentType("application/json").setBody("{}")));
    page.navigate(desk.gateway.server.url() + "/#/audit");
    assertThat(page.getByRole(AriaRole.ALERT)).containsText("That did not work");
    go(page, "#/effects");
    assertThat(page.locator("main h1")).hasText("Effects");
    assertThat(page.locator(".fxrow").first()).isVisible();
    List<String> faults = desk.closePages();
    assertThat(faults).isNotEmpty().allMatch(fault -> fault.contains("TypeError"));
  }
}
