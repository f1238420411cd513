package dev.writ.tools.git;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.ToolSchemas;
import dev.writ.guardian.document.ToolManifest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SortedMap;
import org.junit.jupiter.api.Test;

/** spec/tool-git.md against the code; {@code -Dwrit.update=true} writes its table. */
class TheSpecSaysWhatGitIsToldTest {
  private static final Path PAGE = Path.of("..", "spec", "tool-git.md");

  private static String table() {
    StringBuilder table = new StringBuilder("\n| environment | value |\n|---|---|\n");
    rows(table, GitSettings.environmentTable());
    table.append("\n| configuration | value |\n|---|---|\n");
    rows(table, GitSettings.configTable());
    return table.toString();
  }

  private static void rows(StringBuilder table, SortedMap<String, String> all) {
    all.forEach((name, value) ->
        table
            .append("| `")
            .append(name)
            .append("` | ")
            .append(value.isEmpty() ? "empty" : "`" + value + "`")
            .append(" |\n"));
  }

  @Test
  void theTableIsTheCodes() throws IOException {
    String page = Files.readString(PAGE);
    String begin = "<!-- settings -->\n";
    int from = page.indexOf(begin) + begin.length();
    int to = page.indexOf("<!-- end -->", from);
    if (Boolean.getBoolean("writ.update")) {
      page = page.substring(0, from) + table() + "\n" + page.substring(to);
      Files.writeString(PAGE, page);
      to = page.indexOf("<!-- end -->", from);
    }
    assertThat(page.substring(from, to)).isEqualTo(table() + "\n");
  }

  @Test
  void theOperationsAreTheManifests() throws IOException {
    String page = Files.readString(PAGE);
    for (ToolManifest.Operation operation : GitLab.MANIFEST.operations()) {
      String row =
          page.lines()
              .filter(l -> l.startsWith("| `" + operation.name() + "` |"))
              .findFirst()
              .orElseThrow();
      JsonValue.Obj params = (JsonValue.Obj) operation.input().get("properties");
      params.members().keySet().forEach(param -> assertThat(row).contains("`" + param + "`"));
      assertThat(row.split("\\|")[2].split("`").length / 2)
          .isGreaterThanOrEqualTo(params.members().size());
    }
  }

  @Test
  void theExampleIsAnOutputOfTheTool() throws IOException {
    String page = Files.readString(PAGE);
    int from = page.indexOf("```json\n") + "```json\n".length();
    byte[] example =
        page.substring(from, page.indexOf("```", from)).getBytes(StandardCharsets.UTF_8);
    ToolSchemas.of(GitLab.MANIFEST).requireOutput("clone", Jcs.parse(example));
  }
}
