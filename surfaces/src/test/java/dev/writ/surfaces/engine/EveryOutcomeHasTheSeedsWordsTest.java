package dev.writ.surfaces.engine;

import static dev.writ.surfaces.engine.EngineServer.at;
import static dev.writ.surfaces.engine.EngineServer.body;
import static dev.writ.surfaces.engine.EngineServer.text;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.DriverOutcome.End;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.Behaviours;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.schedule.Lane;
import dev.writ.gateway.schedule.Ticket;
import dev.writ.surfaces.seed.SeedServer;
import dev.writ.surfaces.seed.SeedServer.Reply;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each row of the table in spec/surface-engine.md, provoked, and told again after a restart. */
class EveryOutcomeHasTheSeedsWordsTest {
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

  private static void says(Reply reply, String state, String status, String kind) {
    assertThat(reply.string("state")).as(reply.text()).isEqualTo(state);
    assertThat(reply.string("status")).as(reply.text()).isEqualTo(status);
    assertThat(text(reply, "incidents").isEmpty()).isTrue();
    JsonValue.Arr incidents = (JsonValue.Arr) at(reply, "incidents");
    if (kind.isEmpty()) {
      assertThat(incidents.items()).as(reply.text()).isEmpty();
    } else {
      assertThat(incidents.items()).hasSize(1);
      assertThat(text(reply, "incidents", "0", "kind")).isEqualTo(kind);
      assertThat(text(reply, "incidents", "0", "code")).isNotEmpty();
    }
    assertThat(at(reply, "failure") == null).isEqualTo(status.equals("Succeeded"));
  }

  @Test
  void whatAToolCameTo() {
    Object[][] rows = {
      {End.FAILED, "tool-error", "Failed", "Failed", ""},
      {End.FAILED, "worker-died", "Failed", "Failed", ""},
      {End.FAILED, "exit-1", "Failed", "Failed", ""},
      {End.FAILED, "dependency-load-failure", "Failed", "Failed", "DependencyLoadFailure"},
      {End.FAILED, "protocol-violation", "Failed", "SandboxViolation", "SandboxViolation"},
      {End.FAILED, "egress-denied", "Failed", "SandboxViolation", "SandboxViolation"},
      {End.KILLED, "seccomp-violation", "Killed", "SandboxViolation", "SandboxViolation"},
      {End.FAILED, "pids-limit", "Failed", "Failed", "ResourceExceeded"},
      {End.FAILED, "disk-limit", "Failed", "Failed", "ResourceExceeded"},
      {End.FAILED, "artifact-limit", "Failed", "Failed", "ResourceExceeded"},
      {End.KILLED, "out-of-memory", "Killed", "Failed", "ResourceExceeded"},
      {End.KILLED, "output-limit", "Killed", "Failed", "ResourceExceeded"},
      {End.KILLED, "cpu-limit", "Killed", "Failed", "ResourceExceeded"},
      {End.KILLED, "cpu-time", "Killed", "Failed", "ResourceExceeded"},
      {End.KILLED, "cancelled", "Killed", "Failed", ""},
      {End.TIMED_OUT, "timed-out", "TimedOut", "TimedOut", "Timeout"},
      {End.TIMED_OUT, "fuel", "TimedOut", "TimedOut", "Timeout"},
    };
    for (Object[] row : rows) {
      String reason = (String) row[1];
      engine.does(Behaviours.ends((End) row[0], reason));
      Reply reply = engine.post("alice", body(reason));
      says(reply, (String) row[2], (String) row[3], (String) row[4]);
      assertThat(reply.status()).isEqualTo(200);
      assertThat(text(reply, "failure", "code")).isEqualTo(reason);
      assertThat(text(reply, "ids", "receipt")).startsWith("sha256:");
      assertThat(engine.server.get("alice", reply.string("logsRef")).text()).contains("went wrong");
    }
    Reply before = engine.get("alice", "out-of-memory");
    engine.server.restart();
    assertThat(engine.get("alice", "out-of-memory").json()).isEqualTo(before.json());
  }

