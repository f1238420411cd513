package dev.writ.gateway.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.error.ExecutorError;
import dev.writ.fixture.Await;
import dev.writ.gateway.error.GatewayError;
import dev.writ.guardian.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Several lanes over the slots of one process, with real threads. */
@Timeout(120)
class CellsShareAGatewaysSlotsTest {
  private static final Duration PATIENT = Duration.ofHours(1);

  private final SharedSlots slots = new SharedSlots();
  private final AtomicReference<Policy> policy = new AtomicReference<>(policy("slots: 2"));
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  private Scheduler cell() {
    return cell(policy::get);
  }

  private Scheduler cell(Supplier<Policy> inForce) {
    return new Scheduler(slots, inForce, System::nanoTime, LaneObserver.NONE);
  }

  private static Policy policy(String engine) {
    String text =
        """
        writ_policy: 1
        name: lane
        version: 1
        limits: { request_age_max_s: 300, pending_max_s: 86400, request_bytes_max: 100000 }
        principals: [ { tenant: t0, subject: s, roles: [] } ]
        roles: {}
        requirements: []
        engine: { %s }
        """;
    return Policy.parse(text.formatted(engine).getBytes(StandardCharsets.UTF_8), "policy.yaml");
  }

  private static Ticket ticket(String tenant) {
    return new Ticket(tenant, "s", "tool", "small", PATIENT);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A call that has its slot until the latch opens. */
  private Future<?> holding(Scheduler cell, String tenant, CountDownLatch end) {
    CountDownLatch begun = new CountDownLatch(1);
    Future<?> call =
        threads.submit(() ->
            cell.run(
                ticket(tenant),
                () -> {
                  begun.countDown();
                  await(end);
                  return 1;
                }));
    await(begun);
    return call;
  }

  private static ErrorCode refusal(Future<?> call) throws InterruptedException {
    try {
      call.get();
      throw new AssertionError("it was not refused");
    } catch (ExecutionException e) {
      return ((WritException) e.getCause()).code();
    }
  }

  /** Over random numbers of cells, slots, quotas and tenants; cells are given up meanwhile. */
  @RepeatedTest(20)
  void slotsAndQuotasHoldOverAllCellsAndACellThatIsGivenUpTakesNoneAlong(RepetitionInfo round)
      throws Exception {
    long seed = Long.getLong("writ.seed", 20261129L) + round.getCurrentRepetition();
    System.out.println("cells: writ.seed=" + seed);
    Random random = new Random(seed);
    int most = 1 + random.nextInt(5);
    int quota = 1 + random.nextInt(most);
    policy.set(
        policy(
            "slots: %d, queue: { length: 5000, per_tenant: 5000 }, quotas: { default: { running: %d } }"
                .formatted(most, quota)));
    List<Scheduler> cells = new ArrayList<>();
    for (int i = 2 + random.nextInt(4); i > 0; i--) {
      cells.add(cell());
    }
    int tenants = cells.size() * 2;
    AtomicInteger all = new AtomicInteger();
    AtomicInteger highest = new AtomicInteger();
    TreeMap<String, AtomicInteger> runs = new TreeMap<>();
    TreeMap<String, AtomicInteger> highestOf = new TreeMap<>();
    for (int i = 0; i < tenants; i++) {
      runs.put("t" + i, new AtomicInteger());
      highestOf.put("t" + i, new AtomicInteger());
    }
    AtomicInteger refused = new AtomicInteger();
    AtomicInteger ran = new AtomicInteger();
    List<Future<?>> calls = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      int number = random.nextInt(tenants);
      String tenant = "t" + number;
      Scheduler cell = cells.get(number % cells.size()); // a tenant is in one cell
      calls.add(
          threads.submit(() -> {
            try {
              cell.run(
                  ticket(tenant),
                  () -> {
                    highest.accumulateAndGet(all.incrementAndGet(), Math::max);
                    highestOf
                        .get(tenant)
                        .accumulateAndGet(runs.get(tenant).incrementAndGet(), Math::max);
                    Thread.yield();
                    runs.get(tenant).decrementAndGet();
                    return all.decrementAndGet();
                  });
              ran.incrementAndGet();
            } catch (WritException e) {
              assertThat(e.code()).isEqualTo(GatewayError.DRAINING);
              refused.incrementAndGet();
            }
          }));
      if (i == 700) {
        cells.getFirst().drain();
      }
    }
    for (Future<?> call : calls) {
      call.get();
    }
    assertThat(highest).as("slots").hasValueLessThanOrEqualTo(most);
    assertThat(highestOf.values())
        .as("quota of each tenant")
        .allMatch(number -> number.get() <= quota);
    assertThat(ran.get() + refused.get()).isEqualTo(1_000);
    assertThat(refused.get()).as("what came to a cell behind its end").isPositive();
    assertThat(cells).allMatch(cell -> cell.waiting() == 0 && cell.running() == 0);
    assertThat(slots.queue.running()).isZero();
    assertThat(slots.queue.waiting()).isZero();
    assertThat(slots.queue.remembered()).as("nothing is kept of who is gone").isZero();
  }

