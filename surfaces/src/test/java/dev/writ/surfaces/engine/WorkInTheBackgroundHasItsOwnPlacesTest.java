package dev.writ.surfaces.engine;

import static dev.writ.surfaces.engine.EngineServer.body;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.fixture.Await;
import dev.writ.fixture.Behaviours;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.schedule.Lane;
import dev.writ.gateway.schedule.Ticket;
import dev.writ.surfaces.seed.SeedServer;
import dev.writ.surfaces.seed.SeedServer.Reply;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Executions that go on after their answer are bounded, keep nobody from asking, and are ended. */
class WorkInTheBackgroundHasItsOwnPlacesTest {
  @TempDir Path dir;
  private EngineServer engine;
  private final CountDownLatch open = new CountDownLatch(1);

  @BeforeEach
  void start() {
    engine = new EngineServer(dir, SeedServer.POLICY, TestGateway.limits(8, 2, 64, 15_000));
    engine.does(Behaviours.gives("{\"ok\":true}", Behaviours.JSON));
    engine.lane =
        new Lane() {
          @Override
          public <T> Ran<T> run(Ticket ticket, Supplier<T> work) {
            try {
              open.await();
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
            return new Ran<>(work.get(), 0);
          }
        };
  }

  @AfterEach
  void stop() {
    open.countDown();
    engine.close();
    assertThat(engine.server.failures).isEmpty();
  }

  @Test
  void aTenantHasSoManyAndCanStillAsk() {
    assertThat(engine.async("alice", body("one")).status()).isEqualTo(202);
    assertThat(engine.async("bob", body("two")).status()).isEqualTo(202);
    Reply third = engine.async("alice", body("three"));
    assertThat(third.status()).isEqualTo(429);
    assertThat(third.string("code")).isEqualTo("GWY-025");
    assertThat(engine.async("eve", body("theirs")).status()).isEqualTo(202); // another tenant
    assertThat(engine.get("alice", "one").string("state")).isEqualTo("Queued");
    assertThat(engine.get("alice", "three").string("state")).isEqualTo("Killed");
    open.countDown();
    assertThat(engine.over("alice", "one").string("status")).isEqualTo("Succeeded");
    assertThat(engine.over("bob", "two").string("status")).isEqualTo("Succeeded");
    assertThat(engine.post("alice", body("three")).string("status")).isEqualTo("Succeeded");
  }

  @Test
  void aServerThatDrainsWaitsForIt() throws InterruptedException {
    assertThat(engine.async("alice", body("one")).status()).isEqualTo(202);
    Thread drain = Thread.ofPlatform().start(engine.server::drain);
    Await.until(() -> {
      assertThat(drain.isAlive()).isTrue();
      return drain.getState() == Thread.State.TIMED_WAITING;
    });
    open.countDown();
    drain.join();
    assertThat(engine.server.home.log()).anyMatch(event -> event.kind().equals("receipt.signed"));
  }
}
