package dev.writ.gateway.engine;

import static dev.writ.gateway.engine.EngineServer.at;
import static dev.writ.gateway.engine.EngineServer.body;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Outcome;
import dev.writ.executor.testing.Behaviours;
import dev.writ.gateway.seed.SeedServer.Reply;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The names are read out of seed 004's own text, and held against what is taken and given. */
class TheContractHasTheSeedsNamesTest {
  /** What an answer has beyond the seed: spec/surface-engine.md says what each is. */
  private static final List<String> OURS =
      List.of("requestId", "state", "tool", "context", "failure", "ids");

  @TempDir Path dir;

  private static String seed() {
    try (InputStream in =
        TheContractHasTheSeedsNamesTest.class.getResourceAsStream("seed-004.md")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The names in backquotes before the brackets of each line of a section. */
  private static TreeSet<String> members(String heading) {
    String section = seed().split("### " + heading + "\n", 2)[1].split("\n### ", 2)[0];
    TreeSet<String> names = new TreeSet<>();
    section
        .lines()
        .filter(line -> line.startsWith("- "))
        .map(line -> line.split(" \\(", 2)[0])
        .forEach(line -> quoted(line).forEach(names::add));
    return names;
  }

  private static Stream<String> quoted(String text) {
    return Pattern.compile("`([A-Za-z]+)`").matcher(text).results().map(m -> m.group(1));
  }

  private static String inBrackets(String beginning) {
    Matcher found =
        Pattern.compile(Pattern.quote(beginning) + "[^(]*\\(([^)]*)\\)").matcher(seed());
    assertThat(found.find()).as(beginning).isTrue();
    return found.group(1).replace("`", "");
  }

  private static List<String> words(String beginning) {
    return List.of(inBrackets(beginning).split(", *|/"));
  }

  private static TreeSet<String> components(Class<?> type) {
    TreeSet<String> names = new TreeSet<>();
    for (RecordComponent component : type.getRecordComponents()) {
      names.add(component.getName());
    }
    return names;
  }

  private static List<String> constants(Class<? extends Enum<?>> type) {
    return Arrays.stream(type.getEnumConstants()).map(Enum::name).toList();
  }

  @Test
  void eachContractTypeIsARecordOfItsName() {
    assertThat(quoted(seed()).filter(name -> name.startsWith("ToolExecution")))
        .containsExactly(
            ToolExecutionRequest.class.getSimpleName(),
            ToolExecutionContext.class.getSimpleName(),
            ToolExecutionResult.class.getSimpleName(),
            ToolExecutionIncident.class.getSimpleName());
    assertThat(components(ToolExecutionRequest.class))
        .isEqualTo(members("Universal request model"));
    assertThat(components(ToolExecutionContext.class))
        .isEqualTo(new TreeSet<>(camelCased(words("`ToolExecutionContext`"))));
    TreeSet<String> result = components(ToolExecutionResult.class);
    result.removeAll(OURS);
    assertThat(result).isEqualTo(members("Universal response schema"));
    assertThat(components(ToolExecutionResult.Metrics.class))
        .isEqualTo(new TreeSet<>(words("- `metrics`")));
  }

  private static List<String> camelCased(List<String> words) {
    return words.stream()
        .map(word ->
            Pattern.compile(" (.)")
                .matcher(word)
                .replaceAll(m -> m.group(1).toUpperCase(Locale.ROOT)))
        .toList();
  }

  @Test
  void statusesStatesAndKindsAreTheSeedsAndNoOthers() {
    assertThat(constants(ToolExecutionResult.Status.class)).isEqualTo(words("- `status`"));
    assertThat(constants(ExecutionState.class)).isEqualTo(words("tool invocation states"));
    assertThat(constants(ToolExecutionIncident.Kind.class))
        .isEqualTo(words("normalized incident taxonomy"));
  }

  @Test
  void eachNameIsTakenAndEachIsGiven() {
    try (EngineServer engine = new EngineServer(dir)) {
      engine.does(_ ->
          new Outcome(
              Outcome.End.SUCCEEDED,
              "ok",
              "",
              Optional.of(
                  new Outcome.Output(
                      "{\"ok\":true}".getBytes(StandardCharsets.UTF_8), Behaviours.JSON)),
              List.of(new Outcome.Artifact("a", new byte[] {1}, "text/plain")),
              Behaviours.USED,
              JsonValue.object().build()));
      Digest file = engine.put("alice", new byte[] {1});
      List<String> classes = words("- `resourceClass`");
      for (String resourceClass : classes.subList(0, 2)) {
        String whole =
            body(
                "r-" + resourceClass,
                "toolVersion",
                "\"1.0.0\"",
                "language",
                "\"python\"",
                "inputArtifacts",
                "[{\"name\":\"a\",\"digest\":\"" + file + "\"}]",
                "executionPolicyId",
                "\"test\"",
                "resourceClass",
                "\"" + resourceClass + "\"",
                "timeoutBudgetMs",
                "60000",
                "correlationId",
                "\"c\"",
                "tenantId",
                "\"acme\"");
        JsonValue.Obj asked = (JsonValue.Obj) EngineServer.json(whole);
        assertThat(asked.members().keySet()).isEqualTo(members("Universal request model"));
        Reply reply = engine.post("alice", whole);
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        TreeSet<String> given = new TreeSet<>(reply.json().members().keySet());
        given.removeAll(OURS);
        assertThat(given).isEqualTo(members("Universal response schema"));
        assertThat(((JsonValue.Obj) at(reply, "metrics")).members().keySet())
            .containsExactlyInAnyOrderElementsOf(words("- `metrics`"));
        assertThat(((JsonValue.Obj) at(reply, "context")).members().keySet())
            .containsExactlyInAnyOrderElementsOf(camelCased(words("`ToolExecutionContext`")));
      }
      // The third class is the seed's, and above this tool's own.
      Reply third =
          engine.post("alice", body("r", "resourceClass", "\"" + classes.getLast() + "\""));
      assertThat(third.string("code")).isEqualTo("GWY-204");
    }
  }
}