  @Test
  void aFloodInOneCellDelaysATenantOfAnotherByOneTurn() throws Exception {
    policy.set(policy("slots: 1, queue: { length: 5000, per_tenant: 5000 }"));
    Scheduler flooded = cell();
    Scheduler quiet = cell();
    CountDownLatch end = new CountDownLatch(1);
    List<String> order = new CopyOnWriteArrayList<>();
    List<Future<?>> calls = new ArrayList<>(List.of(holding(flooded, "t0", end)));
    for (int i = 0; i < 500; i++) {
      calls.add(threads.submit(() -> flooded.run(ticket("t0"), () -> order.add("flood"))));
    }
    Await.until(() -> flooded.waiting() == 500);
    calls.add(threads.submit(() -> quiet.run(ticket("t1"), () -> order.add("quiet"))));
    Await.until(() -> quiet.waiting() == 1);
    assertThat(quiet.running()).as("the other cell's call has the only slot").isZero();
    assertThat(flooded.running()).isEqualTo(1);
    end.countDown();
    for (Future<?> call : calls) {
      call.get();
    }
    assertThat(order.getFirst()).isEqualTo("quiet");
    assertThat(order).hasSize(501);
  }

  @Test
  void aCellThatIsGivenUpRefusesItsOwnWaitingCallsAndNoOthers() throws Exception {
    Scheduler ending = cell();
    Scheduler staying = cell();
    CountDownLatch end = new CountDownLatch(1);
    Future<?> first = holding(ending, "t0", end);
    Future<?> second = holding(staying, "t1", end);
    Future<?> refused = threads.submit(() -> ending.run(ticket("t0"), () -> 1));
    Future<?> waits = threads.submit(() -> staying.run(ticket("t1"), () -> 1));
    Await.until(() -> ending.waiting() == 1 && staying.waiting() == 1);
    ending.drain();
    assertThat(refusal(refused)).isEqualTo(GatewayError.DRAINING);
    assertThat(staying.waiting()).isEqualTo(1);
    assertThat(ending.running()).as("what runs goes on").isEqualTo(1);
    end.countDown();
    first.get();
    second.get();
    waits.get();
    assertThat(staying.running()).isZero();
  }

  /** A call of a cell without a policy frees a slot: the others' calls do not wait for nothing. */
  @Test
  void aCellWhosePolicyCannotBeReadStopsNoOther() throws Exception {
    policy.set(policy("slots: 1"));
    AtomicReference<Policy> maybe = new AtomicReference<>(policy.get());
    Scheduler failing =
        cell(() -> {
          if (maybe.get() == null) {
            throw new WritException(ExecutorError.NO_POLICY, "");
          }
          return maybe.get();
        });
    Scheduler other = cell();
    CountDownLatch end = new CountDownLatch(1);
    Future<?> first = holding(failing, "t0", end);
    Future<?> waits = threads.submit(() -> other.run(ticket("t1"), () -> 1));
    Await.until(() -> other.waiting() == 1);
    maybe.set(null);
    end.countDown();
    first.get();
    waits.get();
    assertThat(refusal(threads.submit(() -> failing.run(ticket("t0"), () -> 1))))
        .isEqualTo(ExecutorError.NO_POLICY);
  }
}
