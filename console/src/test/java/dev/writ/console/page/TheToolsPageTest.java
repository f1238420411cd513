package dev.writ.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.console.page.Browsers.Engine;
import dev.writ.console.page.Desk.Screen;
import dev.writ.executor.governance.ToolValidation;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestGovernance;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestTools;
import dev.writ.gateway.TestGateway;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.governance.RolloutStage;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The page of tools in both browsers: what it shows, to whom, and that a revocation counts. */
@ParameterizedClass(name = "{0}")
@EnumSource(Engine.class)
class TheToolsPageTest {
  private static final String HOSTILE = Desk.HOSTILE.replace("\u0007", "");

  /** The version that is revoked, which no other test looks at. */
  private static final String TO_REVOKE = "1.0.2";

  @TempDir static Path dir;
  @Parameter Engine engine;
  private static Desk desk;

  @BeforeParameterizedClassInvocation
  static void start(Engine engine) {
    desk = Desk.with(dir.resolve(engine.name()), engine);
    TestHome home = desk.gateway.home;
    home.clock.forward(Duration.ofSeconds(1));
    home.clock.stepping(Duration.ofMillis(2));
    home.activate(
        TestGovernance.YAML
            + """
            people:
              - { tenant: acme, subject: rita, roles: [auditor, operator] }
              - { tenant: acme, subject: bob, roles: [developer] }
            """);
    TestGovernance governance = new TestGovernance(home).enrol();
    governance.stage(governance.approved("1.0.0"), RolloutStage.ACTIVE);
    governance.stage(governance.approved("1.0.1"), RolloutStage.ACTIVE);
    governance.stage(governance.approved(TO_REVOKE), RolloutStage.ACTIVE);
    ToolRef draft = draft(home);
    governance.take(governance.submission(draft));
    governance.take(
        governance.validation(draft, new ToolValidation.Finding("TOL-201", HOSTILE, HOSTILE)));
    home.prohibit(HOSTILE, "1/" + HOSTILE);
    desk.ask("alice", "words", "{}");
  }

  private static ToolRef draft(TestHome home) {
    ToolManifest made = TestTools.manifest("words", Determinism.PURE);
    ToolManifest manifest =
        new ToolManifest(
            made.name(),
            "2.0.0",
            made.driver(),
            made.determinism(),
            List.of(
                new ToolManifest.Operation(
                    "do",
                    TestTools.object(
                        "{\"properties\":{\"" + HOSTILE + "\":{\"const\":\"" + HOSTILE + "\"}}}"),
                    made.operations().getFirst().output(),
                    made.operations().getFirst().mediaType())),
            made.capabilities(),
            made.resourcesMax(),
            made.sandboxes(),
            made.files());
    home.tools.register(manifest);
    return manifest.ref();
  }

  @AfterParameterizedClassInvocation
  static void stop() {
    desk.close();
  }

  @AfterEach
  void nothingWentWrong() {
    assertThat(desk.closePages()).isEmpty();
  }

