package dev.writ.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.SelectOption;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.console.page.Browsers.Engine;
import dev.writ.console.page.Desk.Screen;
import dev.writ.gateway.TestGateway;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The policy's page in both browsers: from a text that is typed to a policy in force. */
@ParameterizedClass(name = "{0}")
@EnumSource(Engine.class)
class ThePolicyPageTest {
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

  @AfterEach
  void nothingWentWrong() {
    assertThat(desk.closePages()).isEmpty();
  }

  private static Page policy() {
    Page page = desk.open("rita", Screen.WIDE, "#/policy");
    assertThat(chip(page)).hasText("This text is in force");
    return page;
  }

  private static Locator chip(Page page) {
    return page.locator(".standing .chip");
  }

  private static Locator text(Page page) {
    return page.locator("#policy-text");
  }

  private static Locator button(Page page, String name) {
    return page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name));
  }

  /**
   * Types something else in one place; the server looks at it a moment later. Firefox takes ten
   * seconds of a processor where the whole text is filled in anew.
   */
  private static String change(Page page, String from, String to) {
    String before = text(page).inputValue();
    assertThat(before).containsOnlyOnce(from);
    int at = before.indexOf(from);
    text(page).focus();
    text(page)
        .evaluate(
            "(field, [from, to]) => field.setSelectionRange(from, to)",
            List.of(at, at + from.length()));
    page.keyboard().insertText(to);
    String after = before.replace(from, to);
    assertThat(text(page)).hasValue(after);
    return after;
  }

  @Test
  void a_fault_is_marked_at_its_line_as_it_is_typed() {
    Page page = policy();
    String typed = change(page, "cpu_ms: 50000", "cpu_ms: soon");
    long line = typed.substring(0, typed.indexOf("soon")).lines().count();
    assertThat(page.locator(".gutter .marked").first()).hasText(String.valueOf(line));
    assertThat(chip(page)).hasText("The text is no policy yet");
    assertThat(page.locator("#policy-text-faults")).containsText("GRD-504");
    assertThat(page.locator("#policy-text-faults")).containsText("/roles/worker/resources/cpu_ms");
    assertThat(button(page, "Judge again")).isDisabled();
    change(page, "pending_max_s: ", "pending_max_s: -");
    assertThat(page.locator(".gutter .marked")).hasCount(2);
    assertThat(page.locator("#policy-text-faults")).containsText("/limits/pending_max_s");
    button(page, "Line " + line).click();
    assertThat(text(page)).isFocused();
    button(page, "Back to the text in force").click();
    assertThat(chip(page)).hasText("This text is in force");
    assertThat(page.locator(".gutter .marked")).hasCount(0);
  }

  private static void comeBackAs(Page page, String who) {
    page.context().clearCookies(); // the session ends; the next call finds that out
    page.evaluate("location.hash = '#/effects'");
    assertThat(page.locator("main h1")).hasText("Sign in");
    page.getByLabel("Token").fill(TestGateway.tokenOf(who));
    page.keyboard().press("Enter");
    assertThat(page.locator("main h1")).hasText("Effects");
    page.evaluate("location.hash = '#/policy'");
  }

  /** Sessions end by themselves, too: its author comes back to the text, and nobody else does. */
  @Test
  void a_text_that_is_being_written_is_its_authors() {
    Page page = policy();
    change(page, "cpu_ms: 50000", "cpu_ms: 50001");
    comeBackAs(page, "rita");
    assertThat(text(page)).hasValue(Pattern.compile("cpu_ms: 50001"));
    comeBackAs(page, "deputy");
    assertThat(chip(page)).hasText("This text is in force");
    assertThat(page.evaluate("sessionStorage.length")).isEqualTo(0);
  }

  @Test
  void what_a_text_holds_is_text() {
    Page page = policy();
    text(page).fill("name: " + Desk.HOSTILE + "\n" + Desk.HOSTILE + ": 1\n");
    assertThat(chip(page)).hasText("The text is no policy yet");
    assertThat(page.locator("#policy-text-faults")).containsText("GRD-5");
    assertThat(page.locator("main img, main script")).hasCount(0);
  }

  @Test
  void what_would_have_been_decided_otherwise_is_a_table() {
    Page page = policy();
    change(page, "!has(params.forbidden)", "has(params.forbidden)");
    assertThat(chip(page)).hasText("A sound policy, not in force");
    button(page, "Judge again").click();
    Locator rows = page.locator(".whatif tbody tr");
    assertThat(rows).hasCount(2);
    assertThat(rows.first()).containsText("bob");
    assertThat(rows.first()).containsText("Denied GRD-102");
    assertThat(rows.last()).containsText("Allowed");
    assertThat(rows.last().locator("a")).hasAttribute("href", Desk.effect(desk.done));
  }

  @Test
  void a_policy_is_proposed_and_its_cases_are_run() {
    Page page = policy();
    button(page, "Propose from what was allowed").click();
    assertThat(chip(page)).hasText("A sound policy, not in force");
    button(page, "Run the cases").click();
    assertThat(page.locator(".cases .cards .chip.t-good").first()).hasText("As expected");
    assertThat(page.locator(".cases .cards .chip.t-bad")).hasCount(0);
  }

  @Test
  void one_effect_is_judged_again_under_an_earlier_policy_and_under_what_is_being_written() {
    Page page = desk.open("rita", Screen.WIDE, Desk.effect(desk.denied));
    page.locator("#other select").selectOption(new SelectOption().setLabel("Version 1"));
    button(page, "Judge again").click();
    assertThat(page.locator("#other [role=status]")).containsText("judged the same");
    assertThat(page.locator("#other .tree")).containsText("params.forbidden");
    page.evaluate("location.hash = '#/policy'");
    assertThat(chip(page)).isVisible();
    change(page, "!has(params.forbidden)", "has(params.forbidden)");
    page.evaluate("address => { location.hash = address; }", Desk.effect(desk.denied));
    button(page, "Judge again").click();
    assertThat(page.locator("#other [role=status]")).containsText("judged otherwise");
    assertThat(page.locator("#other [role=status] .chip").last()).hasText("Allowed");
    page.evaluate("location.hash = '#/policy'");
    assertThat(chip(page)).hasText("A sound policy, not in force");
    button(page, "Back to the text in force").click();
    assertThat(chip(page)).hasText("This text is in force");
    page.evaluate("address => { location.hash = address; }", Desk.effect(desk.denied));
    assertThat(page.locator("#other select")).not().containsText("page Policy");
  }

  @Test
  void versions_are_compared_line_by_line() {
    Page page = policy();
    assertThat(page.locator(".history tbody tr").first()).containsText("owner");
    assertThat(
            page.locator(".history .diff .plus")
                .filter(new Locator.FilterOptions().setHasText("people"))
                .first())
        .isVisible();
  }

  /** What an operator would sign, of a key that the page made. */
  private static void enrolOwner(Page page) {
    String jwk =
        (String)
            page.evaluate(
                "async () => { const k = await import('/console/parts/keys.mjs');"
                    + " return JSON.stringify(k.publicJwk((await k.listKeys())[0])); }");
    String trusted =
        jwk.replaceFirst(
            "}$",
            ",\"writ_not_before\":\"2026-01-01T00:00:00.000Z\",\"writ_role\":\"policy-owner\","
                + "\"writ_subject\":\"rita\"}");
    desk.gateway.home.enrol(
        TrustedKey.fromJson("key", Jcs.parse(trusted.getBytes(StandardCharsets.UTF_8))));
  }

  private static void makeKey(Page page) {
    page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("Make a key")).click();
    page.locator(".make select").selectOption("policy-owner");
    button(page, "A key of this browser").click();
    assertThat(page.locator("pre.command")).containsText("--role 'policy-owner'");
  }

  private static void back(Page page) {
    page.navigate(desk.gateway.server.url() + "/#/policy");
    assertThat(chip(page)).hasText("This text is in force");
  }

  @Test
  void the_owner_signs_in_the_browser_and_the_policy_is_in_force() {
    Page page = policy();
    makeKey(page);
    back(page);
    long version = desk.gateway.home.policy().version();
    change(page, "limit: 100000,", "limit: 77777,");
    // A key that nobody enrolled puts nothing in force.
    button(page, "Look at what would be signed").click();
    assertThat(page.locator(".confirm h2")).isFocused();
    assertThat(page.locator(".confirm .diff .plus")).containsText(new String[] {"77777"});
    button(page, "Sign and put in force").click();
    assertThat(page.locator(".activate .fault")).containsText("CAN-052");
    assertThat(desk.gateway.home.policy().version()).isEqualTo(version);
    enrolOwner(page);
    button(page, "Sign and put in force").click();
    assertThat(page.locator(".policy > p .chip")).hasText("In force: version " + (version + 1));
    assertThat(chip(page)).hasText("This text is in force");
    assertThat(page.locator(".history tbody tr").first()).containsText("rita");
    assertThat(desk.gateway.home.policy().version()).isEqualTo(version + 1);
    assertThat(desk.gateway.home.policy().toJson().toString()).contains("77777");
  }

  /** The server says one digest and sends another document. */
  @Test
  void what_is_not_what_the_server_says_is_not_signed() {
    Page page = policy();
    makeKey(page);
    page.addInitScript(
        """
        {
          const real = window.fetch;
          window.fetch = async (url, options) => {
            const answer = await real(url, options);
            if (!String(url).endsWith('/v1/policy-checks')) return answer;
            const text = await answer.text();
            return new Response(text.replace(/("document":.*?"limit":)4444/, (_, before) => before + '5555'), {headers: answer.headers});
          };
        }
        """);
    page.reload(); // with the script
    page.navigate(desk.gateway.server.url() + "/#/policy");
    assertThat(chip(page)).isVisible();
    String limit = text(page).inputValue().contains("limit: 77777,") ? "77777" : "100000";
    change(page, "limit: " + limit + ",", "limit: 4444,");
    assertThat(chip(page)).hasText("A sound policy, not in force");
    button(page, "Look at what would be signed").click();
    assertThat(page.locator(".confirm [role=alert]")).containsText("Nothing is signed");
    assertThat(button(page, "Sign and put in force")).isDisabled();
  }

  @Test
  void who_has_no_right_to_it_has_no_such_page() {
    Page page = desk.open("alice", Screen.WIDE, "#/policy");
    assertThat(page.locator("main h1")).hasText("Nothing here");
    assertThat(page.locator("nav.pages")).not().containsText("Policy");
    page.navigate(desk.gateway.server.url() + "/#/live");
    page.keyboard().press("g");
    page.keyboard().press("p");
    assertThat(page).hasURL(desk.gateway.server.url() + "/#/live");
  }
}
