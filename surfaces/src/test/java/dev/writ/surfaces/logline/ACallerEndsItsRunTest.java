package dev.writ.surfaces.logline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.Behaviours;
import dev.writ.guardian.document.Resources;
import dev.writ.surfaces.seed.SeedServer;
import dev.writ.surfaces.seed.SeedServer.Reply;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Seed 001, 6: "wiped after completion", and the caller says when that is. */
class ACallerEndsItsRunTest {
  private static final String BOTH =
      SeedServer.POLICY.replace(
          "subject: bob, roles: [worker], surfaces: [engine]",
          "subject: bob, roles: [worker], surfaces: [engine, logline]");
  private static final String SHARED =
      BOTH + "runs: { idle_max_s: 60, shared_by: [ { tenant: acme, subjects: [alice, bob] } ] }\n";
  private static final String RUN = "/execute/runs/acme/run_123";

  @TempDir Path dir;
  private SeedServer server;
  private LoglineCaller alice;
  private LoglineCaller bob;

  private void start(String policy) {
    server =
        new SeedServer(dir, policy, pipeline -> List.of(new LoglineSurface(pipeline, config())));
    alice = LoglineCaller.of(server, "of alice");
    bob = LoglineCaller.of(server, "of bob");
    server.home.driver.does(
        "code_interpreter", Behaviours.gives("{\"stdout\":\"\"}", Behaviours.JSON));
  }

  private static LoglineConfig config() {
    TreeMap<String, LoglineConfig.Tool> tools = new TreeMap<>();
    for (String tool : List.of("code_interpreter", "rocket")) {
      tools.put(
          tool,
          new LoglineConfig.Tool(
              tool,
              "1.0.0",
              "twice",
              new Resources(1000, 1 << 20, 1 << 20, 1000),
              "box",
              JsonValue.object().build()));
    }
    return new LoglineConfig(
        List.of(LoglineCaller.secret("of alice", "alice"), LoglineCaller.secret("of bob", "bob")),
        tools,
        0);
  }

  @AfterEach
  void stop() {
    server.close();
    assertThat(server.failures).isEmpty();
  }

  private static Reply execute(LoglineCaller caller, String tool, String more) {
    return caller.execute(
        tool,
        "{\"tool_id\":\"%s\",\"input\":{},\"context\":{\"run_id\":\"run_123\",\"tenant_id\":\"acme\"%s}}"
            .formatted(tool, more));
  }

  private boolean closed() {
    return server.home.runState("acme", "run_123").closed();
  }

  @Test
  void withItsLastExecution() {
    start(BOTH);
    assertThat(execute(alice, "code_interpreter", ",\"end\":false").json().get("run")).isNull();
    assertThat(closed()).isFalse();
    Reply last = execute(alice, "code_interpreter", ",\"end\":true");
    assertThat(last.status()).as(last.text()).isEqualTo(200);
    assertThat(last.string("status")).isEqualTo("success");
    assertThat(last.json().get("run")).isEqualTo(JsonValue.object().put("ended", true).build());
    assertThat(server.home.kinds("acme", "run_123")).endsWith("run.closed");
    Reply after = execute(alice, "code_interpreter", "");
    assertThat(after.status()).isEqualTo(409);
    assertThat(after.string("code")).isEqualTo("EXE-901");
    assertThat(server.audit().problems()).isEmpty();
  }

  @Test
  void orByACallOfItsOwn() {
    start(BOTH);
    execute(alice, "code_interpreter", "");
    Reply ended = alice.call("DELETE", RUN);
    assertThat(ended.status()).as(ended.text()).isEqualTo(200);
    assertThat(ended.text()).isEqualTo("{\"status\":\"success\"}");
    assertThat(closed()).isTrue();
    assertThat(alice.call("DELETE", RUN).string("code")).isEqualTo("EXE-901");
    assertThat(alice.call("DELETE", "/execute/runs/other/run_123").string("code"))
        .isEqualTo("GWY-109");
  }

  @Test
  void anotherSubjectsRunIsNotHisToEnd() {
    start(BOTH);
    execute(alice, "code_interpreter", "");
    Reply foreign = bob.call("DELETE", RUN);
    Reply unknown = bob.call("DELETE", RUN.replace("123", "124"));
    assertThat(foreign.status()).isEqualTo(404);
    assertThat(foreign.text()).isEqualTo(unknown.text().replace("124", "123"));
    assertThat(execute(bob, "code_interpreter", ",\"end\":true").status()).isEqualTo(403);
    assertThat(closed()).isFalse();
    server.home.activate(SHARED);
    assertThat(bob.call("DELETE", RUN).status()).isEqualTo(200);
    assertThat(closed()).isTrue();
  }

  @Test
  void whatIsDeniedEndsNothing() {
    start(BOTH);
    execute(alice, "code_interpreter", "");
    assertThat(execute(alice, "rocket", ",\"end\":true").status()).isEqualTo(403);
    assertThat(closed()).isFalse();
  }

  @Test
  void aRunWithAnExecutionAtWorkStaysOpenAndTheAnswerSaysSo() throws Exception {
    start(BOTH);
    execute(alice, "code_interpreter", "");
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    server.home.driver.does(
        "code_interpreter",
        invocation -> {
          if (begun.getCount() > 0) {
            begun.countDown();
            try {
              release.await();
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
          }
          return Behaviours.gives("{\"stdout\":\"done\"}", Behaviours.JSON).run(invocation);
        });
    CompletableFuture<Reply> first =
        CompletableFuture.supplyAsync(() -> execute(alice, "code_interpreter", ""));
    begun.await();
    Reply second = execute(alice, "code_interpreter", ",\"end\":true");
    assertThat(second.string("status")).isEqualTo("success");
    JsonValue.Obj run = (JsonValue.Obj) second.json().get("run");
    assertThat(run.get("ended")).isEqualTo(JsonValue.of(false));
    assertThat(run.get("code")).isEqualTo(JsonValue.of("EXE-903"));
    assertThat(alice.call("DELETE", RUN).string("code")).isEqualTo("EXE-903");
    release.countDown();
    assertThat(first.get().status()).isEqualTo(200);
    assertThat(alice.call("DELETE", RUN).status()).isEqualTo(200);
  }

  @Test
  void endIsYesOrNo() {
    start(BOTH);
    assertThat(execute(alice, "code_interpreter", ",\"end\":\"yes\"").string("code"))
        .isEqualTo("GWY-107");
    assertThat(server.home.driver.runs()).isEmpty();
  }
}
