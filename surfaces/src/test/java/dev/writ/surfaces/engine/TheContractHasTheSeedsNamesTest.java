package dev.writ.surfaces.engine;

import static dev.writ.surfaces.engine.EngineServer.at;
import static dev.writ.surfaces.engine.EngineServer.body;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.fixture.Behaviours;
import dev.writ.gateway.pipeline.IncidentKind;
import dev.writ.surfaces.seed.SeedServer.Reply;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The names of seed 004, kept as data, are those that are taken and given. */
class TheContractHasTheSeedsNamesTest {
  /** What an answer has beyond the seed: spec/surface-engine.md says what each is. */
  private static final List<String> OURS =
      List.of("requestId", "state", "tool", "context", "failure", "ids");

  @TempDir Path dir;

  /** What stands on a line of {@code seed-names.txt}. */
  private static List<String> names(String line) {
    try (InputStream in =
        TheContractHasTheSeedsNamesTest.class.getResourceAsStream("seed-names.txt")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(text -> text.startsWith(line + ": "))
          .map(text -> List.of(text.substring(line.length() + 2).split(" ")))
          .findFirst()
          .orElseThrow();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static TreeSet<String> sorted(String line) {
    return new TreeSet<>(names(line));
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
    assertThat(names("types"))
        .containsExactly(
            ToolExecutionRequest.class.getSimpleName(),
            ToolExecutionContext.class.getSimpleName(),
            ToolExecutionResult.class.getSimpleName(),
            ToolExecutionIncident.class.getSimpleName());
    assertThat(components(ToolExecutionRequest.class)).isEqualTo(sorted("request"));
    TreeSet<String> context = components(ToolExecutionContext.class);
    assertThat(context.remove("region")).as("ours, of what runs in several regions").isTrue();
    assertThat(context).isEqualTo(sorted("context"));
    TreeSet<String> result = components(ToolExecutionResult.class);
    result.removeAll(OURS);
    assertThat(result).isEqualTo(sorted("response"));
    assertThat(components(ToolExecutionResult.Metrics.class)).isEqualTo(sorted("metrics"));
  }

  @Test
  void statusesStatesAndKindsAreTheSeedsAndNoOthers() {
    assertThat(constants(ToolExecutionResult.Status.class)).isEqualTo(names("statuses"));
    assertThat(constants(ExecutionState.class)).isEqualTo(names("states"));
    assertThat(constants(IncidentKind.class)).isEqualTo(names("incidents"));
  }

  @Test
  void eachNameIsTakenAndEachIsGiven() {
    try (EngineServer engine = new EngineServer(dir)) {
      engine.does(_ ->
          new DriverOutcome(
              DriverOutcome.End.SUCCEEDED,
              "ok",
              "",
              Optional.of(
                  new DriverOutcome.Output(
                      "{\"ok\":true}".getBytes(StandardCharsets.UTF_8), Behaviours.JSON)),
              List.of(new DriverOutcome.Artifact("a", new byte[] {1}, "text/plain")),
              Behaviours.USED,
              JsonValue.object().build()));
      Digest file = engine.put("alice", new byte[] {1});
      List<String> classes = names("resource-classes");
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
        assertThat(asked.members().keySet()).isEqualTo(sorted("request"));
        Reply reply = engine.post("alice", whole);
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        TreeSet<String> given = new TreeSet<>(reply.json().members().keySet());
        given.removeAll(OURS);
        assertThat(given).isEqualTo(sorted("response"));
        assertThat(((JsonValue.Obj) at(reply, "metrics")).members().keySet())
            .containsExactlyInAnyOrderElementsOf(names("metrics"));
        assertThat(((JsonValue.Obj) at(reply, "context")).members().keySet())
            .containsExactlyInAnyOrderElementsOf(names("context"));
      }
      // The third class is the seed's, and above this tool's own.
      Reply third =
          engine.post("alice", body("r", "resourceClass", "\"" + classes.getLast() + "\""));
      assertThat(third.string("code")).isEqualTo("GWY-204");
    }
  }
}
