package dev.writ.gateway.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.WholeGateway;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The lane of a whole server: policy's section counts the moment it is activated over HTTP. */
@Timeout(60)
class TheServersLaneFollowsItsPolicyTest {
  private static final String CONFIG =
      "writ_gateway: 1\nlisten: { port: 0 }\ntokens:\n" + WholeGateway.token("a", "alice", "");
  private static final String POLICY =
      TestPolicy.YAML.replace(
          "subject: alice, roles: [worker]", "subject: alice, roles: [worker], surfaces: [test]");
  private static final Ticket TICKET =
      new Ticket("acme", "alice", "calc", "medium", Duration.ofHours(1));

  @TempDir Path dir;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final CountDownLatch end = new CountDownLatch(1);
  private TestHome home;
  private WholeGateway server;

  @BeforeEach
  void start() {
    home = TestGateway.newHome(dir);
    server = new WholeGateway(home, CONFIG, dir);
  }

  @AfterEach
  void stop() throws IOException {
    end.countDown();
    threads.close();
    server.close();
  }

  private void activate(String engine) throws Exception {
    byte[] signed =
        home.signed(
                TestPolicy.after(home.policy(), POLICY + "engine: " + engine + "\n", home.tools))
            .toBytes();
    assertThat(server.post("/v1/policies", signed).statusCode()).isEqualTo(200);
  }

  private Future<?> hold() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    Future<?> call =
        threads.submit(() ->
            server
                .lane()
                .run(
                    TICKET,
                    () -> {
                      begun.countDown();
                      try {
                        end.await();
                      } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                      }
                      return 1;
                    }));
    begun.await();
    return call;
  }

  private String metrics() throws Exception {
    return server.send(server.to("/metrics").GET()).body();
  }

  private Future<?> waits() throws Exception {
    Future<?> call = threads.submit(() -> server.lane().run(TICKET, () -> 2));
    while (((Scheduler) server.lane()).waiting() == 0) {
      Thread.yield();
    }
    assertThat(metrics()).contains("writ_engine_waiting 1.0");
    return call;
  }

  @Test
  void whoWaitsRunsWhenAPolicyWithMoreSlotsIsActivated() throws Exception {
    activate("{ slots: 1 }");
    Future<?> holding = hold();
    Future<?> waiting = waits();
    assertThat(metrics())
        .contains(
            "writ_engine_running{class=\"medium\"} 1.0",
            "writ_engine_running{class=\"small\"} 0.0",
            "writ_engine_wait_seconds_count{class=\"medium\",end=\"turn\"} 1");

    activate("{ slots: 2 }");

    assertThat(waiting.get()).isEqualTo(waiting.resultNow());
    assertThat(holding.isDone()).isFalse();
    assertThat(metrics()).contains("writ_engine_waiting 0.0");
  }

  @Test
  void aServerThatStopsRefusesWhoWaitsInItsLane() throws Exception {
    activate("{ slots: 1 }");
    hold();
    Future<?> waiting = waits();
    server.gateway.close();
    assertThatThrownBy(waiting::get)
        .isInstanceOf(ExecutionException.class)
        .hasMessageContaining("GWY-027");
  }

  @Test
  void aFlagSwitchesAToolOffForAVouchedCallToo() throws Exception {
    assertThat(server.post("a", "/test/r/calc", "{}").statusCode()).isEqualTo(200);
    activate("{ flags: [ { match: { tenant: acme, tool: calc }, enabled: false } ] }");
    assertThat(server.post("a", "/test/r/calc", "{}").body()).isEqualTo("GRD-415");
    assertThat(server.post("a", "/test/r/mail", "{}").statusCode()).isEqualTo(200);
    activate("{ flags: [ { match: { tenant: acme, tool: calc }, enabled: true } ] }");
    assertThat(server.post("a", "/test/r/calc", "{}").statusCode()).isEqualTo(200);
  }
}
