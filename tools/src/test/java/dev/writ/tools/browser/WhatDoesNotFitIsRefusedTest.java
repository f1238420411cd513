package dev.writ.tools.browser;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.guardian.document.Determinism;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.tools.Call;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.process.ProcessHost;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Without a browser being started. */
class WhatDoesNotFitIsRefusedTest {
  private static TestBrowser browser;

  @BeforeAll
  static void open() {
    browser = TestBrowser.open(Optional.empty());
  }

  @AfterAll
  static void close() {
    browser.close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"url":"file:///etc/passwd"}                                                     | SBX-029
          {"url":"chrome://version"}                                                       | SBX-029
          {"url":"http://user:secret@127.0.0.1/"}                                          | SBX-029
          {"html":"x","network":["127.0.0.1"]}                                             | SBX-029
          {"html":"x","network":["*.example.com:443"]}                                     | SBX-029
          {"file":"page.html"}                                                             | TOL-061
          {"html":"x","script":[{"action":"goto","url":"http://127.0.0.1/"}]}              | TOL-061
          {"html":"x","script":[{"action":"goto","url":"file:///etc/passwd"}]}             | TOL-061
          {"url":"http://127.0.0.1:8080/","script":[{"action":"goto","url":"http://127.0.0.1:8081/"}]} | TOL-061
          {"url":"https://example.com/","script":[{"action":"goto","url":"http://example.com/"}]} | TOL-061
          """)
  void paramsThatWouldGoWhereTheEnvelopeCheckDidNotLook(String params, String code) {
    DriverOutcome outcome = browser.call(params).run();
    assertThat(outcome.end()).isEqualTo(DriverOutcome.End.FAILED);
    assertThat(outcome.reason()).as(Call.show(outcome)).isEqualTo("refused");
    assertThat(outcome.message()).startsWith(code);
    assertThat(outcome.output()).isEmpty();
  }

  @Test
  void tooLittleOutputAndNamesThatAreNoPathsAreRefused() {
    assertThat(browser.html("x", "").outputBytes(1_000).run().message()).startsWith("TOL-061");
    assertThat(browser.html("x", "").input("../x", "y").run().message()).startsWith("SBX-043");
  }

  @Test
  void whereNothingConfinesPreparingIsRefusedAndNothingIsAskedOfTheHost() {
    WritException why = new WritException(SandboxError.NO_ENGINE, "none");
    try (ProcessHost none = ProcessHost.missing(why)) {
      BrowserDriver driver = new BrowserDriver(none);
      assertThatThrownBy(() -> driver.prepare(TestBrowser.MANIFEST, "visit", file -> new byte[0]))
          .hasMessageContaining("SBX-001");
      assertThat(driver.determinism()).isEqualTo(Determinism.RECORDED);
      assertThat(driver.sandboxProfile("restricted"))
          .isEqualTo(new BrowserDriver(browser.hosts().host()).sandboxProfile("restricted"))
          .isNotEqualTo(driver.sandboxProfile("default"));
    }
  }

  @Test
  void aHostWithoutABrowserIsToldWhatToInstall() {
    assertThatThrownBy(() -> BrowserDriver.requirePrograms(List.of("/usr/lib/chromium/none")))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).isEqualTo(ToolsError.BROWSER_MISSING))
        .hasMessageContaining("TOL-060")
        .hasMessageContaining("apt-get install chromium");
  }

  /**
   * The build takes these files out of another's archive: each must be the one that was looked at.
   */
  @Test
  void whatIsBroughtIsWhatWasLookedAt() throws Exception {
    var files = BrowserFiles.all();
    assertThat(files.keySet())
        .containsExactly(
            "chromium/policies/managed/writ.json",
            "program/drive.mjs",
            "program/playwright-core/LICENSE",
            "program/playwright-core/NOTICE",
            "program/playwright-core/browsers.json",
            "program/playwright-core/index.js",
            "program/playwright-core/index.mjs",
            "program/playwright-core/lib/bootstrap.js",
            "program/playwright-core/lib/coreBundle.js",
            "program/playwright-core/lib/utilsBundle.js",
            "program/playwright-core/package.json");
    byte[] core = files.get("program/playwright-core/lib/coreBundle.js");
    String pinned =
        Files.readString(
            Path.of("src/main/resources/dev/writ/tools/browser/playwright.tsv"),
            StandardCharsets.US_ASCII);
    assertThat(pinned).contains(Digest.sha256(core).hex() + "\tlib/coreBundle.js");
    core[0]++;
    try {
      assertThatThrownBy(() -> BrowserFiles.requirePinned("lib/coreBundle.js", core))
          .hasMessageContaining("TOL-062");
    } finally {
      core[0]--;
    }
    BrowserFiles.requirePinned("lib/coreBundle.js", core);
  }

  @Test
  void onlyDatesOfADocumentArePinned() {
    Instant time = Instant.parse("2026-01-02T03:04:05.678Z");
    String pdf =
        "%PDF-1.4\n"
            + "\u00ff/CreationDate (D:20261122050119+00'00')\n"
            + "/ModDate (D:20261122050119+00'00')>>/ModDate (D:2026) (D:20261122050119+00'00')"
            + " /Title (/CreationDate)";
    assertThat(
            new String(
                PinnedPdf.at(time, pdf.getBytes(StandardCharsets.ISO_8859_1)),
                StandardCharsets.ISO_8859_1))
        .isEqualTo(
            "%PDF-1.4\n"
                + "\u00ff/CreationDate (D:20260102030405+00'00')\n"
                + "/ModDate (D:20260102030405+00'00')>>/ModDate (D:2026) (D:20261122050119+00'00')"
                + " /Title (/CreationDate)");
  }
}
