package dev.writ.cli;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Download;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.AriaRole;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.client.ClientSettings;
import dev.writ.client.VerifiedOutcome;
import dev.writ.client.WritClient;
import dev.writ.console.page.Browsers;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.EffectDraft;
import dev.writ.guardian.document.Input;
import java.io.BufferedReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The walk of spec/console.md, *The first five minutes*: a new installation, its server, an agent
 * that is allowed, denied and made to wait, an approval on a telephone, a replay and a report.
 * Pictures of it are in {@code target/walk}.
 */
class TheFirstFiveMinutesTest {
  private static final Path PICTURES = Path.of("target/walk");

  @TempDir Path dir;

  private Path home() {
    return dir.resolve("writ-data");
  }

  private String done(String... arguments) {
    return new OneHome(home()).done(arguments).out();
  }

  @Test
  void aNewUserSeesApprovesAndProvesIt() throws Exception {
    done("init");
    ProcessBuilder builder =
        new ProcessBuilder(OwnProcess.writ("--home", home().toString(), "serve", "--port", "0"));
    builder.environment().put("WRIT_SANDBOX_ENGINE", "none");
    Process server = builder.redirectError(dir.resolve("log").toFile()).start();
    try (BufferedReader out = server.inputReader();
        Playwright playwright = Browsers.playwright();
        Browser browser = Browsers.chromium(playwright)) {
      String url = out.readLine().replaceFirst("^listening on ", "");
      walk(url, browser);
    } finally {
      server.destroy();
      server.waitFor();
    }
  }

  private void walk(String url, Browser browser) throws Exception {
    try (WritClient agent = agent(url)) {
      Page page = browser.newContext(telephone()).newPage();
      page.navigate(done("console").strip());
      assertThat(page.locator("main h1")).hasText("Live");
      assertThat(page.locator(".empty")).isVisible();

      WritClient.Terms first = WritClient.Terms.in("main");
      assertThat(agent.call(Effect.of("js").param("source", "6*7"), first).text()).isEqualTo("42");
      assertThat(page.locator(".fxrow").first()).containsText("Succeeded");
      VerifiedOutcome denied =
          agent.call(Effect.of("js").param("source", "1").resources(tooMuch()), first);
      assertThat(denied.code()).contains("GRD-404");
      assertThat(page.locator(".fxrow").first()).containsText("Denied");
      picture(page, "1-live");

      VerifiedOutcome waiting = agent.call(salaries(agent), first);
      assertThat(waiting.waits()).as(waiting.reason()).isTrue();
      CompletableFuture<VerifiedOutcome> served =
          CompletableFuture.supplyAsync(() -> agent.await(waiting, Duration.ofMinutes(2)));
      approve(page);
      assertThat(served.get(2, TimeUnit.MINUTES).text()).contains("\"Grace\"");

      page.getByRole(AriaRole.LINK, named("See the effect")).click();
      assertThat(page.locator(".effect")).hasAttribute("data-proof", "checked");
      assertThat(page.locator("#outcome table tbody tr")).hasCount(2);
      picture(page, "4-effect");
      prove(page, browser);
    }
  }

  private WritClient agent(String url) throws Exception {
    JsonValue.Obj made = (JsonValue.Obj) Jcs.parse(Files.readAllBytes(home().resolve("writ.json")));
    return new WritClient(
        URI.create(url),
        new WritClient.Agent(
            "local", "agent", KeyFiles.read(home().resolve("keys/agent.pem"), () -> null)),
        new WritClient.Pinned(
            Trust.parse(Files.readAllBytes(home().resolve("trust.jwks"))),
            ((JsonValue.Str) made.get("origin")).value()),
        ClientSettings.usual());
  }

  private static Browser.NewContextOptions telephone() {
    return new Browser.NewContextOptions().setViewportSize(390, 844).setLocale("en-GB");
  }

  private static EffectDraft.Declared tooMuch() {
    return new EffectDraft.Declared(
        Optional.empty(), Optional.of(1L << 40), Optional.empty(), Optional.empty());
  }

  /** More than the starter policy lets leave unseen. */
  private static EffectDraft salaries(WritClient agent) {
    Input staff =
        agent.put(
            "name,salary\nAda,120\nGrace,130\n".getBytes(StandardCharsets.UTF_8),
            "staff.csv",
            "text/csv");
    return Effect.of("sql")
        .param("sql", "select * from staff")
        .input(staff)
        .resources(
            new EffectDraft.Declared(
                Optional.empty(), Optional.empty(), Optional.of(2L << 20), Optional.empty()));
  }

  /** From no key at all, by what the page says. */
  private void approve(Page page) {
    page.navigate(page.url().replaceFirst("#.*", "#/approvals"));
    Locator waits = page.locator(".wait");
    assertThat(waits).containsText("sql");
    waits.click();
    assertThat(page.locator(".would")).containsText("select * from staff");
    assertThat(page.locator(".would")).containsText("Grace,130");
    picture(page, "2-approval");
    String approval = page.url();
    page.getByRole(AriaRole.LINK, named("Make a key")).click();
    page.getByRole(AriaRole.BUTTON, named("A key of this browser")).click();
    done(words(page.locator("pre.command").textContent()));
    page.navigate(approval);
    page.getByRole(AriaRole.BUTTON, named("Approve")).click();
    page.locator("textarea[name=reason]").fill("Ann asked for it.");
    page.getByRole(AriaRole.BUTTON, named("Sign and approve")).click();
    assertThat(page.locator(".given h1")).hasText("You approved it");
    picture(page, "3-approved");
  }

  /** The command that the page shows, without {@code writ}, as a shell takes it apart. */
  private static String[] words(String command) {
    assertThat(command).startsWith("writ key enrol '");
    List<String> words = new ArrayList<>();
    Matcher word = Pattern.compile("'([^']*)'|(\\S+)").matcher(command);
    while (word.find()) {
      words.add(word.group(1) == null ? word.group(2) : word.group(1));
    }
    return words.subList(1, words.size()).toArray(String[]::new);
  }

  private void prove(Page page, Browser browser) throws Exception {
    page.navigate(page.url().replaceFirst("#.*", "#/runs/main"));
    page.getByRole(AriaRole.BUTTON, named("Replay")).click();
    assertThat(page.locator(".audit .chip")).hasText("Every event is the same again");
    page.getByRole(AriaRole.BUTTON, named("Report")).click();
    assertThat(page.locator(".audit .chip")).hasText("The report is ready");
    picture(page, "5-run");
    Download download = page.waitForDownload(() -> page.locator(".audit a").click());
    Path report = dir.resolve("report.html");
    download.saveAs(report);
    Page offline = browser.newContext(telephone()).newPage();
    offline.navigate(report.toUri().toString());
    assertThat(offline.locator("body")).containsText("Integrity only");
    assertThat(offline.locator("body")).containsText("1 denied, 1 escalated");
    assertThat(offline.locator("body")).containsText("Approved by approver");
    picture(offline, "6-report");
  }

  private static Page.GetByRoleOptions named(String name) {
    return new Page.GetByRoleOptions().setName(name);
  }

  private static void picture(Page page, String name) {
    page.screenshot(new Page.ScreenshotOptions().setPath(PICTURES.resolve(name + ".png")));
  }
}
