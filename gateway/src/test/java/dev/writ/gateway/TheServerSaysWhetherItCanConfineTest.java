package dev.writ.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.fixture.TestClock;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestTools;
import dev.writ.gateway.ops.JsonLog;
import dev.writ.gateway.ops.Probe.Result;
import dev.writ.gateway.ops.Readiness;
import dev.writ.gateway.ops.ServerHealth;
import dev.writ.guardian.policy.Policy;
import dev.writ.tools.error.ToolsError;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Readiness and metrics of what confines the tools that are processes. */
class TheServerSaysWhetherItCanConfineTest {
  private static final String CONFIG = "writ_gateway: 1\nlisten: { port: 0 }\n";

  @TempDir Path dir;
  private final Confined confined = new Confined();

  /** A sandbox that does as the test says. */
  private static final class Confined implements Confining {
    final AtomicInteger looked = new AtomicInteger();
    final CountDownLatch mayLook = new CountDownLatch(1);
    volatile boolean needed = true;
    volatile Optional<RuntimeException> missing = Optional.empty();

    @Override
    public boolean isNeeded(Policy policy) {
      return needed;
    }

    @Override
    public String require(Policy policy) {
      looked.incrementAndGet();
      try {
        mayLook.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      if (missing.isPresent()) {
        throw missing.get();
      }
      return "an engine 1.0";
    }

    @Override
    public List<ServerHealth.Guarantee> guarantees() {
      return List.of(new ServerHealth.Guarantee("seccomp", true, true, "a filter"));
    }

    @Override
    public long running() {
      return 2;
    }

    @Override
    public long started() {
      return 17;
    }

    @Override
    public SortedMap<String, Long> ended() {
      return new TreeMap<>(Map.of("exited", 14L, "out-of-memory", 1L));
    }
  }

  private WholeGateway server() {
    return new WholeGateway(
        TestGateway.newHome(dir.resolve("home")),
        CONFIG,
        dir,
        installation -> installation.with(confined));
  }

  private static HttpResponse<String> ready(WholeGateway server) throws Exception {
    server.home.clock.forward(Duration.ofSeconds(1)); // the answer is kept for that long
    return server.send(server.to("/ready").GET());
  }

  @Test
  @Timeout(60)
  void whoAsksDoesNotWaitForTheLookAndGetsWhatItCameTo() throws Exception {
    try (WholeGateway server = server()) {
      for (int i = 0; i < 5; i++) {
        HttpResponse<String> early = ready(server);
        assertThat(early.statusCode()).isEqualTo(503);
        assertThat(early.body())
            .contains("{\"name\":\"sandbox\",\"ok\":false,\"why\":\"not-looked-yet\"}");
      }
      confined.mayLook.countDown();
      HttpResponse<String> answer = ready(server);
      while (answer.statusCode() != 200) {
        answer = ready(server);
      }
      assertThat(answer.body()).contains("{\"name\":\"sandbox\",\"ok\":true}");
      assertThat(confined.looked.get()).isEqualTo(1);
      String metrics = server.send(server.to("/metrics").GET()).body();
      assertThat(metrics)
          .contains("writ_sandboxes_running 2.0")
          .contains("writ_sandboxes_started_total 17.0")
          .contains("writ_sandbox_commands_total{reason=\"exited\"} 14.0")
          .contains("writ_sandbox_commands_total{reason=\"out-of-memory\"} 1.0");
      ServerHealth health = server.gateway.health();
      assertThat(health.checks()).allMatch(Readiness.Check::ok);
      assertThat(health.waiting() + health.running() + health.commitsWaiting()).isZero();
      assertThat(health.diskFree().orElseThrow()).isPositive();
      ServerHealth.Sandboxes sandboxes = health.sandboxes().orElseThrow();
      assertThat(sandboxes.found()).contains("an engine 1.0");
      assertThat(sandboxes.started()).isEqualTo(17);
      assertThat(sandboxes.guarantees()).hasSize(1);
      assertThat(sandboxes.ended()).containsEntry("exited", 14L);
    }
  }

  private final TestClock clock = new TestClock(Instant.parse("2026-11-21T12:00:00Z"));
  private final ByteArrayOutputStream log = new ByteArrayOutputStream();
  private Optional<Policy> policy =
      Optional.of(TestPolicy.first(TestPolicy.YAML, TestTools.standard()));

  private ConfiningWatch watch() {
    confined.mayLook.countDown();
    return new ConfiningWatch(
        confined,
        () -> policy,
        clock,
        new JsonLog(new PrintStream(log, true, StandardCharsets.UTF_8), clock));
  }

  private Result after(ConfiningWatch watch, Duration time) {
    clock.forward(time);
    watch.look();
    return watch.seen();
  }

  @Test
  void whatIsFoundIsLookedAtAgainAndItsLossIsSeenAndLoggedOnce() {
    ConfiningWatch watch = watch();
    assertThat(after(watch, ConfiningWatch.EVERY)).isEqualTo(Result.OK);
    assertThat(after(watch, ConfiningWatch.EVERY)).isEqualTo(Result.OK);
    assertThat(confined.looked.get()).isEqualTo(1);
    assertThat(watch.found()).contains("an engine 1.0");
    confined.missing = Optional.of(new WritException(ToolsError.PROCESSES_ABSENT, "a reason"));
    assertThat(after(watch, ConfiningWatch.FOUND_EVERY).ok()).isFalse();
    assertThat(after(watch, ConfiningWatch.EVERY).why())
        .contains(ToolsError.PROCESSES_ABSENT.code());
    assertThat(confined.looked.get()).isEqualTo(3);
    assertThat(watch.found()).isEmpty();
    assertThat(log.toString(StandardCharsets.UTF_8).lines())
        .hasSize(2)
        .last()
        .asString()
        .contains("\"code\":\"" + ToolsError.PROCESSES_ABSENT.code() + "\"", "a reason");
    confined.missing = Optional.empty();
    assertThat(after(watch, ConfiningWatch.EVERY)).isEqualTo(Result.OK);
  }

  @Test
  void nothingIsLookedForWhereNoPolicyApprovesAToolThatNeedsIt() {
    confined.needed = false;
    ConfiningWatch watch = watch();
    assertThat(watch.seen().ok()).isFalse();
    assertThat(after(watch, ConfiningWatch.EVERY))
        .isEqualTo(new Result(true, Optional.of("not-needed")));
    confined.needed = true;
    Optional<Policy> before = policy;
    policy = Optional.empty();
    assertThat(after(watch, ConfiningWatch.EVERY).why()).contains("not-needed");
    assertThat(confined.looked.get()).isZero();
    policy = before;
    assertThat(after(watch, ConfiningWatch.EVERY)).isEqualTo(Result.OK);
    assertThat(confined.looked.get()).isEqualTo(1);
  }

  @Test
  void aLookThatFailsUnforeseenIsNoYes() {
    ConfiningWatch watch = watch();
    confined.missing = Optional.of(new IllegalStateException("a path of this host"));
    assertThatThrownBy(watch::look).isInstanceOf(IllegalStateException.class);
    assertThat(watch.seen()).isEqualTo(new Result(false, Optional.of("GWY-070")));
    assertThat(log.toString(StandardCharsets.UTF_8)).doesNotContain("a path");
  }
}
