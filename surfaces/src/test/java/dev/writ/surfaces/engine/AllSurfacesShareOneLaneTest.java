package dev.writ.surfaces.engine;

import static dev.writ.surfaces.engine.EngineServer.body;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.fixture.TestKeys;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.surfaces.seed.SeedServer;
import dev.writ.surfaces.seed.SeedServer.Reply;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Calls of one tenant that do not end keep no other tenant from its turn, on any surface. */
class AllSurfacesShareOneLaneTest {
  private static final int SIX = 6;

  @TempDir Path dir;
  private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
  private final CountDownLatch end = new CountDownLatch(1);
  private EngineServer engine;

  @BeforeEach
  void start() {
    engine =
        new EngineServer(
            dir,
            SeedServer.POLICY
                + "engine: { slots: 4, quotas: { default: { running: 3, weight: 1 } } }\n",
            HttpLimits.DEFAULT);
    engine.server.home.driver.does(
        "calc",
        _ -> {
          try {
            end.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          throw new IllegalStateException("it fails in the end");
        });
  }

  @AfterEach
  void stop() {
    end.countDown();
    callers.close();
    engine.close();
  }

  private Reply effect(Envelope signed) {
    return engine.server.send(
        engine
            .server
            .to("/v1/effects")
            .POST(HttpRequest.BodyPublishers.ofByteArray(signed.toBytes())));
  }

  /** Signed before, since a test's home is of one thread. */
  private List<Envelope> requests() {
    List<Envelope> signed = new ArrayList<>();
    for (int i = 0; i < SIX; i++) {
      signed.add(engine.server.home.ask("alice").params("{\"n\":" + i + "}").sign());
    }
    return signed;
  }

  /**
   * @param calls none of which is over by then
   */
  private void until(int running, int waiting, List<Future<Reply>> calls) {
    while (engine.server.lane().running() != running || engine.server.lane().waiting() != waiting) {
      assertThat(calls).filteredOn(Future::isDone).extracting(Future::resultNow).isEmpty();
      Thread.yield();
    }
  }

  @Test
  void sixEndlessCallsOfOneTenantLeaveOthersTheirTurns() throws Exception {
    List<Future<Reply>> loud = new ArrayList<>();
    for (Envelope request : requests()) {
      loud.add(callers.submit(() -> effect(request)));
    }
    until(3, 3, loud);
    for (int i = 0; i < 5; i++) {
      assertThat(engine.post("eve", body("quiet-" + i)).string("status")).isEqualTo("Succeeded");
    }
    Envelope native_ = engine.server.home.ask("eve").tenant(TestKeys.OTHER_TENANT).run("r").sign();
    Future<Reply> alsoEndless = callers.submit(() -> effect(native_));
    until(4, 3, loud);
    assertThat(loud).noneMatch(Future::isDone);
    assertThat(engine.server.home.driver.runs().stream().filter(run -> run.tool().equals("calc")))
        .as("what waits was not begun")
        .hasSizeLessThanOrEqualTo(4);
    end.countDown();
    for (Future<Reply> reply : loud) {
      assertThat(reply.get().status()).isEqualTo(200);
    }
    assertThat(alsoEndless.get().status()).isEqualTo(200);
  }

  /** A turn is taken by who signed: nobody waits, or is charged, in another's name. */
  @Test
  void whoDidNotSignTakesNoTurn() {
    Envelope request = engine.server.home.ask("alice").sign();
    byte[] signature = request.signatures().getFirst().bytes();
    String right = Base64.getEncoder().encodeToString(signature);
    signature[3] ^= 1;
    String forged =
        new String(request.toBytes(), StandardCharsets.UTF_8)
            .replace(right, Base64.getEncoder().encodeToString(signature));
    Reply reply = effect(Envelope.parse(forged.getBytes(StandardCharsets.UTF_8)));
    assertThat(reply.string("code")).startsWith("CAN-0");
    assertThat(engine.server.lane().running() + engine.server.lane().waiting()).isZero();
  }
}
