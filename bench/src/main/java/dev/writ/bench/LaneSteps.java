package dev.writ.bench;

import dev.writ.canonicalize.Digest;
import dev.writ.gateway.schedule.Lane;
import dev.writ.gateway.schedule.LaneObserver;
import dev.writ.gateway.schedule.Scheduler;
import dev.writ.gateway.schedule.Ticket;
import dev.writ.guardian.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * The lane of the tool engine: the cost of a turn compared with hashing a megabyte, and the share
 * of eight slots that one tenant gets while another floods it with calls that wait for a
 * millisecond, as for a process.
 */
final class LaneSteps {
  private static final int FLOOD = 64;
  private static final int TENANTS = 4;
  private static final byte[] CONTENT = new byte[1 << 20];
  private static final String POLICY =
      """
      writ_policy: 1
      name: lane
      version: 1
      limits: { request_age_max_s: 300, pending_max_s: 86400, request_bytes_max: 100000 }
      principals: []
      roles: {}
      requirements: []
      engine:
        slots: 8
        queue: { length: 1000, per_tenant: 1000, ttl_ms: 3600000 }
        quotas: { default: { running: 8 } }
      """;

  private final Stopwatch watch;
  private final Lane lane;

  private LaneSteps(Stopwatch watch) {
    this.watch = watch;
    Policy policy = Policy.parse(POLICY.getBytes(StandardCharsets.UTF_8), "policy.yaml");
    lane = new Scheduler(() -> policy, System::nanoTime, LaneObserver.NONE);
  }

  static List<Step> of(Stopwatch watch) {
    LaneSteps steps = new LaneSteps(watch);
    Supplier<?> through = () -> steps.turn("t0", LaneSteps::digest);
    return List.of(
        new Step(
            "a turn in the lane, nobody waits",
            "the same work directly",
            new BenchTarget.TimeAtMost(1.05),
            watch.repeat(through),
            watch.repeat(LaneSteps::digest)),
        new Step(
            "a call in the lane while another tenant floods it",
            "nobody floods it",
            new BenchTarget.TimeAtMost(2),
            () -> steps.calls(FLOOD, 0, 1),
            () -> steps.calls(0, 0, 1)),
        new Step(
            "a tenant's share of 4 in the lane, one of them with 64 callers",
            "each with 4 callers",
            new BenchTarget.RateAtLeast(0.9),
            () -> steps.calls(FLOOD, TENANTS, TENANTS),
            () -> steps.calls(TENANTS, TENANTS, TENANTS)));
  }

  private static Digest digest() {
    return Digest.sha256(CONTENT);
  }

  /** Stands in for a process: it uses no processor time here. */
  private static Long process() {
    LockSupport.parkNanos(1_000_000);
    return System.nanoTime();
  }

  private <T> Lane.Ran<T> turn(String tenant, Supplier<T> work) {
    return lane.run(new Ticket(tenant, "s", "tool", "small", Duration.ofHours(1)), work);
  }

  /**
   * The cost of one call of the measured tenant: the measured time divided by the calls that all
   * its callers finished in it.
   *
   * @param flood callers of another tenant
   * @param others callers of each of two more tenants; may be 0
   * @param own callers of the measured tenant
   */
  private Cost calls(int flood, int others, int own) {
    AtomicBoolean over = new AtomicBoolean();
    AtomicLong unseen = new AtomicLong();
    AtomicLong counted = new AtomicLong();
    List<Thread> callers = new ArrayList<>();
    start(callers, flood, "t1", over, unseen);
    start(callers, others, "t2", over, unseen);
    start(callers, others, "t3", over, unseen);
    Cost.Start start = Cost.Start.now();
    start(callers, own, "t0", over, counted);
    while (start.wallNanos() < watch.plan().slice().toNanos() || counted.get() == 0) {
      process();
    }
    double each = (double) start.wallNanos() / counted.get();
    over.set(true);
    callers.forEach(LaneSteps::join);
    return new Cost(each, 0); // the flood uses processor time, too
  }

  private void start(
      List<Thread> callers, int count, String tenant, AtomicBoolean over, AtomicLong calls) {
    for (int i = 0; i < count; i++) {
      callers.add(
          Thread.ofVirtual()
              .start(() -> {
                while (!over.get()) {
                  turn(tenant, LaneSteps::process);
                  calls.incrementAndGet();
                }
              }));
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
