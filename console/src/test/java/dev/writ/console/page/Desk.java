package dev.writ.console.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.Cookie;
import com.microsoft.playwright.options.ReducedMotion;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.console.audit.AuditSurface;
import dev.writ.console.audit.RunAuditor;
import dev.writ.console.operation.OperationSurface;
import dev.writ.console.page.Browsers.Engine;
import dev.writ.console.policy.PolicySurface;
import dev.writ.console.tool.ToolSurface;
import dev.writ.console.web.ConsoleSurface;
import dev.writ.console.web.SignOutSurface;
import dev.writ.executor.driver.Driver;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.http.auth.Sessions;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.v1.RunBundle;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.verify.bundle.BundleExport;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** A server with some history, and the pages of people who look at it. */
final class Desk implements AutoCloseable {
  /** A text that would do something wherever it were taken for more than text. */
  static final String HOSTILE =
      "<img src=x onerror=alert(1)>\u202Egnp.exe\u200B\u0007</script><script>alert(2)</script>";

  static final String POLICY =
      TestPolicy.YAML.replace(
              "{ tenant: acme, subject: bob, roles: [worker] }",
              "{ tenant: acme, subject: bob, roles: [worker] }\n"
                  + "  - { tenant: acme, subject: rita, roles: [stand-in] }")
          + "people:\n"
          + "  - { tenant: acme, subject: rita, roles: [auditor, operator] }\n"
          + "  - { tenant: acme, subject: deputy, roles: [operator] }\n";

  final TestGateway gateway;
  final Sessions sessions;
  final DeskState state = new DeskState();
  final Envelope done;
  final Envelope denied;
  final Envelope waiting;
  final Envelope hostile;
  private final Browser browser;
  private final Runnable end;
  private final List<BrowserContext> contexts = new ArrayList<>();
  private final TreeMap<String, Cookie> cookies = new TreeMap<>();
  private final List<String> faults = new ArrayList<>();

  /** With a browser of its own. */
  static Desk with(Path dir, Engine engine) {
    Playwright playwright = Browsers.playwright();
    return new Desk(dir, engine.launch(playwright), playwright::close);
  }

  /** With a browser that outlives it. */
  Desk(Path dir, Browser browser) {
    this(dir, browser, () -> {});
  }

  private Desk(Path dir, Browser browser, Runnable end) {
    this.browser = browser;
    this.end = end;
    sessions = new Sessions(new SecureRandom(), false);
    gateway =
        TestGateway.start(
            dir,
            HttpLimits.DEFAULT,
            sessions,
            pipeline ->
                List.of(
                    new ConsoleSurface(
                        pipeline, sessions, new ConsoleSurface.Server("0.1.0", "", false)),
                    new SignOutSurface(pipeline, sessions, _ -> {}),
                    new OperationSurface(pipeline, "0.1.0", state),
                    new AuditSurface(
                        pipeline,
                        new RunBundle(packages()),
                        new RunAuditor(List.of()),
                        new SecureRandom(),
                        failure -> faults.add(failure.toString())),
                    new ToolSurface(pipeline, packages()),
                    new PolicySurface(pipeline, tool -> packages().manifest(tool))));
    TestHome home = gateway.home;
    home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    home.activate(POLICY);
    home.driver.does("sim", Behaviours.fails());
    home.driver.does(
        "mail",
        Behaviours.gives(
            "{\"columns\":[\"to\",\"lines\"],\"ok\":true,\"rows\":[[\"ada@example.com\",12],[\"bo@example.com\",7]]}",
            Behaviours.JSON));
    home.driver.does(
        "calc",
        Behaviours.gives("{\"ok\":true,\"said\":\"" + json(HOSTILE) + "\"}", Behaviours.JSON));
    done = ask("alice", "mail", "{\"subject\":\"Monthly report\",\"to\":[\"ada@example.com\"]}");
    denied = ask("bob", "mail", "{\"forbidden\":true,\"subject\":\"Everything\"}");
    ask("alice", "sim", "{\"order\":4711}");
    hostile = ask("alice", "calc", "{\"" + json(HOSTILE) + "\":\"" + json(HOSTILE) + "\"}");
    waiting = ask("bob", "pay", "{\"amount\":250,\"reason\":\"invoice 4711,\\nsecond half\"}");
  }

  /** Those of the server's home, which is there once the first job asks. */
  private BundleExport.Packages packages() {
    return new BundleExport.Packages() {
      @Override
      public Optional<ToolManifest> manifest(ToolRef tool) {
        return gateway.home.tools.manifest(tool.name(), tool.version());
      }

      @Override
      public Driver.PackageContent files(ToolManifest manifest) {
        return gateway.home.tools.content(manifest);
      }
    };
  }

  /** From now on the log states what people read. */
  void recordReads() {
    gateway.home.activate(
        POLICY
            + "reads: [ { tenant: acme, what: [bundles, outputs, parameters, policy, reports] }"
            + " ]\n");
  }

