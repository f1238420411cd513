package dev.writ.surfaces.engine;

import static dev.writ.surfaces.engine.EngineServer.body;
import static dev.writ.surfaces.engine.EngineServer.text;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.TestGovernance;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.surfaces.seed.ScriptedLanguage;
import dev.writ.surfaces.seed.SeedServer;
import dev.writ.surfaces.seed.SeedServer.Reply;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a surface chooses for a caller is what the Guardian allows it, in whatever run . */
class ACanarysShareIsOfSubjectsTest {
  private static final String POLICY =
      SeedServer.POLICY
          + TestGovernance.GOVERNANCE
          + """
          runs:
            idle_max_s: 3600
            shared_by:
              - { tenant: acme, runs: "engine:case-*", everybody: true }
          """;

  /** Places among a hundred, for words 2.0.0: acme's alice is at 10, bob at 29. */
  private static final int SHARE = 11;

  @TempDir Path dir;
  private EngineServer engine;

  @BeforeEach
  void start() {
    engine = new EngineServer(dir, POLICY);
    engine.gives("{\"ok\":true}");
    ToolManifest next = ScriptedLanguage.manifest("words", "2.0.0");
    engine.server.home.tools.register(next);
    TestGovernance governance = new TestGovernance(engine.server.home).enrol();
    governance.take(governance.canary(governance.approved(next.ref()), List.of(), SHARE));
  }

  @AfterEach
  void stop() {
    engine.close();
    assertThat(engine.server.failures).isEmpty();
  }

  private static String in(String run) {
    return '"' + run + '"';
  }

  /** The version that ran; the status where none did. */
  private String ran(Reply reply) {
    return reply.string("status").equals("Succeeded")
        ? text(reply, "tool", "toolVersion")
        : reply.string("status");
  }

  private String listed(String as, String run) {
    JsonValue.Arr tools =
        (JsonValue.Arr) engine.server.get(as, "/v1/tools?run=" + run).json().get("tools");
    return tools.items().stream()
        .map(JsonValue.Obj.class::cast)
        .filter(tool -> tool.get("toolId").equals(JsonValue.of("words")))
        .filter(tool -> tool.get("default").equals(JsonValue.of(true)))
        .map(tool -> ((JsonValue.Str) tool.get("toolVersion")).value())
        .findFirst()
        .orElse("none");
  }

  @Test
  void noNameOfARunGetsTheCallerAnything() {
    for (int i = 0; i < 20; i++) {
      String named = body("named-" + i, "toolVersion", "\"2.0.0\"", "correlationId", in("r" + i));
      assertThat(ran(engine.post("bob", named))).isEqualTo("PolicyDenied");
    }
    assertThat(engine.server.home.driver.runs()).isEmpty();
    for (int i = 0; i < 3; i++) {
      String run = "n" + i;
      assertThat(ran(engine.post("bob", body("b" + i, "correlationId", in(run)))))
          .isEqualTo("1.0.0");
      assertThat(listed("bob", "engine:" + run)).isEqualTo("1.0.0");
      assertThat(ran(engine.post("alice", body("a" + i, "correlationId", in("a" + run)))))
          .isEqualTo("2.0.0");
      assertThat(listed("alice", "engine:a" + run)).isEqualTo("2.0.0");
    }
  }

  @Test
  void aSharedRunMeetsTheVersionOfItsOwner() {
    String of = in("case-of-alice");
    assertThat(ran(engine.post("alice", body("a1", "correlationId", of)))).isEqualTo("2.0.0");
    assertThat(listed("bob", "engine:case-of-alice")).isEqualTo("2.0.0");
    assertThat(ran(engine.post("bob", body("b1", "correlationId", of)))).isEqualTo("2.0.0");
    assertThat(ran(engine.post("bob", body("b2", "correlationId", of, "toolVersion", "\"2.0.0\""))))
        .isEqualTo("2.0.0");
    of = in("case-of-bob");
    assertThat(ran(engine.post("bob", body("b3", "correlationId", of)))).isEqualTo("1.0.0");
    assertThat(listed("alice", "engine:case-of-bob")).isEqualTo("1.0.0");
    assertThat(ran(engine.post("alice", body("a2", "correlationId", of)))).isEqualTo("1.0.0");
    assertThat(
            ran(engine.post("alice", body("a3", "correlationId", of, "toolVersion", "\"2.0.0\""))))
        .isEqualTo("PolicyDenied");
  }

  /** The run of somebody else is not used, so it says nothing of its owner either. */
  @Test
  void inARunOfSomebodyElseTheCallerMeetsItsOwn() {
    assertThat(ran(engine.post("alice", body("a1", "correlationId", in("hers")))))
        .isEqualTo("2.0.0");
    assertThat(listed("bob", "engine:hers")).isEqualTo("1.0.0");
    Reply refused = engine.post("bob", body("b1", "correlationId", in("hers")));
    assertThat(refused.string("status")).isEqualTo("PolicyDenied");
    assertThat(text(refused, "tool", "toolVersion")).isNotEqualTo("2.0.0");
    assertThat(engine.server.home.driver.runs()).hasSize(1);
  }
}
