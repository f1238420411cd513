package dev.writ.embed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.ToolManifest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A program brings a driver and its tools, and none of them is taken for another. */
class ADriverOfTheProgramsOwnTest {
  @TempDir Path dir;

  /** Whatever it is asked, it answers with its own word. */
  private record Says(String name, String word) implements Driver {
    @Override
    public Determinism determinism() {
      return Determinism.RECORDED;
    }

    @Override
    public Digest sandboxProfile(String profile) {
      return Digest.sha256(profile.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public Prepared prepare(ToolManifest manifest, String operation, PackageContent content) {
      return _ ->
          DriverOutcome.succeeded(
              ("\"" + word + "\"").getBytes(StandardCharsets.UTF_8),
              "application/json",
              DriverOutcome.Metrics.NONE);
    }
  }

  private static List<ToolManifest> tool(String name, String driver) {
    return List.of(
        new ToolManifest(
            name,
            "1.0.0",
            driver,
            Determinism.RECORDED,
            List.of(
                new ToolManifest.Operation(
                    "say",
                    JsonValue.object().put("type", "object").build(),
                    Optional.empty(),
                    "application/json")),
            ToolManifest.Capabilities.none(),
            new Resources(1000, 1L << 20, 1L << 20, 1000),
            List.of("host"),
            List.of()));
  }

  private WritBuilder at() {
    return Writ.at(dir.resolve("w")).withoutProcesses();
  }

  private void refused(WritBuilder builder, String found) {
    assertThatThrownBy(builder::open).hasMessageContaining("TOL-028").hasMessageContaining(found);
    assertThat(dir.resolve("w")).as("before anything is made").doesNotExist();
  }

  @Test
  void eachRunsItsOwnTools() {
    WritBuilder two =
        at().driver(new Says("a", "yes"), tool("one", "a"))
            .driver(new Says("b", "no"), tool("two", "b"));
    try (Writ writ = two.open()) {
      AgentRun run = writ.agent("researcher").run("main");
      assertThat(run.ask(Effect.of("one")).text()).isEqualTo("\"yes\"");
      assertThat(run.ask(Effect.of("two")).text()).isEqualTo("\"no\"");
      assertThat(run.ask(Effect.of("js").param("source", "6*7")).text()).isEqualTo("42");
    }
  }

  @Test
  void ofTwoOfOneNameNoneIsTaken() {
    refused(
        at().driver(new Says("a", "yes"), tool("one", "a"))
            .driver(new Says("a", "no"), tool("two", "a")),
        "there is a driver \"a\" already");
    refused(
        at().driver(new Says("java", "yes"), tool("one", "java"))
            .tool(JavaTool.of("two", "1.0.0", "{}", "{}", _ -> JsonValue.of("no"))),
        "there is a driver \"java\" already");
  }

  @Test
  void noneTakesThePlaceOfABuiltInOne() {
    refused(at().driver(new Says("sql", "yes"), List.of()), "there is a driver \"sql\" already");
  }

  @Test
  void aToolOfAnotherDriverIsSaidWhereItIsGiven() {
    refused(
        at().driver(new Says("a", "yes"), tool("one", "b")),
        "the tool \"one\" is given with the driver \"a\" and names \"b\"");
  }

  @Test
  void whatCannotBeThereIsSaidWhereItIsGiven() {
    assertThatThrownBy(() -> at().driver(null, List.of())).hasMessage("driver");
    assertThatThrownBy(() -> at().tool(null)).hasMessage("tool");
    assertThatThrownBy(() -> at().key("guardian", null)).hasMessage("key guardian");
    assertThatThrownBy(() -> at().random(null)).hasMessage("source of random numbers");
    assertThatThrownBy(() -> JavaTool.of("two", "1.0.0", "{}", "{}", null)).hasMessage("handler");
  }

  @Test
  void aHandlerThatGivesNothingIsSaidToGiveNull() {
    JavaTool none = JavaTool.of("two", "1.0.0", "{}", "{}", _ -> null);
    try (Writ writ = at().tool(none).open()) {
      Outcome outcome = writ.agent("researcher").run("main").ask(Effect.of("two"));
      assertThat(outcome.status()).contains(Status.FAILED);
      assertThat(outcome.reason()).endsWith("the tool gave null");
    }
  }
}
