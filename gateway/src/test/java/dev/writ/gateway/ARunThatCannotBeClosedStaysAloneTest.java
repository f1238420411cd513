package dev.writ.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.Await;
import dev.writ.fixture.TestKeys;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Resources;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Housekeeping does what it can: a failure keeps nothing else from being done. */
class ARunThatCannotBeClosedStaysAloneTest {
  @TempDir Path dir;

  private static void use(TestGateway server, String surface, String run) {
    Effect effect =
        new Effect(
            "calc",
            "1.0.0",
            "do",
            JsonValue.object().put("n", 1).build(),
            List.of(),
            new Resources(1_000, 64 << 20, 8 << 20, 2_000),
            "box",
            Optional.empty());
    server.pipeline.vouch(
        new Pipeline.Vouched(
            surface,
            "token",
            "alice-token",
            Digest.sha256(run.getBytes(StandardCharsets.UTF_8)),
            TestKeys.TENANT,
            run,
            "alice",
            effect,
            List.of(),
            Optional.empty(),
            true,
            JsonValue.object().build()));
  }

  private static boolean closed(TestGateway server, String run) {
    return server.home.runState(TestKeys.TENANT, run).closed();
  }

  @Test
  void theRunsOfOtherKeysAreClosedAndOneFailureIsToldForAll() {
    List<RuntimeException> failures = new ArrayList<>();
    try (TestGateway server = TestGateway.start(dir)) {
      use(server, TestGateway.SURFACE, "a");
      use(server, TestGateway.SURFACE, "b");
      use(server, "vouched", "c");
      server.home.revoke(TestGateway.SURFACE);
      server.home.clock.forward(Duration.ofDays(2));
      assertThat(server.pipeline.closeOverRuns(failures::add)).isEqualTo(1);
      assertThat(closed(server, "a")).isFalse();
      assertThat(closed(server, "b")).isFalse();
      assertThat(closed(server, "c")).isTrue();
    }
    assertThat(failures).hasSize(1).first().isInstanceOf(WritException.class);
  }

  @Test
  void eachPartIsDoneThoughTheOneBeforeItFails() {
    AtomicInteger done = new AtomicInteger();
    List<RuntimeException> failures = new CopyOnWriteArrayList<>();
    RuntimeException failure = new IllegalStateException("the first part");
    List<Runnable> parts =
        List.of(
            () -> {
              throw failure;
            },
            done::incrementAndGet);
    try (Housekeeping _ = new Housekeeping(Duration.ofMillis(1), parts, failures::add)) {
      Await.until(() -> done.get() >= 2);
    }
    assertThat(failures).hasSizeGreaterThanOrEqualTo(2).allMatch(failure::equals);
  }
}
