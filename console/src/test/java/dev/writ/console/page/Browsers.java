package dev.writ.console.page;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Real browsers, those of the system's packages: none is downloaded. */
public final class Browsers {
  private Browsers() {}

  /** For classes whose tests run in each. */
  enum Engine {
    CHROMIUM,
    FIREFOX;

    Browser launch(Playwright playwright) {
      return this == CHROMIUM ? chromium(playwright) : firefox(playwright);
    }
  }

  /** Assertions wait for up to 30 s: a browser that shares two cores with a build is slow. */
  public static Playwright playwright() {
    PlaywrightAssertions.setDefaultAssertionTimeout(30_000);
    return Playwright.create(
        new Playwright.CreateOptions()
            .setEnv(
                Map.of("PLAYWRIGHT_NODEJS_PATH", node(), "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
  }

  /** The node of the host: Playwright's own is not in the build. */
  private static String node() {
    return Arrays.stream(System.getenv("PATH").split(":"))
        .map(directory -> Path.of(directory, "node"))
        .filter(Files::isExecutable)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("there is no node on PATH"))
        .toString();
  }

  public static Browser chromium(Playwright playwright) {
    return playwright
        .chromium()
        .launch(
            new BrowserType.LaunchOptions()
                .setExecutablePath(Path.of("/usr/bin/chromium-headless-shell"))
                .setArgs(
                    List.of(
                        "--no-sandbox",
                        "--disable-gpu",
                        "--disable-dev-shm-usage",
                        "--no-first-run",
                        "--disable-background-networking",
                        "--disable-component-update",
                        "--disable-sync")));
  }

  static Browser firefox(Playwright playwright) {
    return playwright
        .firefox()
        .launch(
            new BrowserType.LaunchOptions()
                .setChannel("moz-firefox")
                .setExecutablePath(Path.of("/usr/bin/firefox-esr")));
  }
}
