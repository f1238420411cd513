package dev.writ.replay.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.executor.KernelSeam;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.journal.Tables;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.document.Resources;
import dev.writ.ledger.event.RunId;
import dev.writ.replay.error.ReplayError;
import dev.writ.verify.bundle.GoneContents;
import dev.writ.verify.bundle.Sample;
import dev.writ.verify.testing.Node;
import dev.writ.verify.testing.Refusal;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The pages are made here and looked at in a headless Chromium, by {@code report.test.mjs}: the
 * seal and its absence, hostile content, keyboard, widths, themes, contrast, large runs. {@code
 * -Dwrit.screenshots=DIR} keeps the pages and pictures of them.
 */
class TheReportVerifiesItselfInABrowserTest {
  private static final String REPLAY =
      """
      {"divergences":[{"code":"RPL-001","event":"receipt.signed","fields":[{"field":
      "/body/output/digest","recorded":"\\"a</script>\\"","replayed":"\\"b\\""}],"kind":"mismatch",
      "last_match":4,"seed":"00","seq":6,"diff":"- a\\n+ b"}],"state":"DIVERGED"}
      """;

  /** Effects of the large run. */
  private static final int LARGE = Integer.getInteger("writ.report.effects", 210);

  private static final byte[] PIXEL =
      Base64.getDecoder()
          .decode(
              "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAA"
                  + "AABJRU5ErkJggg==");

  private static final String MARKUP = "</script><script>window.owned=1</script>";
  private static final String HIDDEN = "\u202egnp.exe\u2066\u200b\ufeff";