  private static Locator button(Page page, String name) {
    return page.getByRole(
        AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name).setExact(true));
  }

  private static void nothingRan(Page page) {
    assertThat(page.locator("main img, main script")).hasCount(0);
    assertThat(page.evaluate("document.documentElement.scrollWidth <= innerWidth")).isEqualTo(true);
  }

  @Test
  void all_versions_are_listed_and_narrowed_by_the_address() {
    Page page = desk.open("rita", Screen.WIDE, "#/live");
    page.keyboard().press("g");
    page.keyboard().press("t");
    page.waitForURL("**/#/tools");
    assertThat(page.locator("main h1")).hasText("Tools");
    assertThat(page.locator(".fxrow").filter(with("words 1.0.1"))).containsText("Active");
    assertThat(page.locator(".fxrow").filter(with("words 2.0.0"))).containsText("1 finding");
    assertThat(page.locator(".fxrow").filter(with("mail 1.0.0"))).containsText("listed by policy");
    page.keyboard().press("/");
    page.keyboard().type("words");
    assertThat(page.locator(".fxrow")).hasCount(4);
    button(page, "Draft").click();
    page.waitForURL("**/#/tools?stage=draft&text=words");
    assertThat(page.locator(".fxrow")).hasCount(1);
    page.locator(".fxrow").click();
    page.waitForURL("**/#/tools/words/2.0.0");
  }

  private static Locator.FilterOptions with(String text) {
    return new Locator.FilterOptions().setHasText(text);
  }

  @Test
  void a_version_shows_its_review_callers_and_counts() {
    Page page = desk.open("rita", Screen.WIDE, "#/tools/words/1.0.1");
    assertThat(page.locator("#review")).containsText("security 1/1");
    assertThat(page.locator("#review")).containsText("Approved by ada");
    assertThat(page.locator("#callers tbody tr").first()).containsText("alice");
    assertThat(page.locator("#callers")).not().containsText("eve");
    assertThat(page.locator("#counts tbody tr").first()).containsText("1.0.0");
    assertThat(page.locator("#history li").first()).containsText("Staged");
    page.locator("#manifest details summary").first().click();
    assertThat(page.locator("#manifest pre").first()).containsText("\"type\": \"object\"");
  }

  @Test
  void versions_are_compared_and_what_is_hostile_stays_text() {
    Page page = desk.open("rita", Screen.WIDE, "#/tools/words/2.0.0");
    assertThat(page.locator("#review .lines .ctl").first()).hasText("U+202E");
    page.locator("#changes select").selectOption("1.0.0");
    page.waitForURL("**/#/tools/words/2.0.0?from=1.0.0");
    assertThat(page.locator("#changes .card").first()).containsText("recorded");
    assertThat(page.locator("#changes")).containsText("twice");
    assertThat(page.locator("#changes .plus .ctl").first()).hasText("U+202E");
    nothingRan(page);
  }

  @Test
  void what_two_versions_gave_for_the_same_call_is_shown_with_both_effects() {
    TestHome home = desk.gateway.home;
    home.driver.does("words", Behaviours::params);
    called("1.0.0", "{\"said\":\"once\"}");
    called("1.0.0", "{\"said\":\"twice\"}");
    called("1.0.1", "{\"said\":\"twice\"}");
    home.driver.does("words", Behaviours.fails());
    Envelope failed = called("1.0.1", "{\"said\":\"once\"}");
    Page page = desk.open("rita", Screen.PHONE, "#/tools/words/1.0.1?from=1.0.0");
    assertThat(page.locator(".samecalls"))
        .containsText("2 calls were made under both versions. 1 had the same result.");
    assertThat(page.locator(".samecalls tbody tr")).hasCount(1);
    nothingRan(page);
    page.locator(".samecalls tbody a").last().click();
    page.waitForURL("**/" + Desk.effect(failed));
  }

  private static Envelope called(String version, String params) {
    Envelope request =
        desk.gateway
            .home
            .ask("alice")
            .run("run-1")
            .tool("words")
            .version(version)
            .params(params)
            .sign();
    assertThat(desk.gateway.submit(request).header("Writ-Receipt")).isNotEmpty();
    return request;
  }

  @Test
  void a_hostile_name_has_an_address_and_is_text() {
    Page page = desk.open("rita", Screen.PHONE, "#/tools?stage=revoked");
    Locator row = page.locator(".fxrow").filter(with("<img src=x"));
    assertThat(row.locator(".ctl").first()).hasText("U+202E");
    row.click();
    assertThat(page.locator(".note.bad")).containsText("revoked this version");
    assertThat(page.locator("main h1")).containsText("<img src=x onerror=alert(1)>");
    nothingRan(page);
    page.reload();
    assertThat(page.locator(".note.bad")).isVisible();
  }

  @Test
  void who_has_no_such_role_sees_why_and_nothing_else() {
    for (String address : List.of("#/tools", "#/tools/words/1.0.0")) {
      Page page = desk.open("alice", Screen.WIDE, address);
      assertThat(page.locator(".fault .kicker")).hasText("GWY-129");
      assertThat(page.locator(".fxrow, #callers, #revoke")).hasCount(0);
    }
    Page developer = desk.open("bob", Screen.WIDE, "#/tools/words/1.0.0");
    assertThat(developer.locator("#callers")).isVisible();
    assertThat(developer.locator("#counts, #revoke")).hasCount(0);
  }

  /** A key that nobody enrolled signs nothing; once it is an operator's, the version is gone. */
  @Test
  void an_operator_revokes_with_a_key_of_the_browser() {
    Page page = desk.open("rita", Screen.PHONE, "#/tools/words/" + TO_REVOKE);
    assertThat(page.locator("#revoke .note")).containsText("operator’s key");
    page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("Make a key")).click();
    page.locator(".make select").selectOption("operator");
    button(
            page,
            "A key of this browser Ed25519, made here. It cannot be copied, and is lost with this"
                + " browser’s data.")
        .click();
    assertThat(page.locator("pre.command")).containsText("--role 'operator'");
    assertThat(page.locator("pre.command")).not().containsText("--tenant");
    page.navigate(desk.gateway.server.url() + "/#/tools/words/" + TO_REVOKE);
    button(page, "Revoke this version").click();
    assertThat(page.locator(".confirm h3")).isFocused();
    page.locator("input[name=version]").fill("1.0.0");
    assertThat(button(page, "Sign and revoke")).isDisabled();
    page.locator("input[name=version]").fill(TO_REVOKE);
    button(page, "Sign and revoke").click();
    assertThat(page.locator("#revoke .fault .kicker")).hasText("CAN-052");
    assertThat(runs(TO_REVOKE)).as("a key that nobody enrolled").isTrue();

    desk.enrolOperatorKeyOf(page);
    button(page, "Sign and revoke").click();
    assertThat(page.locator(".note.bad")).containsText("revoked this version");
    assertThat(page.locator(".note.bad")).containsText("rita");
    assertThat(page.locator("#history li").first()).containsText("Revoked");
    assertThat(page.locator("#revoke")).hasCount(0);
    assertThat(runs(TO_REVOKE)).isFalse();
    assertThat(runs("1.0.0")).as("another version").isTrue();
    assertThat(desk.gateway.home.kinds("writ", "system").getLast())
        .isEqualTo(EventKind.TOOL_REVOKED);
  }

  private static boolean runs(String version) {
    Envelope asked =
        desk.gateway.home.ask("alice").run("run-1").tool("words").version(version).sign();
    TestGateway.Reply reply = desk.gateway.submit(asked);
    return reply.status() == 200 && reply.text().contains("\"receipt\"");
  }
}
