package dev.writ.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What spec/ shows is what happens. */
class SpecExamplesTest {
  private static List<String> lines(String page) throws IOException {
    return Files.readAllLines(Path.of("..", "spec", page));
  }

  /** The indented line that begins so. */
  private static String example(String page, String begin) throws IOException {
    return lines(page).stream()
        .filter(line -> line.startsWith("    " + begin))
        .findFirst()
        .orElseThrow(() -> new AssertionError(page + " shows no " + begin))
        .strip();
  }

  private static JsonValue.Obj params(String json) {
    return (JsonValue.Obj) Jcs.parse(json.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void theScript() throws IOException {
    String params = example("tool-js.md", "{\"input\"");
    assertThat(Call.show(TestTools.builtin("js", "eval").params(params(params)).run()))
        .isEqualTo("SUCCEEDED ok  application/json {\"double\":40} {\"stderr\":\"n 20\\n\"}");
  }

  @Test
  void theQuery() throws IOException {
    String params = example("tool-sql.md", "{\"args\"");
    String result = example("tool-sql.md", "{\"columns\"");
    assertThat(
            TestTools.builtin("sql", "query")
                .params(params(params))
                .input("people.csv", "name,age\nAnn,30\nBob,\n")
                .text())
        .isEqualTo(result);
  }

  @Test
  void theProfile() throws IOException {
    String profile = example("tool-wasm.md", "{\"driver\"");
    assertThat(TestTools.driver("wasm").sandboxProfile("wasm"))
        .isEqualTo(Digest.sha256(profile.getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void theMemoryThatARunNeeds() {
    assertThat(TestTools.js("1 + 1").memoryBytes(1_310_720).text()).isEqualTo("2");
    assertThat(TestTools.js("1 + 1").memoryBytes(1_310_719).run().reason())
        .isEqualTo("out-of-memory");
    assertThat(TestTools.sql("SELECT 1").memoryBytes(32_768_000).text()).contains("[[1]]");
    assertThat(TestTools.sql("SELECT 1").memoryBytes(32_767_999).run().reason())
        .isEqualTo("out-of-memory");
  }

  /** Every word that the code can say is in the table, and nothing else is. */
  @Test
  void theReasons() throws Exception {
    TreeSet<String> said = new TreeSet<>();
    for (var field : Class.forName("dev.writ.tools.wasm.Reason").getFields()) {
      said.add((String) field.get(null));
    }
    TreeSet<String> written = new TreeSet<>();
    Pattern word = Pattern.compile("`([a-z-]+)`");
    try (Stream<String> rows =
        lines("tool-wasm.md").stream()
            .filter(l -> l.matches("\\| (succeeded|failed|killed|timed out) \\|.*"))) {
      rows.forEach(row -> {
        Matcher m = word.matcher(row.split("\\|")[2]);
        while (m.find()) {
          written.add(m.group(1));
        }
      });
    }
    assertThat(written).isEqualTo(said);
  }
}
