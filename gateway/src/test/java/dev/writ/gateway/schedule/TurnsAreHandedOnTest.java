package dev.writ.gateway.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.error.ExecutorError;
import dev.writ.fixture.Await;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Problems;
import dev.writ.gateway.http.message.TraceContext;
import dev.writ.guardian.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The lane with real threads: whoever leaves, however, leaves its slot to the next. */
@Timeout(60)
class TurnsAreHandedOnTest {
  private static final Duration PATIENT = Duration.ofHours(1);
  private static final TraceContext TRACE =
      new TraceContext("1".repeat(32), "2".repeat(16), "00", Optional.empty(), Optional.empty());

  private final AtomicReference<Policy> policy = new AtomicReference<>(policy("slots: 2"));
  private final AtomicLong clock = new AtomicLong();
  private final ConcurrentLinkedQueue<String> seen = new ConcurrentLinkedQueue<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Scheduler lane = lane(policy);

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  private Scheduler lane(AtomicReference<Policy> inForce) {
    return new Scheduler(
        inForce::get,
        clock::get,
        (resourceClass, end, _) -> seen.add(resourceClass + " " + end.text()));
  }

  private static Policy policy(String engine) {
    String text =
        """
        writ_policy: 1
        name: lane
        version: 1
        limits: { request_age_max_s: 300, pending_max_s: 86400, request_bytes_max: 100000 }
        principals:
          - { tenant: a, subject: s, roles: [] }
          - { tenant: b, subject: s, roles: [] }
        roles: {}
        requirements: []
        engine: { %s }
        """;
    return Policy.parse(text.formatted(engine).getBytes(StandardCharsets.UTF_8), "policy.yaml");
  }

  private static Ticket ticket(String tenant) {
    return new Ticket(tenant, "s", "tool", "small", PATIENT);
  }

  /** Calls that hold their slots until they are told to end. */
  private final class Holding implements AutoCloseable {
    private final CountDownLatch end = new CountDownLatch(1);
    private final List<Future<?>> calls = new ArrayList<>();

    Holding(int slots, String tenant) {
      CountDownLatch begun = new CountDownLatch(slots);
      for (int i = 0; i < slots; i++) {
        calls.add(
            threads.submit(() ->
                lane.run(
                    ticket(tenant),
                    () -> {
                      begun.countDown();
                      return await(end);
                    })));
      }
      await(begun);
    }

    @Override
    public void close() {
      end.countDown();
      Await.until(() -> calls.stream().allMatch(Future::isDone));
      assertThat(calls).allMatch(call -> call.state() == Future.State.SUCCESS);
    }
  }

