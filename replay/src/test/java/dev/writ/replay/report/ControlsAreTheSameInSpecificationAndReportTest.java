package dev.writ.replay.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page's table of controls is spec/controls.md, and every evidence that is named is there. */
class ControlsAreTheSameInSpecificationAndReportTest {
  private static final Pattern IN_PAGE =
      Pattern.compile(
          "^ +\\['([^']+)', '[^']+', \\[([^\\]]+)\\], '([^']+)'\\],$", Pattern.MULTILINE);
  private static final Pattern EVIDENCE =
      Pattern.compile("^  ([a-z]+): \\(view\\) => `", Pattern.MULTILINE);

  /** A control, the words of its evidence, and what is not shown. */
  private record Row(String control, List<String> evidence, String not) {}

  private static String page() throws IOException {
    try (var in = ReportPage.class.getResourceAsStream("controls.js")) {
      return new String(in.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    }
  }

  private static List<String> words(String list) {
    return Stream.of(list.split(", ")).map(word -> word.replaceAll("['`]", "")).toList();
  }

  private static List<List<String>> tables() throws IOException {
    return Files.readString(Path.of("../spec/controls.md"))
        .lines()
        .filter(line ->
            line.startsWith("| ") && !line.startsWith("| control") && !line.startsWith("| word"))
        .map(line -> Stream.of(line.substring(2, line.length() - 2).split(" \\| ")).toList())
        .toList();
  }

  @Test
  void controlByControl() throws IOException {
    List<Row> shown =
        IN_PAGE
            .matcher(page())
            .results()
            .map(row -> new Row(row.group(1), words(row.group(2)), row.group(3)))
            .toList();
    List<Row> specified =
        tables().stream()
            .filter(row -> !row.get(0).startsWith("`"))
            .map(row -> new Row(row.get(0).split(",")[0], words(row.get(1)), row.get(2)))
            .toList();
    assertThat(shown).hasSize(31).isEqualTo(specified);
  }

  @Test
  void everyEvidenceIsSaidAndNamed() throws IOException {
    List<String> said = EVIDENCE.matcher(page()).results().map(word -> word.group(1)).toList();
    List<String> specified =
        tables().stream()
            .map(List::getFirst)
            .filter(word -> word.startsWith("`"))
            .map(word -> word.replace("`", ""))
            .toList();
    TreeSet<String> named = new TreeSet<>();
    IN_PAGE.matcher(page()).results().forEach(row -> named.addAll(words(row.group(2))));
    assertThat(said).isEqualTo(specified);
    assertThat(named).isEqualTo(new TreeSet<>(said));
  }
}