  /** In a text of JSON, as RFC 8785 writes it. */
  private static String json(String text) {
    return text.replace("\u0007", "\\u0007");
  }

  Envelope ask(String as, String tool, String params) {
    gateway.home.clock.forward(Duration.ofMillis(1250));
    String run = as.equals("alice") ? "run-1" : "run-2";
    Envelope request = gateway.home.ask(as).run(run).tool(tool).params(params).sign();
    TestGateway.Reply reply = gateway.submit(request);
    assertThat(reply.header("Writ-Decision")).as(reply.text()).isNotEmpty();
    return request;
  }

  /** How a browser is set up. */
  record Screen(int width, int height, ColorScheme colours) {
    static final Screen WIDE = new Screen(1280, 900, ColorScheme.LIGHT);
    static final Screen PHONE = new Screen(390, 844, ColorScheme.LIGHT);

    Screen dark() {
      return new Screen(width, height, ColorScheme.DARK);
    }
  }

  /** A browser of its own for somebody, at an address; its clock is the server's. */
  Page open(String as, Screen screen, String address) {
    Page page = page(as, screen);
    page.navigate(gateway.server.url() + "/" + address);
    page.waitForSelector("main h1");
    return page;
  }

  /** The same for somebody who is signed in already. */
  Page page(String as, Screen screen) {
    Page page = stranger(screen);
    page.context().addCookies(List.of(cookies.computeIfAbsent(as, _ -> signIn(as))));
    return page;
  }

  /** One session for each: the server keeps few of one credential. */
  private Cookie signIn(String as) {
    String set =
        gateway
            .send(gateway.as(as, "/console/session").POST(HttpRequest.BodyPublishers.noBody()))
            .header("Set-Cookie");
    String[] pair = set.substring(0, set.indexOf(';')).split("=", 2);
    return new Cookie(pair[0], pair[1]).setUrl(gateway.server.url() + "/").setHttpOnly(true);
  }

  /** For who measures: with the browser's own clock and without holding movement back. */
  Page unhurried(String as, Screen screen) {
    BrowserContext context =
        browser.newContext(
            new Browser.NewContextOptions().setViewportSize(screen.width(), screen.height()));
    contexts.add(context);
    context.addCookies(List.of(cookies.computeIfAbsent(as, _ -> signIn(as))));
    return context.newPage();
  }

  /** For somebody who is not signed in. */
  Page stranger(Screen screen) {
    BrowserContext context =
        browser.newContext(
            new Browser.NewContextOptions()
                .setViewportSize(screen.width(), screen.height())
                .setColorScheme(screen.colours())
                .setReducedMotion(ReducedMotion.REDUCE)
                .setLocale("en-GB")
                .setTimezoneId("UTC"));
    contexts.add(context);
    context.clock().install();
    context.clock().setSystemTime(Date.from(gateway.home.clock.instant()));
    Page page = context.newPage();
    page.onPageError(error -> faults.add(error));
    page.onDialog(dialog -> {
      faults.add("a dialog: " + dialog.message());
      dialog.dismiss();
    });
    page.onConsoleMessage(message -> {
      if (message.type().equals("error") && !message.text().contains("Failed to load resource")) {
        faults.add(message.text());
      }
    });
    return page;
  }

  /** What an operator would sign, with the public half that the page would send. */
  void enrolKeyOf(Page page) {
    enrolKeyOf(page, "approver\",\"writ_subject\":\"rita\",\"writ_tenant\":\"acme");
  }

  /** The same for a key of the installation, which is of no tenant. */
  void enrolOperatorKeyOf(Page page) {
    enrolKeyOf(page, "operator\",\"writ_subject\":\"rita");
  }

  private void enrolKeyOf(Page page, String role) {
    String jwk =
        (String)
            page.evaluate(
                "async () => { const k = await import('/console/parts/keys.mjs');"
                    + " return JSON.stringify(await k.publicJwk((await k.listKeys())[0])); }");
    String trusted =
        jwk.replaceFirst(
            "}$",
            ",\"writ_not_before\":\"2026-01-01T00:00:00.000Z\",\"writ_role\":\"" + role + "\"}");
    gateway.home.enrol(
        TrustedKey.fromJson("key", Jcs.parse(trusted.getBytes(StandardCharsets.UTF_8))));
  }

  static String effect(Envelope request) {
    return effect(request.id());
  }

  static String effect(Digest id) {
    return "#/effects/" + id;
  }

  static String approval(Envelope request) {
    return "#/approvals/" + request.id();
  }

  /**
   * @return exceptions, dialogs and errors on the console of any page, faults against the policy of
   *     content among them
   */
  List<String> closePages() {
    // What a page asks for while it is closed is not for a test's route: what that fetches is never
    // answered.
    contexts.forEach(context -> {
      context.pages().forEach(Page::unrouteAll);
      context.unrouteAll();
      context.close();
    });
    contexts.clear();
    List<String> found = List.copyOf(faults);
    faults.clear();
    return found;
  }

  @Override
  public void close() {
    closePages();
    gateway.close();
    end.run();
  }
}
