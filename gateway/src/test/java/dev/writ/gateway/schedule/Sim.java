package dev.writ.gateway.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.policy.engine.EngineSettings;
import dev.writ.guardian.policy.engine.Quotas;
import dev.writ.guardian.policy.engine.Quotas.Quota;
import dev.writ.guardian.policy.engine.ResourceClasses;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.TreeMap;

/**
 * Drives a queue through events at times of its own, and keeps books of its own: who waits, who
 * runs, who has had how much. After each event it checks what must always hold.
 */
final class Sim {
  static final long MS = 1_000_000;
  static final ResourceClasses CLASSES =
      ResourceClasses.of(
          new Resources(1, 1, 1, 10), new Resources(1, 1, 1, 40), new Resources(1, 1, 1, 160));

  /** The end of a running call. */
  private record Ending(long at, long number, QueuedCall call) {}

  private final FairQueue queue = new FairQueue();
  private final Map<QueuedCall, Long> takes = new IdentityHashMap<>();
  private final PriorityQueue<Ending> endings =
      new PriorityQueue<>(Comparator.comparingLong(Ending::at).thenComparing(Ending::number));
  private final TreeMap<String, List<QueuedCall>> waiting = new TreeMap<>();
  private final TreeMap<String, TreeMap<Long, Long>> startsOf = new TreeMap<>();
  private final TreeMap<String, Double> ended = new TreeMap<>();
  private final TreeMap<String, Long> bothSince = new TreeMap<>();
  private final TreeMap<String, double[]> hadThen = new TreeMap<>();
  private long number;
  EngineSettings settings;
  long now;

  /** The tenants in the order of their turns. */
  final List<String> turns = new ArrayList<>();

  int mostOfOne;
  long longestNs;
  double greatestDifference;
  long compared;
  boolean fair;

  Sim(EngineSettings settings) {
    this.settings = settings;
  }

  static EngineSettings settings(int slots, int length, int perTenant, Quotas quotas) {
    return new EngineSettings(
        CLASSES, new EngineSettings.Queue(length, 1_000, perTenant), slots, quotas, List.of());
  }

  static Quotas quotas(int running, int weight, Map<String, Quota> exceptions) {
    return new Quotas(new Quota(running, weight), new TreeMap<>(exceptions));
  }

  static Ticket ticket(String tenant, String subject, String resourceClass) {
    return new Ticket(tenant, subject, "tool", resourceClass, Duration.ofHours(1));
  }

  FairQueue queue() {
    return queue;
  }

  private Quota quota(String tenant) {
    return settings.quotas().of(tenant);
  }

  private int waitingOf(String tenant) {
    return waiting.getOrDefault(tenant, List.of()).size();
  }

  private int runningOf(String tenant) {
    return startsOf.getOrDefault(tenant, new TreeMap<>()).size();
  }

  private boolean mayRun(String tenant) {
    return waitingOf(tenant) > 0 && runningOf(tenant) < quota(tenant).running();
  }

  /** Whether it wants more than it has, and only the others are why it has not. */
  private boolean mayClaim(String tenant) {
    int run = startsOf.values().stream().mapToInt(Map::size).sum();
    return mayRun(tenant)
        || (waitingOf(tenant) > 0
            && run >= settings.slots()
            && runningOf(tenant) == quota(tenant).running());
  }

  /** What a tenant has had, in nanoseconds of slot time by its weight. */
  double had(String tenant) {
    double sum = ended.getOrDefault(tenant, 0.0);
    for (long start : startsOf.getOrDefault(tenant, new TreeMap<>()).values()) {
      sum += now - start;
    }
    return sum / quota(tenant).weight();
  }

  /** A call that takes so long once it runs; none where it is refused. */
  Optional<QueuedCall> arrive(String tenant, String subject, String resourceClass, long takesNs) {
    Optional<LaneError> expected = expectedRefusal(tenant);
    QueuedCall call;
    try {
      call = queue.enter(ticket(tenant, subject, resourceClass), settings, now);
      assertThat(expected).as("it should have been refused").isEmpty();
    } catch (WritException e) {
      assertThat(expected).as(e.getMessage()).contains((LaneError) e.code());
      check();
      return Optional.empty();
    }
    takes.put(call, takesNs);
    waiting.computeIfAbsent(tenant, _ -> new ArrayList<>()).add(call);
    look();
    dispatch();
    return Optional.of(call);
  }