  @Test
  void anOutputThatIsNotWhatWasPromised() {
    engine.gives("{\"ok\":1}");
    Reply drift = engine.post("alice", body("drift"));
    says(drift, "Failed", "Failed", "");
    assertThat(text(drift, "failure", "code")).isEqualTo("ERR_CONNECTOR_CONTRACT_DRIFT");
    engine.gives("no json");
    says(engine.post("alice", body("no-json")), "Failed", "Failed", "");
    engine.gives("{\"ok\":true,\"x\":" + "[".repeat(5_000) + "]".repeat(5_000) + "}");
    says(engine.post("alice", body("deep")), "Failed", "Failed", "");
    engine.does(Behaviours.huge((1 << 20) + 1));
    says(
        engine.post("alice", body("large", "resourceClass", "\"small\"")),
        "Failed",
        "Failed",
        "ResourceExceeded");
    engine.does(Behaviours.throwing(new IllegalStateException("the driver's own")));
    Reply driver = engine.post("alice", body("driver"));
    says(driver, "Failed", "Failed", "");
    assertThat(text(driver, "failure", "code")).isEqualTo("EXE-401");
  }

  @Test
  void whatTheStagesBeforeTheDispatchRefuse() {
    engine.server.home.driver.refusesToPrepare(new IllegalStateException());
    Reply prepare = engine.post("alice", body("prepare"));
    assertThat(prepare.status()).isEqualTo(503);
    assertThat(prepare.string("code")).isEqualTo("EXE-308");
    Reply told = engine.get("alice", "prepare");
    says(told, "Failed", "Failed", "");
    assertThat(text(told, "failure", "code")).isEqualTo("EXE-308");
    // It was never dispatched, so it may come again: the same request, judged anew.
    engine.server.home.driver.refusesToPrepare(null);
    Reply again = engine.post("alice", body("prepare"));
    says(again, "Completed", "Succeeded", "");
    assertThat(text(again, "ids", "request")).isEqualTo(text(told, "ids", "request"));
  }