  private static boolean await(CountDownLatch latch) {
    try {
      latch.await();
      return true;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static ErrorCode refusal(Future<?> call) throws Exception {
    try {
      call.get();
      throw new AssertionError("it was not refused");
    } catch (ExecutionException e) {
      return ((WritException) e.getCause()).code();
    }
  }

  private static ErrorCode refusal(Callable<?> call) throws Exception {
    try {
      call.call();
      throw new AssertionError("it was not refused");
    } catch (WritException e) {
      return e.code();
    }
  }

  private void assertAllSlotsAreFree(Scheduler ofThis, int slots) throws Exception {
    assertThat(ofThis.waiting()).isZero();
    assertThat(ofThis.running()).isZero();
    CyclicBarrier together = new CyclicBarrier(slots);
    List<Future<?>> calls = new ArrayList<>();
    for (int i = 0; i < slots; i++) {
      String tenant = i % 2 == 0 ? "a" : "b";
      calls.add(threads.submit(() -> ofThis.run(ticket(tenant), () -> meet(together))));
    }
    for (Future<?> call : calls) {
      call.get();
    }
  }

  private static int meet(CyclicBarrier barrier) {
    try {
      return barrier.await();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void thousandsOfCallsNeverHoldMoreSlotsThanThereAreAndAllEnd() throws Exception {
    policy.set(
        policy(
            "slots: 5, queue: { length: 5000, per_tenant: 5000 }, quotas: { default: {running:"
                + " 3} }"));
    AtomicInteger all = new AtomicInteger();
    AtomicInteger[] each = {new AtomicInteger(), new AtomicInteger()};
    AtomicInteger mostAll = new AtomicInteger();
    AtomicInteger mostEach = new AtomicInteger();
    List<Future<Lane.Ran<Integer>>> calls = new ArrayList<>();
    for (int i = 0; i < 4_000; i++) {
      int number = i;
      int tenant = i % 4 == 0 ? 1 : 0;
      calls.add(
          threads.submit(() ->
              lane.run(
                  ticket(tenant == 0 ? "a" : "b"),
                  () -> {
                    mostAll.accumulateAndGet(all.incrementAndGet(), Math::max);
                    mostEach.accumulateAndGet(each[tenant].incrementAndGet(), Math::max);
                    Thread.yield();
                    each[tenant].decrementAndGet();
                    all.decrementAndGet();
                    return number;
                  })));
    }
    for (int i = 0; i < calls.size(); i++) {
      assertThat(calls.get(i).get().value()).isEqualTo(i);
    }
    assertThat(mostAll.get()).isBetween(2, 5);
    assertThat(mostEach.get()).isBetween(1, 3);
    assertAllSlotsAreFree(lane, 5);
    assertThat(seen).hasSize(4_005).containsOnly("small turn");
  }

  @Test
  void anInterruptAtAnyMomentLosesNoSlot() throws Exception {
    long seed = Long.getLong("writ.seed", 20261122L);
    System.out.println("interrupts: writ.seed=" + seed);
    Random random = new Random(seed);
    policy.set(policy("slots: 3, queue: { length: 5000, per_tenant: 5000 }"));
    AtomicInteger begun = new AtomicInteger();
    AtomicInteger ran = new AtomicInteger();
    AtomicInteger gaveUp = new AtomicInteger();
    List<Thread> callers = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      String tenant = random.nextBoolean() ? "a" : "b";
      callers.add(
          Thread.ofVirtual()
              .start(() -> {
                try {
                  lane.run(
                      ticket(tenant),
                      () -> {
                        begun.incrementAndGet();
                        Thread.yield();
                        return 1;
                      });
                  ran.incrementAndGet();
                } catch (WritException e) {
                  assertThat(e.code()).isEqualTo(LaneError.GIVEN_UP);
                  assertThat(Thread.currentThread().isInterrupted()).isTrue();
                  gaveUp.incrementAndGet();
                }
              }));
      if (random.nextInt(3) == 0) {
        callers.get(random.nextInt(callers.size())).interrupt();
      }
    }
    for (Thread caller : callers) {
      caller.join();
    }
    assertThat(ran.get() + gaveUp.get()).isEqualTo(2_000);
    assertThat(begun.get()).as("who gave up has begun nothing").isEqualTo(ran.get());
    assertAllSlotsAreFree(lane, 3);
  }

  @Test
  void whoWaitsAndIsInterruptedIsOutOfTheQueueAndTheNextOneIsNot() throws Exception {
    Future<?> next;
    try (Holding _ = new Holding(2, "b")) {
      CountDownLatch entered = new CountDownLatch(1);
      AtomicReference<ErrorCode> refused = new AtomicReference<>();
      Thread waiting =
          Thread.ofVirtual()
              .start(() -> {
                entered.countDown();
                try {
                  lane.run(ticket("a"), () -> 1);
                } catch (WritException e) {
                  refused.set(e.code());
                }
              });
      await(entered);
      Await.until(() -> lane.waiting() == 1);
      next = threads.submit(() -> lane.run(ticket("a"), () -> 2));
      Await.until(() -> lane.waiting() == 2);
      waiting.interrupt();
      waiting.join();
      assertThat(refused.get()).isEqualTo(LaneError.GIVEN_UP);
      assertThat(lane.waiting()).isEqualTo(1);
      assertThat(seen).contains("small given-up");
    }
    next.get();
    assertAllSlotsAreFree(lane, 2);
  }

  /** The lane asks for the policy after a slot is free and before it hands it out. */
  @Test
  void whoIsInterruptedAtTheMomentOfItsTurnLeavesItToTheNext() throws Exception {
    AtomicReference<Thread> victim = new AtomicReference<>();
    Policy one = policy("slots: 1");
    Scheduler watched =
        new Scheduler(
            () -> {
              Optional.ofNullable(victim.getAndSet(null)).ifPresent(Thread::interrupt);
              return one;
            },
            clock::get,
            LaneObserver.NONE);
    for (int round = 1; round <= 50; round++) {
      CountDownLatch end = new CountDownLatch(1);
      CountDownLatch begun = new CountDownLatch(1);
      threads.submit(() ->
          watched.run(
              ticket("b"),
              () -> {
                begun.countDown();
                return await(end);
              }));
      await(begun);
      AtomicReference<ErrorCode> refused = new AtomicReference<>();
      Thread waiting =
          Thread.ofVirtual()
              .start(() -> {
                try {
                  watched.run(ticket("a"), () -> 1);
                } catch (WritException e) {
                  refused.set(e.code());
                }
              });
      Await.until(() -> watched.waiting() == 1);
      Future<?> next = threads.submit(() -> watched.run(ticket("a"), () -> 2));
      Await.until(() -> watched.waiting() == 2);
      victim.set(waiting);
      end.countDown();
      waiting.join();
      assertThat(refused.get()).as("round " + round).isEqualTo(LaneError.GIVEN_UP);
      next.get();
      Await.until(() -> watched.running() == 0);
    }
    assertAllSlotsAreFree(watched, 1);
  }

  @Test
  void whoFailsLeavesItsSlotToo() throws Exception {
    for (int i = 0; i < 10; i++) {
      assertThatThrownBy(() ->
              lane.run(
                  ticket("a"),
                  () -> {
                    throw new IllegalStateException("the work");
                  }))
          .hasMessage("the work");
      assertThatThrownBy(() ->
              lane.run(
                  ticket("a"),
                  () -> {
                    throw new StackOverflowError();
                  }))
          .isInstanceOf(StackOverflowError.class);
    }
    assertAllSlotsAreFree(lane, 2);
  }

  @Test
  void whoHasNoPatienceDoesNotWaitAndThePolicysTtlIsTheLongestThatAnybodyHas() throws Exception {
    Ticket now = new Ticket("a", "s", "tool", "small", Duration.ZERO);
    assertThat(lane.run(now, () -> 7)).isEqualTo(new Lane.Ran<>(7, 0));
    try (Holding _ = new Holding(2, "b")) {
      assertThat(refusal(() -> lane.run(now, () -> 1))).isEqualTo(LaneError.QUEUE_TTL);
      assertThat(lane.waiting()).isZero();

      Ticket past = new Ticket("a", "s", "tool", "small", Duration.ofSeconds(Long.MIN_VALUE));
      assertThat(refusal(() -> lane.run(past, () -> 1))).isEqualTo(LaneError.QUEUE_TTL);
      Ticket eternal = new Ticket("a", "s", "tool", "small", Duration.ofSeconds(Long.MAX_VALUE));
      Future<?> forever = threads.submit(() -> lane.run(eternal, () -> 1));
      Await.until(() -> lane.waiting() == 1);
      clock.addAndGet(TimeUnit.SECONDS.toNanos(30));
      lane.policyChanged();
      assertThat(refusal(forever)).isEqualTo(LaneError.QUEUE_TTL);

      Future<?> late = threads.submit(() -> lane.run(ticket("a"), () -> 1));
      Await.until(() -> lane.waiting() == 1);
      clock.addAndGet(TimeUnit.SECONDS.toNanos(29));
      lane.policyChanged(); // looks again: there is a second left
      Future<?> other = threads.submit(() -> lane.run(ticket("a"), () -> 1));
      Await.until(() -> lane.waiting() == 2);
      clock.addAndGet(TimeUnit.SECONDS.toNanos(1));
      lane.policyChanged();
      assertThat(refusal(late)).isEqualTo(LaneError.QUEUE_TTL);
      assertThat(lane.waiting()).isEqualTo(1);

      policy.set(policy("slots: 2, queue: { ttl_ms: 500 }"));
      lane.policyChanged();
      assertThat(refusal(other)).as("the new policy's").isEqualTo(LaneError.QUEUE_TTL);
      assertThat(seen).contains("small expired");
    }
    assertAllSlotsAreFree(lane, 2);
  }

  /** By the machine's own clock: nobody has to wake who waits. */
  @Test
  void theTimeEndsTheWaitingByItself() throws Exception {
    Scheduler real = new Scheduler(policy::get, System::nanoTime, LaneObserver.NONE);
    CountDownLatch end = new CountDownLatch(1);
    CountDownLatch begun = new CountDownLatch(2);
    for (int i = 0; i < 2; i++) {
      threads.submit(() ->
          real.run(
              ticket("b"),
              () -> {
                begun.countDown();
                return await(end);
              }));
    }
    await(begun);
    Ticket brief = new Ticket("a", "s", "tool", "small", Duration.ofMillis(5));
    assertThat(refusal(() -> real.run(brief, () -> 1))).isEqualTo(LaneError.QUEUE_TTL);
    end.countDown();
    Await.until(() -> real.running() == 0);
    assertAllSlotsAreFree(real, 2);
  }

  @Test
  void theTimeThatWasWaitedIsTold() throws Exception {
    Future<Lane.Ran<Integer>> call;
    try (Holding _ = new Holding(2, "b")) {
      call = threads.submit(() -> lane.run(ticket("a"), () -> 1));
      Await.until(() -> lane.waiting() == 1);
      clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(1234));
    }
    assertThat(call.get()).isEqualTo(new Lane.Ran<>(1, 1234));
  }

  @Test
  void aPolicyThatIsActivatedWhileSomebodyWaitsCountsAtOnce() throws Exception {
    policy.set(policy("slots: 1"));
    try (Holding _ = new Holding(1, "b")) {
      Future<?> call = threads.submit(() -> lane.run(ticket("a"), () -> 1));
      Await.until(() -> lane.waiting() == 1);
      policy.set(policy("slots: 2"));
      lane.policyChanged();
      call.get();

      policy.set(policy("slots: 8, quotas: { tenants: [{ tenant: a, running: 0 }] }"));
      assertThat(refusal(() -> lane.run(ticket("a"), () -> 1))).isEqualTo(LaneError.TENANT_QUOTA);
      policy.set(policy("slots: 1, queue: { length: 0 }"));
      assertThat(refusal(() -> lane.run(ticket("a"), () -> 1)))
          .isEqualTo(LaneError.TENANT_QUEUE_FULL);
    }
    policy.set(policy("slots: 2"));
    assertAllSlotsAreFree(lane, 2);
  }

  @Test
  void eachLimitOfTheQueueHasItsCodeAndEachSaysWhenToComeAgain() throws Exception {
    policy.set(
        policy(
            "slots: 2, queue: { length: 3, per_tenant: 2 },"
                + " quotas: { tenants: [{ tenant: b, running: 1 }] }"));
    try (Holding _ = new Holding(1, "b");
        Holding _ = new Holding(1, "a")) {
      for (int i = 1; i <= 2; i++) {
        int waiting = i;
        threads.submit(() -> lane.run(ticket("b"), () -> 1));
        Await.until(() -> lane.waiting() == waiting);
      }
      assertThat(refusal(() -> lane.run(ticket("b"), () -> 1))).isEqualTo(LaneError.TENANT_QUOTA);
      threads.submit(() -> lane.run(ticket("a"), () -> 1));
      Await.until(() -> lane.waiting() == 3);
      assertThat(refusal(() -> lane.run(ticket("a"), () -> 1))).isEqualTo(LaneError.QUEUE_FULL);
      policy.set(policy("slots: 2, queue: { length: 9, per_tenant: 1 }"));
      assertThat(refusal(() -> lane.run(ticket("a"), () -> 1)))
          .isEqualTo(LaneError.TENANT_QUEUE_FULL);
    }
    Await.until(() -> lane.running() == 0);
    assertThat(seen).contains("small refused");
    for (LaneError error : LaneError.values()) {
      boolean later = error == LaneError.QUEUE_TTL || error == LaneError.GIVEN_UP;
      assertThat(Problems.status(error)).as(error.code()).isEqualTo(later ? 503 : 429);
      assertThat(Problems.answer(new WritException(error, ""), TRACE).headers())
          .contains(Map.entry("Retry-After", "1"));
    }
  }

  @Test
  void aServerThatDrainsRefusesWhoComesAndWhoWaitsAndLetsEndWhatRuns() throws Exception {
    try (Holding _ = new Holding(2, "b")) {
      Future<?> waiting = threads.submit(() -> lane.run(ticket("a"), () -> 1));
      Await.until(() -> lane.waiting() == 1);
      lane.drain();
      assertThat(refusal(waiting)).isEqualTo(GatewayError.DRAINING);
      assertThat(refusal(() -> lane.run(ticket("a"), () -> 1))).isEqualTo(GatewayError.DRAINING);
      assertThat(lane.running()).isEqualTo(2);
      assertThat(seen).contains("small drained");
    }
    assertThat(lane.running()).isZero();
  }

  /** No policy, no turn: but what runs ends, and what waits goes on when there is one. */
  @Test
  void withoutAPolicyNothingBeginsAndNothingIsLost() throws Exception {
    AtomicReference<Policy> maybe = new AtomicReference<>(policy.get());
    Scheduler other =
        new Scheduler(
            () -> {
              if (maybe.get() == null) {
                throw new WritException(ExecutorError.NO_POLICY, "");
              }
              return maybe.get();
            },
            clock::get,
            LaneObserver.NONE);
    other.run(
        ticket("a"),
        () -> {
          maybe.set(null);
          return 1;
        });
    assertThat(refusal(() -> other.run(ticket("a"), () -> 1))).isEqualTo(ExecutorError.NO_POLICY);
    maybe.set(policy.get());
    assertAllSlotsAreFree(other, 2);
  }

  @Test
  void anObserverThatFailsTakesNoSlotAlong() throws Exception {
    Scheduler watched =
        new Scheduler(
            policy::get,
            clock::get,
            (_, _, _) -> {
              if (seen.isEmpty()) {
                throw new IllegalStateException("the observer");
              }
            });
    for (int i = 0; i < 5; i++) {
      assertThatThrownBy(() -> watched.run(ticket("a"), () -> 1)).hasMessage("the observer");
    }
    seen.add("from now on it does not");
    assertAllSlotsAreFree(watched, 2);
  }

  @Test
  void aClassThatNobodyKnowsIsCountedAsOther() {
    lane.run(new Ticket("a", "s", "tool", "x".repeat(500), PATIENT), () -> 1);
    assertThat(seen).containsExactly("other turn");
  }
}
