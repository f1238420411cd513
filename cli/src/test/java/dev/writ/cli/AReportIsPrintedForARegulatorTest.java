package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.writ.cli.base.ExitCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The PDF that a Chromium makes of a report, read as text by poppler. */
class AReportIsPrintedForARegulatorTest {
  private static final Map<String, String> HERE = Map.of("PATH", System.getenv("PATH"));

  private static boolean isHere(String program) {
    return Stream.of(System.getenv("PATH").split(":"))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }

  /** The demo's run has twelve effects of every kind: allowed, denied, approved, failed. */
  private static String bundle(Path dir) {
    String home = dir.resolve("data").toString();
    assertThat(Run.of("--home", home, "demo").status()).isZero();
    assertThat(Run.of("--home", home, "close", "demo").status()).isZero();
    String bundle = dir.resolve("demo.writ").toString();
    assertThat(Run.of("--home", home, "export", "demo", "-o", bundle).status()).isZero();
    return bundle;
  }

  /** Text of each page, as it is laid out. */
  private static List<String> pages(Path pdf) throws IOException {
    Process poppler = new ProcessBuilder("pdftotext", "-layout", pdf.toString(), "-").start();
    String text = new String(poppler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return List.of(text.split("\f"));
  }

  @Test
  void inFewPagesWithHeadsAndNumbersAndWithoutButtons(@TempDir Path dir) throws IOException {
    assumeTrue(isHere("chromium") && isHere("pdftotext"), "chromium and poppler-utils");
    String bundle = bundle(dir);
    String trust = dir.resolve("data/trust.jwks").toString();
    Path pdf = dir.resolve("demo.pdf");
    Run made = Run.in(HERE, "report", bundle, "--trust", trust, "--pdf", pdf.toString());
    assertThat(made.status()).as(made.err()).isZero();
    assertThat(made.out()).contains("demo.pdf: ", "pinned");

    List<String> pages = pages(pdf);
    assertThat(pages).hasSizeBetween(2, 6);
    for (int i = 0; i < pages.size(); i++) {
      List<String> lines = pages.get(i).lines().filter(line -> !line.isBlank()).toList();
      assertThat(lines.getFirst()).contains("Writ report", "Run demo, tenant acme");
      assertThat(lines.getLast()).contains("sha256:", "Page " + (i + 1) + " of " + pages.size());
      assertThat(lines.get(lines.size() - 2)).as("no heading ends a page").doesNotMatch("\\d+ .*");
      if (i < pages.size() - 1) {
        assertThat(lines).as("no page is mostly blank").hasSizeGreaterThan(25);
      }
    }
    String all = String.join("\n", pages);
    assertThat(all)
        .containsIgnoringCase("verified, pinned by the maker of this page")
        .contains("Contents", "researcher made 12 requests", "Not verified", "Signature")
        .contains("GRD-102", "GRD-404", "GRD-101", "GRD-201", "all eight passed")
        .doesNotContain("Theme:", "Verify it your way", "Choose");
    assertThat(all.lines().filter(line -> line.matches("\\d+ \\S+ / \\S+ .*"))).hasSize(12);

    Path again = dir.resolve("again.pdf");
    Path page = dir.resolve("again.html");
    Run second =
        Run.in(
            HERE,
            "--json",
            "report",
            bundle,
            "--trust",
            trust,
            "-o",
            page.toString(),
            "--pdf",
            again.toString());
    assertThat(second.status()).as(second.err()).isZero();
    assertThat(second.out()).contains("\"pdf\":\"" + again + "\"");
    assertThat(page).exists();
    assertThat(again).hasSameBinaryContentAs(pdf);
  }

  @Test
  void neverWithoutABrowserAndNothingIsLeftBehind(@TempDir Path dir) throws IOException {
    Path bundle = Files.writeString(dir.resolve("x.writ"), "not looked at");
    Path pdf = dir.resolve("x.pdf");
    Run none = Run.of("report", bundle.toString(), "--pdf", pdf.toString());
    assertThat(none.status()).isEqualTo(ExitCode.UNAVAILABLE.status());
    assertThat(none.err()).contains("CLI-085", "apt-get install chromium");
    Run wrong =
        Run.in(
            Map.of("WRIT_CHROMIUM", dir.resolve("none").toString()),
            "report",
            bundle.toString(),
            "--pdf",
            pdf.toString());
    assertThat(wrong.err()).contains("CLI-085", "none");
    assertThat(pdf).doesNotExist();
    assertThat(Run.of("report", "--verifier", "--pdf", pdf.toString()).status()).isEqualTo(2);
  }

  @Test
  void aBrowserThatDoesNotPrintIsSaidToBeIt(@TempDir Path dir) {
    String home = dir.resolve("data").toString();
    String bundle = dir.resolve("main.writ").toString();
    Run.of("--home", home, "init");
    Run.of("--home", home, "run", "js", "--param", "source=1");
    Run.of("--home", home, "close", "main");
    Run.of("--home", home, "export", "main", "-o", bundle);
    Path pdf = dir.resolve("x.pdf");
    Run failed =
        Run.in(Map.of("WRIT_CHROMIUM", "/bin/false"), "report", bundle, "--pdf", pdf.toString());
    assertThat(failed.status()).isEqualTo(ExitCode.UNAVAILABLE.status());
    assertThat(failed.err()).contains("CLI-086", "/bin/false");
    assertThat(pdf).doesNotExist();
  }
}