  /** By the rules of spec/scheduling.md, from these books. */
  private Optional<LaneError> expectedRefusal(String tenant) {
    int all = waiting.values().stream().mapToInt(List::size).sum();
    int run = startsOf.values().stream().mapToInt(Map::size).sum();
    boolean atQuota = runningOf(tenant) >= quota(tenant).running();
    if (quota(tenant).running() == 0) {
      return Optional.of(LaneError.TENANT_QUOTA);
    }
    if (!atQuota && run < settings.slots() && waitingOf(tenant) == 0) {
      return Optional.empty();
    }
    if (waitingOf(tenant) >= settings.queue().perTenant()) {
      return Optional.of(atQuota ? LaneError.TENANT_QUOTA : LaneError.TENANT_QUEUE_FULL);
    }
    return all >= settings.queue().length() ? Optional.of(LaneError.QUEUE_FULL) : Optional.empty();
  }

  /** Somebody who waits gives up. */
  void giveUp(QueuedCall call) {
    queue.leave(call, settings, now);
    waiting.get(call.ticket.tenant()).remove(call);
    look();
    dispatch();
  }

  /** Other settings are in force. */
  void change(EngineSettings other) {
    settings = other;
    bothSince.clear();
    dispatch();
  }

  List<QueuedCall> waitingCalls() {
    return waiting.values().stream().flatMap(List::stream).toList();
  }

  private void dispatch() {
    for (Optional<QueuedCall> next = queue.next(settings, now);
        next.isPresent();
        next = queue.next(settings, now)) {
      QueuedCall call = next.get();
      String tenant = call.ticket.tenant();
      if (!mayRun(tenant) || !waiting.get(tenant).remove(call)) {
        throw new AssertionError(tenant + " may not run");
      }
      startsOf.computeIfAbsent(tenant, _ -> new TreeMap<>()).put(++number, now);
      mostOfOne = Math.max(mostOfOne, runningOf(tenant));
      longestNs = Math.max(longestNs, takes.get(call));
      endings.add(new Ending(now + takes.get(call), number, call));
      turns.add(tenant);
      look();
    }
    check();
  }

  /** The time goes on to the next end of a call. */
  boolean step() {
    Ending ending = endings.poll();
    if (ending == null) {
      return false;
    }
    now = ending.at;
    String tenant = ending.call.ticket.tenant();
    look();
    queue.finish(ending.call, settings, now);
    long start = startsOf.get(tenant).remove(ending.number);
    ended.merge(tenant, (double) (now - start), Double::sum);
    look();
    dispatch();
    return true;
  }

  /** The time goes on, and what ends until then has ended. */
  void until(long time) {
    while (!endings.isEmpty() && endings.peek().at <= time) {
      step();
    }
    now = time;
    look();
  }

  void runOut() {
    while (step()) {}
  }

  private void check() {
    int run = startsOf.values().stream().mapToInt(Map::size).sum();
    assertThat(queue.running()).isEqualTo(run);
    assertThat(queue.waiting()).isEqualTo(waiting.values().stream().mapToInt(List::size).sum());
    for (String tenant : waiting.keySet()) {
      boolean agrees =
          queue.runningOf(tenant) == runningOf(tenant)
              && queue.waitingOf(tenant) == waitingOf(tenant);
      boolean idle = run < settings.slots() && mayRun(tenant);
      if (!agrees || idle) {
        throw new AssertionError(
            idle ? "a slot is idle while " + tenant + " may run" : "other books of " + tenant);
      }
    }
  }

  /** Of each two tenants who may both run all the while: what each of them has had since. */
  private void look() {
    if (!fair) {
      return;
    }
    for (String a : waiting.keySet()) {
      for (String b : waiting.tailMap(a, false).keySet()) {
        String pair = a + " " + b;
        if (!mayClaim(a) || !mayClaim(b)) {
          bothSince.remove(pair);
        } else if (bothSince.putIfAbsent(pair, now) == null) {
          hadThen.put(pair, new double[] {had(a), had(b)});
        } else {
          double[] then = hadThen.get(pair);
          double difference = Math.abs((had(a) - then[0]) - (had(b) - then[1]));
          greatestDifference = Math.max(greatestDifference, difference);
          compared++;
        }
      }
    }
  }
}
