package dev.writ.console.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Download;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.AriaRole;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.console.operation.CheckpointView;
import dev.writ.console.page.Browsers.Engine;
import dev.writ.console.page.Desk.Screen;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.Cosignature;
import dev.writ.ledger.note.WitnessKey;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** What an auditor does on the page Audit, in both browsers. */
@ParameterizedClass(name = "{0}")
@EnumSource(Engine.class)
class AnAuditorsPageTest {
  @TempDir static Path dir;
  @Parameter Engine engine;
  private static Desk desk;

  @BeforeParameterizedClassInvocation
  static void start(Engine engine) {
    desk = Desk.with(dir.resolve(engine.name()), engine);
    desk.ask("bob", "mail", "{\"subject\":\"Monthly report\",\"to\":[\"ada@example.com\"]}");
  }

  @AfterParameterizedClassInvocation
  static void stop() {
    desk.close();
  }

  @AfterEach
  void nothingWentWrong() {
    assertThat(desk.closePages()).isEmpty();
  }

  private static void press(Page page, String name) {
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name).setExact(true))
        .click();
  }

  @Test
  void runs_that_were_ticked_are_verified_and_replayed_and_their_results_taken_away()
      throws Exception {
    Page page = desk.open("alice", Screen.WIDE, "#/audit");
    assertThat(page.locator(".ask .primary")).isDisabled();
    page.locator("input[value='run-1']").check();
    press(page, "Start: Verify");
    Locator first = page.locator(".cards .card").first();
    assertThat(first.locator(".chip").first()).hasText("Everything verifies");
    Download csv = page.waitForDownload(() -> first.getByText("Save as CSV").click());
    assertThat(Files.readString(csv.path())).startsWith("\"run\",\"holds\"").contains("\"run-1\"");
    press(page, "Replay");
    press(page, "Start: Replay");
    assertThat(first.locator(".chip").first()).hasText("Every event is the same again");
    // It is still there for who comes back.
    page.reload();
    assertThat(page.locator(".cards .card")).hasCount(2);
    first.getByText("Remove").click();
    assertThat(page.locator(".cards .card")).hasCount(1);
  }

  @Test
  void a_period_takes_the_runs_of_the_reader_and_no_others() {
    Page page = desk.open("bob", Screen.PHONE, "#/audit");
    assertThat(page.locator(".runlist input")).hasCount(1);
    page.locator("input[name=from]").fill("2020-01-01T00:00");
    press(page, "Start: Verify");
    assertThat(page.locator(".cards .card")).hasCount(1);
    assertThat(page.locator(".cards .card")).containsText("run-2");
    assertThat(page.locator(".cards .chip")).hasText("Everything verifies");
    press(page, "Compare");
    assertThat(page.locator(".ask .primary")).isDisabled();
    assertThat(page.locator("input[name=from]")).hasCount(0);
  }

  @Test
  void the_log_is_walked_from_its_beginning_to_now_in_the_browser() {
    Page page = desk.open("alice", Screen.WIDE, "#/audit");
    assertThat(page.locator(".log")).hasAttribute("data-history", "checked");
    assertThat(page.locator(".log")).containsText("Operators and auditors see who cosigns");
    assertThat(page.locator(".auditpage > .lead")).containsText("the runs of acme");
    assertThat(page.getByText("What people read")).hasCount(0);
  }

  /** The page believes a cosignature, and not the server that says that there is one. */
  @Test
  void who_cosigned_the_log_is_verified_in_the_browser() {
    Page none = desk.open("rita", Screen.WIDE, "#/audit");
    assertThat(none.locator(".log")).containsText("This server asks no witness");
    SigningKey key = SigningKey.generateEd25519(new SecureRandom());
    WitnessKey saw = new WitnessKey("one.example/w", key.verifyingKey());
    WitnessKey other =
        new WitnessKey(
            "two.example/w", SigningKey.generateEd25519(new SecureRandom()).verifyingKey());
    Checkpoint note = desk.gateway.home.kernel().checkpoint();
    Instant at = Instant.parse("2026-11-21T12:00:05Z");
    note = note.with(List.of(Cosignature.sign(note, saw.name(), key, at)));
    desk.state.published =
        new CheckpointView(
            Duration.ofSeconds(300),
            1,
            Optional.of(new String(note.toBytes(), StandardCharsets.UTF_8)),
            Optional.of(at),
            List.of(
                new CheckpointView.Witness(
                    saw.toString(), saw.name(), Optional.of(at), Optional.empty()),
                new CheckpointView.Witness(
                    other.toString(),
                    other.name(),
                    Optional.of(at), // so the server says
                    Optional.of(new CheckpointView.Trouble("CLI-103", at)))),
            List.of(new CheckpointView.Place("folder", Optional.of(note.size()), Optional.empty())),
            List.of(new CheckpointView.Stamp("tsa", Optional.empty(), Optional.empty())),
            Optional.empty());
    Page page = desk.open("rita", Screen.WIDE, "#/audit");
    assertThat(page.locator(".log")).hasAttribute("data-history", "checked");
    Locator witnesses = page.locator(".witnesses li");
    assertThat(witnesses.first()).containsText("one.example/w");
    assertThat(witnesses.first()).containsText("saw the log of " + note.size() + " events");
    assertThat(witnesses.last()).containsText("has not cosigned");
    assertThat(witnesses.last()).containsText("CLI-103");
    Page operations = desk.open("rita", Screen.WIDE, "#/operations");
    assertThat(operations.locator(".operations"))
        .containsText("The witness two.example/w does not cosign: CLI-103");
  }

  @Test
  void what_people_read_is_listed_with_each_signature_checked() {
    desk.recordReads();
    desk.gateway.get("rita", "/v1/policy");
    Page page = desk.open("rita", Screen.PHONE, Desk.effect(desk.done));
    assertThat(page.locator(".effect")).hasAttribute("data-proof", "checked");
    page.navigate(desk.gateway.server.url() + "/#/audit");
    page.getByText("What people read").click();
    Locator rows = page.locator("tbody tr");
    assertThat(rows.first()).containsText("Verified here");
    assertThat(page.locator("tbody .chip:not(.t-good)")).hasCount(0);
    assertThat(page.locator(".readspage > .lead")).containsText("of acme");
    assertThat(rows.first()).containsText("rita");
    assertThat(rows.first()).containsText("session");
    press(page, "policy");
    assertThat(rows).hasCount(1);
    assertThat(rows).containsText("token");
    page.reload();
    assertThat(rows).hasCount(1); // the filter stands in the address
    press(page, "parameters");
    rows.locator("a[href*='#/effects/']").first().click();
    assertThat(page.locator(".effect")).hasAttribute("data-proof", "checked");
  }

  /** A server that says that somebody else read it. */
  @Test
  void a_read_whose_signature_does_not_verify_is_not_believed() {
    desk.recordReads();
    desk.gateway.get("rita", "/v1/policy");
    Page page = desk.page("rita", Screen.WIDE);
    page.route(
        "**/v1/reads*",
        route ->
            route.fulfill(
                new Route.FulfillOptions()
                    .setContentType("application/json")
                    .setBody(route.fetch().text().replaceAll("\"sig\":\"....", "\"sig\":\"AAAA"))));
    page.navigate(desk.gateway.server.url() + "/#/audit/reads");
    assertThat(page.locator("tbody .chip").first()).hasText("Does not verify");
    assertThat(page.locator("tbody")).not().containsText("rita");
  }

  @Test
  void who_is_no_auditor_is_told_so() {
    Page page = desk.open("alice", Screen.WIDE, "#/audit/reads");
    assertThat(page.locator(".fault .kicker")).hasText("GWY-141");
  }

  /** A log that had another history in between. */
  @Test
  void a_checkpoint_that_does_not_follow_from_the_one_before_is_found() {
    desk.gateway.get("alice", "/v1/checkpoints/latest");
    desk.ask("alice", "mail", "{\"subject\":\"Another\"}");
    desk.gateway.get("alice", "/v1/checkpoints/latest");
    Page page = desk.page("alice", Screen.WIDE);
    page.route(
        "**/v1/proofs/consistency*",
        route ->
            route.fulfill(
                new Route.FulfillOptions()
                    .setContentType("application/json")
                    .setBody(route.fetch().text().replaceFirst("sha256:.", "sha256:0"))));
    page.route(
        "**/v1/checkpoints?*",
        route ->
            route.fulfill(
                new Route.FulfillOptions()
                    .setContentType("application/json")
                    .setBody(
                        route.fetch().text().replaceFirst("\\\\n[A-Za-z0-9+/]{4}", "\\\\nAAAA"))));
    page.navigate(desk.gateway.server.url() + "/#/audit");
    assertThat(page.locator(".log")).hasAttribute("data-history", "failed");
    assertThat(page.locator(".log .chip").first()).hasText("The log does not hold together");
  }
}
