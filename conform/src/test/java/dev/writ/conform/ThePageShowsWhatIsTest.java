package dev.writ.conform;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.adapter.Adapter;
import dev.writ.conform.mutant.Golden;
import dev.writ.conform.run.ConformanceProfile;
import dev.writ.conform.run.Vectors;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * spec/conformance.md: its questions get its answers, and it names every operation, step and suite.
 * {@code -Dwrit.update=true} writes the answers anew.
 */
class ThePageShowsWhatIsTest {
  private static final Path PAGE = Golden.ROOT.resolveSibling("spec/conformance.md");
  private static final Pattern FENCE = Pattern.compile("```adapter\n(.*?)```", Pattern.DOTALL);

  @Test
  void questionsGetTheAnswersThatThePageShows() throws IOException {
    String page = Files.readString(PAGE);
    Adapter adapter = new Adapter(Ours.OPERATIONS);
    Matcher fences = FENCE.matcher(page);
    StringBuilder made = new StringBuilder();
    int questions = 0;
    while (fences.find()) {
      List<String> lines = new ArrayList<>();
      for (String line : fences.group(1).lines().toList()) {
        if (line.contains("\"op\":")) {
          questions++;
          byte[] answer = adapter.answer(line.getBytes(StandardCharsets.UTF_8));
          lines.add(line);
          lines.add(shown((JsonValue.Obj) Jcs.parse(answer)));
        }
      }
      fences.appendReplacement(
          made, Matcher.quoteReplacement("```adapter\n" + String.join("\n", lines) + "\n```"));
    }
    fences.appendTail(made);
    if (Boolean.getBoolean("writ.update")) {
      Files.writeString(PAGE, made);
    }
    assertThat(questions).isGreaterThan(10);
    assertThat(Files.readString(PAGE)).isEqualTo(made.toString());
  }

  /** The id first, as people read it; the adapter's own lines are canonical. */
  private static String shown(JsonValue.Obj answer) {
    StringBuilder line = new StringBuilder("{");
    for (String key : List.of("id", "ok", "output", "code", "message")) {
      if (answer.get(key) != null) {
        line.append(line.length() > 1 ? "," : "")
            .append('"')
            .append(key)
            .append("\":")
            .append(new String(Jcs.write(answer.get(key)), StandardCharsets.UTF_8));
      }
    }
    return line.append('}').toString();
  }

  @Test
  void thePageNamesEveryOperationSuiteAndStep() throws IOException {
    String page = Files.readString(PAGE);
    assertThat(Ours.OPERATIONS.keySet())
        .allSatisfy(op -> assertThat(page).contains("`" + op + "`"));
    assertThat(ConformanceProfile.ALL.stream().flatMap(p -> p.own().stream()))
        .allSatisfy(suite -> assertThat(page).contains(suite));
    for (var vector : Vectors.load(Golden.ROOT).all()) {
      if (vector.input().get("steps") instanceof JsonValue.Arr steps) {
        steps.items().stream()
            .map(step -> ((JsonValue.Obj) step).get("do"))
            .filter(JsonValue.Str.class::isInstance)
            .forEach(word -> assertThat(page).contains("`" + ((JsonValue.Str) word).value() + "`"));
      }
    }
    Matcher named = Pattern.compile("`(guardian|gate|receipt)/([a-z-]+)`").matcher(page);
    while (named.find()) {
      assertThat(Golden.ROOT.resolve(named.group(1)).resolve(named.group(2) + ".json")).exists();
    }
  }
}
