package dev.writ.surfaces.engine;

import static dev.writ.surfaces.engine.EngineServer.body;
import static dev.writ.surfaces.engine.EngineServer.text;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.Behaviours;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.surfaces.seed.ScriptedLanguage;
import dev.writ.surfaces.seed.SeedServer;
import dev.writ.surfaces.seed.SeedServer.Reply;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code GET /v1/tools} lists is what this surface runs, version, digest and all. */
class EveryViewShowsTheSameRegistryTest {
  @TempDir Path dir;
  private EngineServer engine;

  @BeforeEach
  void start() {
    engine = new EngineServer(dir);
    engine.gives("{\"ok\":true}");
  }

  @AfterEach
  void stop() {
    engine.close();
    assertThat(engine.server.failures).isEmpty();
  }

  private Optional<JsonValue.Obj> listed(String as, String tool, String version) {
    Reply reply = engine.server.get(as, "/v1/tools");
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return ((JsonValue.Arr) reply.json().get("tools"))
        .items().stream()
            .map(JsonValue.Obj.class::cast)
            .filter(t -> t.get("toolId").equals(JsonValue.of(tool)))
            .filter(t -> t.get("toolVersion").equals(JsonValue.of(version)))
            .findFirst();
  }

  @Test
  void whatIsListedRunsByThatVersionAndDigest() {
    ToolManifest second = ScriptedLanguage.manifest("words", "2.0.0");
    engine.server.home.tools.register(second);
    engine.server.home.activate(SeedServer.POLICY);
    JsonValue.Obj one = listed("alice", "words", "1.0.0").orElseThrow();
    JsonValue.Obj two = listed("alice", "words", "2.0.0").orElseThrow();
    assertThat(one.get("default")).isEqualTo(JsonValue.of(false));
    assertThat(two.get("default")).isEqualTo(JsonValue.of(true));
    assertThat(two.get("stage")).isEqualTo(JsonValue.of("active"));
    assertThat(two.get("language")).isEqualTo(JsonValue.of("python"));
    assertThat(two.get("resourceClass")).isEqualTo(JsonValue.of("medium"));
    assertThat(((JsonValue.Arr) two.get("operations")).items()).hasSize(3);
    Reply ran = engine.post("alice", body("r"));
    assertThat(text(ran, "tool", "toolVersion")).isEqualTo("2.0.0");
    assertThat(JsonValue.of(text(ran, "tool", "packageDigest")))
        .isEqualTo(two.get("packageDigest"));
    assertThat(text(ran, "tool", "packageDigest")).isEqualTo(second.packageDigest().toString());
  }

  @Test
  void onlyWhatTheCallersRolesHaveIsListed() {
    assertThat(listed("alice", "exec", "1.0.0")).isPresent();
    assertThat(listed("alice", "exec", "1.0.0").get().get("language")).isNull();
    assertThat(listed("eve", "exec", "1.0.0")).isEmpty();
    assertThat(listed("eve", "words", "1.0.0")).isPresent();
    engine.server.home.prohibit("words", "1.0.0");
    assertThat(listed("eve", "words", "1.0.0")).isEmpty();
    engine.does(Behaviours.fails());
    assertThat(engine.post("eve", body("r")).string("status")).isEqualTo("PolicyDenied");
  }
}
