package dev.writ.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.fixture.TestDriver;
import dev.writ.fixture.TestTools;
import dev.writ.gateway.pipeline.Running;
import dev.writ.gateway.pipeline.ToolObserver;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** A revocation ends what runs, and what was let through a moment before it; and nothing else. */
class WhatIsProhibitedDoesNotRunOnTest {
  private final Running running = new Running();
  private final TestDriver script = new TestDriver();
  private final Driver driver = running.cancellable(script);

  private static Digest request(String name) {
    return Digest.sha256(name.getBytes(StandardCharsets.UTF_8));
  }

  /** Runs a tool as one that was let through; the tool says whether it was interrupted. */
  private boolean isInterrupted(String tool, Runnable meanwhile) {
    AtomicBoolean interrupted = new AtomicBoolean();
    script.does(
        tool,
        _ -> {
          meanwhile.run();
          interrupted.set(Thread.interrupted());
          return DriverOutcome.failed(
              DriverOutcome.End.KILLED, "cancelled", "", DriverOutcome.Metrics.NONE);
        });
    ToolManifest manifest = TestTools.manifest(tool, Determinism.RECORDED);
    Driver.Prepared prepared = driver.prepare(manifest, "do", _ -> new byte[0]);
    running.during(
        request(tool), "acme", "alice", ToolObserver.NONE, () -> prepared.run((Invocation) null));
    return interrupted.get();
  }

  @Test
  void whatRunsIsInterrupted() {
    assertThat(isInterrupted("mail", () -> running.prohibit((name, _) -> name.equals("mail"))))
        .isTrue();
  }

  @Test
  void whatComesAfterTheRevocationIsInterruptedAtOnce() {
    running.prohibit((name, version) -> name.equals("mail") && version.equals("1.0.0"));
    assertThat(isInterrupted("mail", () -> {})).isTrue();
  }

  @Test
  void anotherToolRunsOn() throws InterruptedException {
    CountDownLatch done = new CountDownLatch(1);
    assertThat(
            isInterrupted(
                "mail",
                () -> {
                  running.prohibit((name, _) -> name.equals("pay"));
                  done.countDown();
                }))
        .isFalse();
    assertThat(done.getCount()).isZero();
    assertThatThrownBy(() -> running.cancel(request("mail"), "acme", "alice"))
        .hasMessageContaining("GWY-041");
  }

  /** Somebody who names the request is there before the one whom the kernel lets execute it. */
  private boolean isInterruptedBehind(String subject, Runnable meanwhile) {
    return running.during(
        request("mail"),
        "acme",
        subject,
        ToolObserver.NONE,
        () -> isInterrupted("mail", meanwhile));
  }

  @Test
  void whatRunsForARequestThatWasSentTwiceIsInterrupted() {
    for (String other : List.of("alice", "bob")) {
      assertThat(isInterruptedBehind(other, () -> running.cancel(request("mail"), "acme", "alice")))
          .as(other)
          .isTrue();
      assertThat(
              isInterruptedBehind(
                  other,
                  () ->
                      assertThatThrownBy(() -> running.cancel(request("mail"), "acme", "eve"))
                          .hasMessageContaining("GWY-041")))
          .as(other)
          .isFalse();
    }
    assertThat(isInterruptedBehind("bob", () -> running.prohibit((_, _) -> true))).isTrue();
    assertThatThrownBy(() -> running.cancel(request("mail"), "acme", "bob"))
        .hasMessageContaining("GWY-041");
  }
}