  /** Allowed, then something happens before its turn, then the turn comes. */
  private Reply whileItWaits(String requestId, Runnable happens) {
    EngineServer.Gate gate = new EngineServer.Gate();
    engine.lane = gate;
    Reply accepted = engine.async("alice", body(requestId));
    assertThat(accepted.status()).as(accepted.text()).isEqualTo(202);
    assertThat(accepted.response().headers().firstValue("location"))
        .contains(EngineSurface.PATH + "/" + requestId);
    assertThat(accepted.string("state")).isEqualTo("Queued");
    await(gate.waits);
    assertThat(engine.get("alice", requestId).string("state")).isEqualTo("Queued");
    happens.run();
    gate.open.countDown();
    return engine.over("alice", requestId);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void whatHappensWhileItWaits() {
    says(whileItWaits("patient", () -> {}), "Completed", "Succeeded", "");
    assertThat(engine.get("alice", "patient").json().get("metrics"))
        .isEqualTo(
            EngineServer.json("{\"cpuMs\":7,\"memoryPeakMb\":1,\"queueWaitMs\":7,\"wallMs\":9}"));

    Reply cancelled =
        whileItWaits(
            "cancelled",
            () -> assertThat(engine.cancel("alice", "cancelled").status()).isEqualTo(202));
    says(cancelled, "Killed", "Failed", "");
    assertThat(text(cancelled, "failure", "code")).isEqualTo("GWY-206");

    // Its package is another by the time of its turn: judged anew, and allowed by the new one.
    Reply activated =
        whileItWaits("activated", () -> engine.server.home.activate(SeedServer.POLICY));
    says(activated, "Completed", "Succeeded", "");

    Reply retired =
        whileItWaits(
            "retired",
            () ->
                engine.server.home.activate(
                    SeedServer.POLICY.replace("gated, nodriver, words", "gated, nodriver")));
    says(retired, "Failed", "PolicyDenied", "PolicyDenied");
    assertThat(text(retired, "incidents", "0", "code")).startsWith("GRD-");
    engine.server.home.activate(SeedServer.POLICY);

    Reply revoked = whileItWaits("revoked", () -> engine.server.home.prohibit("words", "1.0.0"));
    says(revoked, "Failed", "PolicyDenied", "PolicyDenied");
    assertThat(text(revoked, "incidents", "0", "code")).isEqualTo("EXE-303");
    assertThat(engine.server.home.driver.runs()).hasSize(2);
    Reply later = engine.post("alice", body("later"));
    assertThat(later.status()).isEqualTo(403);
    says(later, "Failed", "PolicyDenied", "PolicyDenied");
    engine.server.restart();
    assertThat(engine.get("alice", "revoked").json().get("incidents"))
        .isEqualTo(revoked.json().get("incidents"));
    assertThat(engine.server.audit().problems()).isEmpty();
  }

  private static Lane refusing(WritException e) {
    return new Lane() {
      @Override
      public <T> Ran<T> run(Ticket ticket, Supplier<T> work) {
        throw e;
      }
    };
  }

  @Test
  void whatTheQueueRefusesWasNotDispatched() {
    engine.lane = refusing(new WritException(GatewayError.TENANT_BUSY, "the queue is full"));
    Reply full = engine.post("alice", body("full"));
    assertThat(full.status()).isEqualTo(429);
    assertThat(full.response().headers().firstValue("retry-after")).isPresent();
    says(engine.get("alice", "full"), "Failed", "Failed", "");
    engine.lane = refusing(new WritException(EngineError.IN_THE_QUEUE, "so long"));
    Reply late = engine.post("alice", body("late"));
    assertThat(late.status()).isEqualTo(200);
    says(late, "TimedOut", "TimedOut", "Timeout");
    // A lane may also say that it has no room in a word that no seed has.
    engine.lane = refusing(new WritException(GatewayError.SERVER_BUSY, "no slot"));
    assertThat(engine.post("alice", body("busy")).status()).isEqualTo(503);
    assertThat(engine.server.home.driver.runs()).isEmpty();
    // The journal has the wait that was too long; of the others nobody knows after a restart.
    // Nothing ran, and all may come again.
    engine.server.restart();
    says(engine.get("alice", "late"), "TimedOut", "TimedOut", "Timeout");
    says(engine.get("alice", "full"), "Killed", "Failed", "");
    engine.lane = Lane.DIRECT;
    says(engine.post("alice", body("late")), "Completed", "Succeeded", "");
    says(engine.post("alice", body("full")), "Completed", "Succeeded", "");
    assertThat(engine.server.home.driver.runs()).hasSize(2);
    assertThat(engine.server.audit().problems()).isEmpty();
  }

  @Test
  void whatRunsIsEndedByItsCallerByItsBudgetAndByARevocation() {
    CountDownLatch first = new CountDownLatch(1);
    engine.does(EngineServer.untilCancelled(first));
    assertThat(engine.async("alice", body("mine")).status()).isEqualTo(202);
    await(first);
    assertThat(engine.get("alice", "mine").string("state")).isEqualTo("Running");
    assertThat(engine.cancel("alice", "mine").status()).isEqualTo(202);
    says(engine.over("alice", "mine"), "Killed", "Failed", "");
    assertThat(counted("writ_executions_total", "outcome=\"cancelled\"")).isEqualTo(1);
    assertThat(counted("writ_incidents_total")).as("what a caller ends is none").isZero();
    Reply over = engine.cancel("alice", "mine");
    assertThat(over.status()).isEqualTo(409);

    engine.does(invocation -> {
      DriverOutcome ended = EngineServer.untilCancelled(new CountDownLatch(1)).run(invocation);
      engine.server.home.clock.forward(Duration.ofSeconds(2));
      return ended;
    });
    Reply budget = engine.post("alice", body("budget", "timeoutBudgetMs", "1"));
    says(budget, "TimedOut", "TimedOut", "Timeout");
    assertThat(counted("writ_executions_total", "outcome=\"timed_out\"")).isEqualTo(1);
    assertThat(counted("writ_incidents_total", "kind=\"Timeout\"")).isEqualTo(1);
    engine.server.home.clock.forward(Duration.ofMillis(1)); // so that the revocation is later

    CountDownLatch third = new CountDownLatch(1);
    engine.does(EngineServer.untilCancelled(third));
    assertThat(engine.async("alice", body("revoked")).status()).isEqualTo(202);
    await(third);
    Reply taken =
        engine.server.send(
            engine
                .server
                .to("/v1/system-changes")
                .POST(
                    HttpRequest.BodyPublishers.ofByteArray(
                        engine
                            .server
                            .home
                            .change(
                                EventKind.TOOL_REVOKED,
                                JsonValue.object()
                                    .put("tool", "words")
                                    .put("version", "1.0.0")
                                    .build())
                            .toBytes())));
    assertThat(taken.status()).as(taken.text()).isEqualTo(200);
    Reply revoked = engine.over("alice", "revoked");
    says(revoked, "Killed", "PolicyDenied", "PolicyDenied");
    assertThat(text(revoked, "incidents", "0", "code")).isEqualTo("EXE-303");
    assertThat(text(revoked, "ids", "receipt")).startsWith("sha256:");
    assertThat(counted("writ_incidents_total", "kind=\"PolicyDenied\"")).isEqualTo(1);
    assertThat(counted("writ_incidents_total")).isEqualTo(2);
    engine.server.restart();
    assertThat(engine.get("alice", "revoked").json().get("incidents"))
        .isEqualTo(revoked.json().get("incidents"));
    assertThat(engine.get("alice", "budget").json().get("incidents"))
        .isEqualTo(budget.json().get("incidents"));
    says(engine.get("alice", "mine"), "Killed", "Failed", "");
  }

  /** The sum over the series of a metric that have these labels. */
  private double counted(String metric, String... labels) {
    return engine
        .server
        .metrics
        .text()
        .lines()
        .filter(line -> line.startsWith(metric + "{"))
        .filter(line -> List.of(labels).stream().allMatch(line::contains))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  /** The caller may ask again and again how a request stands that waits for approval. */
  @Test
  void aDenialIsCountedOnceAndIsNoFailure() {
    String denied = body("no", "inputPayload", "{\"forbidden\":1}");
    String waits = body("waits").replace("\"words\"", "\"gated\"");
    for (int i = 0; i < 3; i++) {
      assertThat(engine.post("alice", denied).status()).isEqualTo(403);
      assertThat(engine.post("alice", waits).status()).isEqualTo(403);
    }
    assertThat(counted("writ_policy_denials_total", "outcome=\"denied\"")).isEqualTo(1);
    assertThat(counted("writ_policy_denials_total", "outcome=\"escalated\"")).isEqualTo(1);
    assertThat(counted("writ_executions_failed_in_a_row")).isZero();
    assertThat(engine.server.executions()).hasSize(2);
  }

  /** Refusals of stages 1 to 3 are counted by stage and code, and have a line in the log. */
  @Test
  void eachStageBeforeTheDispatchIsCountedWhereItRefuses() {
    engine.server.home.driver.refusesToPrepare(new IllegalStateException());
    engine.post("alice", body("prepare"));
    engine.server.home.driver.refusesToPrepare(null);
    engine.lane = refusing(new WritException(EngineError.IN_THE_QUEUE, "so long"));
    engine.post("alice", body("late"));
    assertThat(counted("writ_refusals_total", "stage=\"prepare\"", "code=\"EXE-308\""))
        .isEqualTo(1);
    assertThat(counted("writ_refusals_total", "stage=\"prepare\"", "code=\"GWY-207\""))
        .isEqualTo(1);
    assertThat(counted("writ_incidents_total", "kind=\"Timeout\"")).isEqualTo(1);
    assertThat(engine.server.executions())
        .extracting(line -> line.get("stage") + " " + line.get("code"))
        .containsExactly(
            JsonValue.of("prepare") + " " + JsonValue.of("EXE-308"),
            JsonValue.of("prepare") + " " + JsonValue.of("GWY-207"));
  }

  @Test
  void twoCallsWithOneBodyAreOneExecution() throws InterruptedException {
    EngineServer.Gate gate = new EngineServer.Gate();
    engine.lane = gate;
    Reply[] replies = new Reply[2];
    Thread one = Thread.ofVirtual().start(() -> replies[0] = engine.post("alice", body("same")));
    await(gate.waits);
    assertThat(engine.post("alice", body("same", "inputPayload", "{}")).string("code"))
        .isEqualTo("GWY-205");
    Thread two = Thread.ofVirtual().start(() -> replies[1] = engine.post("alice", body("same")));
    assertThat(engine.async("alice", body("same")).status()).isEqualTo(202);
    gate.open.countDown();
    one.join();
    two.join();
    assertThat(replies[0].json()).isEqualTo(replies[1].json());
    assertThat(engine.server.home.driver.runs()).hasSize(1);
  }

  @Test
  void nobodySeesOrEndsWhatAnotherHasRunning() {
    CountDownLatch begun = new CountDownLatch(1);
    engine.does(EngineServer.untilCancelled(begun));
    assertThat(engine.async("alice", body("hers")).status()).isEqualTo(202);
    await(begun);
    for (String as : new String[] {"eve", "bob"}) {
      assertThat(engine.get(as, "hers").status()).isEqualTo(404);
      assertThat(engine.cancel(as, "hers").status()).isEqualTo(404);
    }
    assertThat(engine.get("alice", "hers").string("state")).isEqualTo("Running");
    engine.cancel("alice", "hers");
    says(engine.over("alice", "hers"), "Killed", "Failed", "");
  }
}
