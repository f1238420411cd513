package dev.writ.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Answer;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.fixture.TestKeys;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** protocol rules 32 and 33: what a surface vouches for goes through the one pipeline. */
class AVouchedRequestIsServedOnceTest {
  private static final Digest RAW = Digest.sha256(new byte[] {7});

  @TempDir Path dir;
  private TestGateway gateway;

  @BeforeEach
  void start() {
    gateway = TestGateway.start(dir);
  }

  @AfterEach
  void stop() {
    gateway.close();
  }

  private Pipeline.Vouched vouched(String subject, Effect effect, Optional<String> key) {
    return new Pipeline.Vouched(
        TestGateway.SURFACE,
        "bearer",
        "token-1",
        RAW,
        TestKeys.TENANT,
        "run-1",
        subject,
        effect,
        List.of(),
        key,
        true,
        JsonValue.object().put("traceparent", "00-1").build());
  }

  private Effect effect(String params) {
    return gateway.home.ask("alice").params(params).request().effect();
  }

  @Test
  void theRequestStatesItsOriginAndItsReceiptIsTheSubjects() {
    Answer answer = gateway.pipeline.vouch(vouched("alice", effect("{\"n\":1}"), Optional.empty()));
    Request request = Request.read(gateway.home.document(answer.request()).document());
    assertThat(request.origin().orElseThrow().surface()).isEqualTo("test");
    assertThat(request.origin().orElseThrow().raw()).isEqualTo(RAW);
    assertThat(answer.served().orElseThrow().receipt().scope().subject()).isEqualTo("alice");
    String path = "/v1/receipts/" + answer.served().orElseThrow().id();
    assertThat(gateway.get("alice", path).status()).isEqualTo(200);
    assertThat(gateway.get("bob", path).status()).isEqualTo(404);
    assertThat(gateway.get("alice", "/v1/runs/run-1").status()).isEqualTo(200);
    assertThat(gateway.get("bob", "/v1/runs/run-1").status()).isEqualTo(404);
  }

  @Test
  void policyNamesForWhomASurfaceMayVouch() {
    assertThatThrownBy(() -> gateway.pipeline.vouch(vouched("bob", effect("{}"), Optional.empty())))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("GRD-008");
  }

  @Test
  void oneKeyIsOneEffectAndNoKeyIsEachTimeAnother() {
    Effect effect = effect("{\"n\":5}");
    Answer first = gateway.pipeline.vouch(vouched("alice", effect, Optional.of("k")));
    Answer again = gateway.pipeline.vouch(vouched("alice", effect, Optional.of("k")));
    assertThat(again.served().orElseThrow().id()).isEqualTo(first.served().orElseThrow().id());
    assertThat(again.served().orElseThrow().repeated()).isTrue();
    assertThatThrownBy(
            () -> gateway.pipeline.vouch(vouched("alice", effect("{\"n\":6}"), Optional.of("k"))))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("EXE-110");
    gateway.pipeline.vouch(vouched("alice", effect, Optional.empty()));
    gateway.pipeline.vouch(vouched("alice", effect, Optional.empty()));
    assertThat(gateway.home.driver.runsWith(effect.params())).isEqualTo(3);
  }

  @Test
  void theStandingOfAKeyIsNewThenRunningThenKnown() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    gateway.home.driver.does(
        "sim",
        _ -> {
          begun.countDown();
          try {
            release.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          return DriverOutcome.failed(
              DriverOutcome.End.FAILED, "no", "", new DriverOutcome.Metrics(0, 0, 0, 0));
        });
    Effect effect = gateway.home.ask("alice").tool("sim").request().effect();
    assertThat(gateway.pipeline.standing("acme", "alice", "k"))
        .isInstanceOf(Pipeline.Standing.New.class);
    var running =
        CompletableFuture.supplyAsync(
            () -> gateway.pipeline.vouch(vouched("alice", effect, Optional.of("k"))));
    begun.await();
    assertThat(gateway.pipeline.standing("acme", "alice", "k"))
        .isInstanceOf(Pipeline.Standing.Running.class);
    assertThat(gateway.pipeline.standing("acme", "bob", "k"))
        .isInstanceOf(Pipeline.Standing.New.class);
    release.countDown();
    Answer answer = running.get();
    var known = (Pipeline.Standing.Known) gateway.pipeline.standing("acme", "alice", "k");
    assertThat(known.request()).isEqualTo(answer.request());
    assertThat(known.raw()).contains(RAW);
    assertThat(known.effect()).isEqualTo(effect);
    assertThat(known.served().orElseThrow().id()).isEqualTo(answer.served().orElseThrow().id());
  }

  @Test
  void aSurfaceClosesTheRunsThatItOpened() {
    gateway.pipeline.vouch(vouched("alice", effect("{}"), Optional.empty()));
    gateway.pipeline.closeRun(TestGateway.SURFACE, TestKeys.TENANT, "run-1");
    assertThat(gateway.home.runState("acme", "run-1").closed()).isTrue();
  }
}
