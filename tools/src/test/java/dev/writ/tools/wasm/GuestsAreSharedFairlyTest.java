package dev.writ.tools.wasm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.fixture.Await;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Scope;
import java.io.InputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Guests that do not end cost other tenants a share of the processors, and never their turn. */
class GuestsAreSharedFairlyTest {
  private static final DriverOutcome.Output NOTHING =
      new DriverOutcome.Output(new byte[0], "text/plain");

  private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
  private final CountDownLatch end = new CountDownLatch(1);
  private GuestPool pool = new GuestPool(1, 1L << 20);

  @AfterEach
  void stop() throws InterruptedException {
    end.countDown();
    callers.close();
    pool.close();
  }

  private void pool(int guests, int ofOne, long memoryBytes) {
    pool.close();
    pool = new GuestPool(guests, ofOne, memoryBytes);
  }

  private static Invocation invocation(String tenant, long memoryMb) {
    return new Invocation(
        new Scope(tenant, "run", "subject"),
        JsonValue.object().build(),
        List.of(),
        input -> InputStream.nullInputStream(),
        new byte[32],
        Instant.EPOCH,
        new Resources(600_000, memoryMb << 20, 0, 600_000),
        SandboxProfile.NAME,
        Optional.empty(),
        false);
  }

  /** Calls of a tenant that run until {@link #end}. */
  private List<Future<DriverOutcome>> loops(String tenant, int calls, long memoryMb) {
    List<Future<DriverOutcome>> all = new ArrayList<>();
    for (int i = 0; i < calls; i++) {
      all.add(
          callers.submit(() ->
              pool.run(
                  invocation(tenant, memoryMb),
                  guest -> {
                    try {
                      end.await();
                    } catch (InterruptedException e) {
                      throw new IllegalStateException(e);
                    }
                    return NOTHING;
                  })));
    }
    return all;
  }

  private DriverOutcome call(String tenant, long memoryMb) throws Exception {
    return callers
        .submit(() -> pool.run(invocation(tenant, memoryMb), guest -> NOTHING))
        .get(1, TimeUnit.MINUTES); // far more than it takes: a test that fails must end
  }

  private void until(int running, int waiting) {
    Await.until(() -> pool.running() == running && pool.waiting() == waiting);
  }

  @Test
  void sixEndlessLoopsLeavePlacesForOthers() throws Exception {
    pool(4, 2, 1L << 30);
    List<Future<DriverOutcome>> loops = loops("loud", 6, 1);
    until(2, 4);
    for (int i = 0; i < 20; i++) {
      assertThat(call("quiet", 1).end()).isEqualTo(DriverOutcome.End.SUCCEEDED);
    }
    assertThat(loops).noneMatch(Future::isDone);
    until(2, 4);
    end.countDown();
    for (Future<DriverOutcome> loop : loops) {
      assertThat(loop.get().end()).isEqualTo(DriverOutcome.End.SUCCEEDED);
    }
  }

  @Test
  void itsMemoryIsSharedAsItsPlacesAre() throws Exception {
    pool(16, 16, 100L << 20);
    List<Future<DriverOutcome>> loops = loops("loud", 6, 24);
    until(3, 3);
    assertThat(call("quiet", 20).end()).isEqualTo(DriverOutcome.End.SUCCEEDED);
    assertThat(loops).noneMatch(Future::isDone);
  }

  @Test
  void oneGuestMayHaveAllOfTheMemory() throws Exception {
    pool(4, 2, 100L << 20);
    assertThat(call("alone", 99).end()).isEqualTo(DriverOutcome.End.SUCCEEDED);
    assertThat(call("alone", 100).reason()).isEqualTo(Reason.HOST_MEMORY);
  }

  /** Whose turn is next, in the order in which the places are handed out. */
  @Test
  void aFreePlaceIsForWhoRunsTheLeast() throws Exception {
    GuestPlaces places = new GuestPlaces(2, 2, 100);
    places.acquire("loud", 1);
    places.acquire("loud", 1);
    List<String> order = new ArrayList<>();
    List<Future<?>> waiting = new ArrayList<>();
    for (String tenant : new String[] {"loud", "loud", "quiet", "third", "quiet"}) {
      int before = places.waiting();
      waiting.add(
          callers.submit(() -> {
            places.acquire(tenant, 1);
            synchronized (order) {
              order.add(tenant);
            }
            return null;
          }));
      Await.until(() -> places.waiting() != before);
    }
    int handedOut = 0;
    for (String frees : new String[] {"loud", "loud", "quiet", "third", "loud"}) {
      places.release(frees, 1);
      handedOut++;
      int now = handedOut;
      Await.until(() -> {
        synchronized (order) {
          return order.size() == now;
        }
      });
    }
    assertThat(order).containsExactly("quiet", "third", "loud", "quiet", "loud");
    for (Future<?> each : waiting) {
      each.get();
    }
  }

  /** Who waits for much memory is not overtaken for ever by who needs little. */
  @Test
  void whoWaitsForMemoryIsNotOvertaken() throws Exception {
    GuestPlaces places = new GuestPlaces(8, 8, 100);
    places.acquire("a", 60);
    Future<?> large = callers.submit(() -> acquired(places, "b", 80));
    Await.until(() -> places.waiting() >= 1);
    Future<?> small = callers.submit(() -> acquired(places, "c", 10));
    Await.until(() -> places.waiting() >= 2);
    assertThat(large.isDone() || small.isDone()).isFalse();
    places.release("a", 60);
    large.get(1, TimeUnit.MINUTES);
    small.get(1, TimeUnit.MINUTES);
  }

  @Test
  void whoGivesUpLeavesNothingBehind() throws Exception {
    GuestPlaces places = new GuestPlaces(1, 1, 100);
    places.acquire("a", 1);
    Future<?> gone = callers.submit(() -> acquired(places, "b", 1));
    Await.until(() -> places.waiting() >= 1);
    gone.cancel(true);
    Await.until(() -> places.waiting() <= 0);
    places.release("a", 1);
    places.acquire("c", 100);
  }

  private static Void acquired(GuestPlaces places, String tenant, long memory)
      throws InterruptedException {
    places.acquire(tenant, memory);
    return null;
  }
}