  private static byte[] page(byte[] bundle, ReportPage.Options options) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ReportPage.write(bundle, options, out);
    return out.toByteArray();
  }

  private static ReportPage.Options pinned() {
    return new ReportPage.Options(Optional.of(Sample.pins()), Optional.empty());
  }

  private static byte[] whole(Path dir) {
    try (TestHome home = Sample.home(dir)) {
      Sample.fill(home);
      home.clock.forward(Duration.ofHours(1));
      Sample.close(home, "run-1");
      return Sample.export(home);
    }
  }

  /** Every place where somebody else's text can come from, with what would hurt there. */
  private static byte[] hostile(Path dir) {
    String run = "run " + MARKUP + HIDDEN;
    try (TestHome home = Sample.home(dir)) {
      String params = Jcs.digest(JsonValue.of(MARKUP)).toString();
      var input = ("<img src=x onerror=window.owned=3>" + MARKUP).getBytes(StandardCharsets.UTF_8);
      var put =
          home.kernel()
              .contents()
              .put(TestKeys.TENANT, new ByteArrayInputStream(input), "text/html");
      JsonValue.Obj asked =
          JsonValue.object()
              .put("__proto__", MARKUP)
              .put("code", "javascript:window.owned=4\n" + MARKUP + HIDDEN)
              .put("digest", params)
              .build();
      home.submit(
          home.ask("alice")
              .run(run)
              .params(new String(Jcs.write(asked), StandardCharsets.UTF_8))
              .input(MARKUP + HIDDEN, put.digest(), input.length));
      home.driver.does("mail", Behaviours.gives("x".repeat(10_000_000), "text/plain"));
      home.submit(
          home.ask("alice")
              .run(run)
              .tool("mail")
              .operation("text")
              .resources(new Resources(1000, 1 << 20, 20_000_000, 1000)));
      // Media types that drift from the manifest are kept as what they say they are.
      home.driver.does("mail", Behaviours.gives(PIXEL, "image/png"));
      home.submit(home.ask("alice").run(run).tool("mail"));
      home.driver.does("mail", Behaviours.gives(MARKUP, "image/png"));
      home.submit(home.ask("alice").run(run).tool("mail"));
      home.driver.does("mail", Behaviours.gives("<svg onload=window.owned=5>", "image/svg+xml"));
      home.submit(home.ask("alice").run(run).tool("mail"));
      home.driver.does(
          "mail", Behaviours.gives("\u0000\u0001\ufffd" + HIDDEN, "text/html" + MARKUP));
      home.submit(home.ask("alice").run(run).tool("mail"));
      Sample.close(home, run);
      return Sample.export(home.ledger(), home, new RunId(TestKeys.TENANT, run));
    }
  }

  /** Nobody saw how it went; an operator found it out. */
  private static byte[] resolved(Path dir) {
    try (TestHome home = Sample.home(dir)) {
      home.restartWith(e ->
          KernelSeam.with(
              e,
              e.receipt()
                  .withSigner((_, _) -> {
                    throw new IllegalStateException("no key");
                  })));
      assertThat(Refused.code(() -> home.submit(home.ask("alice").tool("mail"))))
          .isEqualTo("EXE-801");
      home.restartWith(e -> e);
      Digest receipt = Digest.parse("sha256:" + home.rows(Tables.DOUBT).getFirst());
      home.kernel()
          .resolve(
              home.resolution(
                  home.kernel().receipt(TestKeys.TENANT, receipt), Resolution.Found.HAPPENED));
      Sample.close(home, "run-1");
      return Sample.export(home);
    }
  }

  /** A policy that only observes lets pass what it would refuse. */
  private static byte[] observed(Path dir) {
    try (TestHome home = Sample.home(dir)) {
      home.activate(TestPolicy.YAML + "mode: observe\n");
      home.submit(home.ask("alice").tool("mail").params("{\"forbidden\":1}"));
      Sample.close(home, "run-1");
      return Sample.export(home);
    }
  }

  /** A page of two runs of one log, and one that a forger made: of the same run twice. */
  private static void many(Path dir, Path pages) throws IOException {
    Path first = dir.resolve("first.writ");
    Path second = dir.resolve("second.writ");
    try (TestHome home = Sample.home(dir)) {
      Sample.fill(home);
      home.submit(home.ask("alice").run("run-2").tool("mail").params("{\"forbidden\":1}"));
      Sample.close(home, "run-1");
      home.kernel().checkpoint();
      Files.write(first, Sample.export(home));
      Files.write(second, Sample.export(home.ledger(), home, new RunId(TestKeys.TENANT, "run-2")));
    }
    ReportPage.Options options =
        new ReportPage.Options(
            Optional.of(Sample.pins()),
            Optional.empty(),
            Optional.of(
                new ReportPage.Selection(
                    TestKeys.TENANT,
                    Optional.of(Instant.parse("2026-11-01T00:00:00Z")),
                    Optional.empty())),
            Optional.of(new ReportPage.Sampling(4, "audit 7")));
    byte[] page = page(List.of(first, second), options);
    assertThat(page).isEqualTo(page(List.of(first, second), options));
    Files.write(pages.resolve("many.html"), page);
    String[] lines = new String(page, StandardCharsets.UTF_8).split("\n");
    String[] twice =
        Stream.of(lines)
            .map(line -> line.equals(encoded(second)) ? encoded(first) : line)
            .toArray(String[]::new);
    Files.writeString(pages.resolve("twice.html"), String.join("\n", twice));
    Refusal.of(ReplayError.REPORT_RUN_TWICE, () -> page(List.of(first, first), options));
  }

  /** A page of two runs of one name, each of another tenant. */
  private static byte[] tenants(Path dir) throws IOException {
    Path first = dir.resolve("first.writ");
    Path second = dir.resolve("second.writ");
    try (TestHome home = Sample.home(dir)) {
      home.submit(home.ask("alice"));
      home.submit(home.ask("eve").tenant("other"));
      home.kernel().checkpoint();
      Files.write(first, Sample.export(home));
      Files.write(second, Sample.export(home.ledger(), home, new RunId("other", "run-1")));
    }
    return page(
        List.of(first, second),
        new ReportPage.Options(
            Optional.of(Sample.pins()),
            Optional.empty(),
            Optional.empty(),
            Optional.of(new ReportPage.Sampling(2, "audit 7"))));
  }

  private static String encoded(Path file) {
    try {
      return Base64.getEncoder().encodeToString(Files.readAllBytes(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] page(List<Path> bundles, ReportPage.Options options) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ReportPage.write(bundles, options, out);
    return out.toByteArray();
  }

  private static byte[] large(Path dir) {
    try (TestHome home = Sample.home(dir)) {
      for (int n = 0; n < LARGE; n++) {
        home.submit(home.ask("alice").params("{\"n\":" + n + "}"));
      }
      Sample.close(home, "run-1");
      return Sample.export(home);
    }
  }

  @Test
  void andHoldsUpThere(@TempDir Path temporary) throws IOException {
    Node.needsChromium();
    String kept = System.getProperty("writ.screenshots", "");
    Path dir = kept.isEmpty() ? temporary : Files.createDirectories(Path.of(kept));
    byte[] small = Sample.small(temporary.resolve("a"));
    byte[] whole = whole(temporary.resolve("b"));
    Files.write(dir.resolve("small.writ"), small);
    Files.write(dir.resolve("good.writ"), whole);
    Files.write(
        dir.resolve("sampled.html"),
        page(
            whole,
            new ReportPage.Options(
                Optional.of(Sample.pins()),
                Optional.empty(),
                Optional.empty(),
                Optional.of(new ReportPage.Sampling(3, "audit 7 é")))));
    Files.write(dir.resolve("small.html"), page(small, pinned()));
    Files.write(dir.resolve("good.html"), page(whole, pinned()));
    Files.write(dir.resolve("unpinned.html"), page(whole, ReportPage.Options.NONE));
    JsonValue replay = Jcs.parse(REPLAY.getBytes(StandardCharsets.UTF_8));
    Files.write(
        dir.resolve("replayed.html"),
        page(whole, new ReportPage.Options(Optional.of(Sample.pins()), Optional.of(replay))));
    Files.write(dir.resolve("hostile.html"), page(hostile(temporary.resolve("c")), pinned()));
    Files.write(dir.resolve("observed.html"), page(observed(temporary.resolve("e")), pinned()));
    Files.write(dir.resolve("resolved.html"), page(resolved(temporary.resolve("j")), pinned()));
    Files.write(
        dir.resolve("gone.html"),
        page(GoneContents.deletedAndErased(temporary.resolve("g")), pinned()));
    Files.write(
        dir.resolve("archived.html"),
        page(GoneContents.archived(temporary.resolve("h")), pinned()));
    many(temporary.resolve("f"), dir);
    Files.write(dir.resolve("tenants.html"), tenants(temporary.resolve("i")));
    Files.write(dir.resolve("large.html"), page(large(temporary.resolve("d")), pinned()));
    Files.write(dir.resolve("trust.jwks"), Jcs.write(Sample.pins().toJson()));
    Trust foreign =
        Trust.of(List.of(TestKeys.trusted("mallory", KeyRole.OPERATOR, Optional.empty())));
    Files.write(dir.resolve("foreign.jwks"), Jcs.write(foreign.toJson()));
    Node.Result result =
        Node.test(
            "report.test.mjs",
            Map.of(
                "WRIT_EFFECTS",
                Integer.toString(LARGE),
                "WRIT_REPORTS",
                dir.toString(),
                "WRIT_VERIFIER_FILE",
                Node.VERIFIER.toAbsolutePath().toString(),
                "WRIT_SCREENSHOTS",
                kept));
    System.out.println(result.out());
  }

  @Test
  void thePageIsTheSameBytesAndNothingOfItCanEndItsScripts(@TempDir Path dir) {
    byte[] bundle = hostile(dir);
    byte[] page = page(bundle, pinned());
    assertThat(page).isEqualTo(page(bundle, pinned()));
    String text = new String(page, StandardCharsets.UTF_8);
    assertThat(text.split("</script>", -1)).hasSize(4);
    assertThat(text).doesNotContain("window.owned", "http://localhost", "src=\"http");
    assertThat(text).contains("default-src 'none'", "require-trusted-types-for 'script'");
  }

  @Test
  void noPageIsMadeOfABundleThatDoesNotHold(@TempDir Path dir) {
    byte[] small = Sample.small(dir);
    small[small.length / 2] ^= 1;
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    assertThat(
            org.assertj.core.api.Assertions.catchThrowable(
                () -> ReportPage.write(small, ReportPage.Options.NONE, out)))
        .isInstanceOf(WritException.class);
    assertThat(out.size()).isZero();
    Refusal.of(
        ReplayError.REPORT_BOUNDS,
        () ->
            ReportPage.write(
                new byte[(int) ReportPage.BUNDLE_MAX + 1], ReportPage.Options.NONE, out));
  }
}
