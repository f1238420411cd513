package dev.writ.surfaces.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.CallTrace;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestDriver;
import dev.writ.surfaces.seed.SeedServer.Reply;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Seed 004: one trace and one correlation from the caller to the worker, also after a 202. */
class AnExecutionIsPartOfItsCallersTraceTest {
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

  @TempDir Path dir;

  @Test
  void theToolTheResultAndTheLogAreToldTheSame() {
    List<CallTrace> told = new CopyOnWriteArrayList<>();
    try (EngineServer engine = new EngineServer(dir)) {
      TestDriver.Behaviour gives = Behaviours.gives("{\"ok\":true}", Behaviours.JSON);
      engine.does(invocation -> {
        told.add(invocation.call().trace());
        return gives.run(invocation);
      });
      Reply accepted =
          engine.server.send(
              engine
                  .server
                  .to(EngineSurface.PATH)
                  .header("Authorization", "Bearer token-of-alice")
                  .header("Prefer", "respond-async")
                  .header("traceparent", "00-" + TRACE + "-00f067aa0ba902b7-01")
                  .POST(
                      HttpRequest.BodyPublishers.ofString(
                          EngineServer.body("r", "correlationId", "\"case-123\""))));
      assertThat(accepted.status()).as(accepted.text()).isEqualTo(202);
      Reply over = engine.over("alice", "r");
      assertThat(EngineServer.text(over, "traceId")).isEqualTo(TRACE);
      String request = EngineServer.text(over, "ids", "request").substring("sha256:".length());
      assertThat(told).hasSize(1);
      assertThat(told.getFirst().traceparent())
          .contains("00-" + TRACE + "-" + request.substring(0, 16) + "-01");
      assertThat(told.getFirst().correlationId()).contains("case-123");
      assertThat(engine.server.executions()).hasSize(1);
      assertThat(engine.server.executions().getFirst().members())
          .containsEntry("correlationId", JsonValue.of("case-123"))
          .containsEntry("requestId", JsonValue.of("r"))
          .containsEntry("toolId", JsonValue.of("words"))
          .containsEntry("toolVersion", JsonValue.of("1.0.0"))
          .containsEntry("tenantId", JsonValue.of("acme"))
          .containsEntry("outcome", JsonValue.of("success"));
    }
  }
}
