package dev.writ.tools.language;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;

/**
 * Computes how many workers should wait for which calls, without processes and clocks. The caller
 * carries out the steps and reports their results.
 *
 * <p>For each kind of call as many workers are wanted as calls came in the last ten seconds: at
 * least one while the kind is in use, at most {@link PoolSettings#perKey}; or as many as calls of
 * it stand in the queue, where that is more. What a pool has together is bounded. A kind that has
 * had more than it needs for {@link PoolSettings#shrinkMs} loses one of them, and the next after
 * the same time: demand that comes and goes does not start and end workers. A worker's memory
 * counts from the order to start it until it is gone or given to a call. If memory does not
 * suffice, a worker that is no longer wanted, whose kind was not called for ten seconds, or whose
 * kind has two more than the other, is evicted in favour of a kind that was called since. The kind
 * that has the fewest workers is the first to get one.
 *
 * @param <K> a kind of call
 */
final class PoolSizing<K> {
  /** Calls within this time predict the calls to come. */
  static final long WINDOW_MS = 10_000;

  /** A worker that takes longer to start is of no use. */
  static final long START_MS_MAX = 30_000;

  /** A kind that has so many more than one that is called gives it one. */
  private static final int MORE_THAN_ITS_SHARE = 2;

  /** How many may start at once, beside the calls that run. */
  static final int STARTS_MAX = 2;

  /** Something to do. */
  sealed interface Step<K> {
    long id();

    /** Start a worker; then {@link #ready}, or {@link #gone}. */
    record Start<K>(long id, K key) implements Step<K> {}

    /** End a worker; then {@link #gone}. */
    record End<K>(long id) implements Step<K> {}
  }

  private enum State {
    STARTING,
    READY,
    LEAVING
  }

  private static final class Worker<K> {
    final K key;
    final PoolName pool;
    final long bytes;
    final long bornMs;
    State state = State.STARTING;

    Worker(K key, PoolName pool, long bytes, long bornMs) {
      this.key = key;
      this.pool = pool;
      this.bytes = bytes;
      this.bornMs = bornMs;
    }
  }

  private static final class Demand {
    final PoolName pool;
    final long bytes;
    final ArrayDeque<Long> calls = new ArrayDeque<>();
    long lastMs;
    long barredUntilMs = Long.MIN_VALUE;

    /** Since when there are more workers than wanted; absent while there are not. */
    OptionalLong surplusSinceMs = OptionalLong.empty();

    Demand(PoolName pool, long bytes) {
      this.pool = pool;
      this.bytes = bytes;
    }
  }

  private final PoolSettings settings;
  private final TreeMap<Long, Worker<K>> workers = new TreeMap<>();
  private final LinkedHashMap<K, Demand> demands = new LinkedHashMap<>();
  private final TreeMap<PoolName, Counts> pools = new TreeMap<>();
  private ToIntFunction<K> queued = key -> 0;
  private long serial;

  private static final class Counts {
    long grown;
    long shrunk;
  }

  /**
   * Figures of one pool.
   *
   * @param ready workers that wait
   * @param starting workers that are starting
   * @param grown workers that were started
   * @param shrunk workers that were ended since fewer were wanted, or others needed their room
   */
  record Figures(long ready, long starting, long grown, long shrunk) {}

  PoolSizing(PoolSettings settings) {
    this.settings = settings;
  }

  /** Sets how many calls of a kind stand in the queue and could run at once. */
  void queue(ToIntFunction<K> depth) {
    queued = depth;
  }

  /**
   * A call arrived.
   *
   * @param pool of its workers
   * @param bytes the memory limit of a worker of this kind
   * @return a worker, which belongs to the call from now on; empty if there is none
   */
  OptionalLong take(K key, PoolName pool, long bytes, long nowMs) {
    Demand demand = demands.computeIfAbsent(key, k -> new Demand(pool, bytes));
    demand.lastMs = nowMs;
    demand.calls.addLast(nowMs);
    if (demand.calls.size() > settings.perKey()) {
      demand.calls.removeFirst();
    }
    return another(key, nowMs);
  }

  /** Another worker for an earlier call that could not use its first one. */
  OptionalLong another(K key, long nowMs) {
    for (Map.Entry<Long, Worker<K>> entry : workers.entrySet()) {
      Worker<K> worker = entry.getValue();
      if (worker.state == State.READY && worker.key.equals(key) && !isOld(worker, nowMs)) {
        long id = entry.getKey(); // read before the removal: it may change the entry
        workers.remove(id);
        return OptionalLong.of(id);
      }
    }
    return OptionalLong.empty();
  }

  /** A worker is ready for its call; ignored if it was told to end. */
  void ready(long id) {
    Worker<K> worker = workers.get(id);
    if (worker != null && worker.state == State.STARTING) {
      worker.state = State.READY;
    }
  }

  /** A worker is gone. If it was not told to end, its kind is not started again for a while. */
  void gone(long id, long nowMs) {
    Worker<K> worker = workers.remove(id);
    if (worker != null && worker.state != State.LEAVING) {
      bar(worker.key, nowMs);
    }
  }

  private void bar(K key, long nowMs) {
    Demand demand = demands.get(key);
    if (demand != null) {
      demand.barredUntilMs = nowMs + settings.maxIdleMs();
    }
  }

  /** What is to be done now. */
  List<Step<K>> steps(long nowMs) {
    List<Step<K>> steps = new ArrayList<>();
    demands.forEach((key, demand) -> {
      if (queued.applyAsInt(key) > 0) {
        demand.lastMs = nowMs; // it is about to be called
      }
    });
    demands
        .values()
        .removeIf(d -> nowMs - d.lastMs > settings.maxIdleMs() && nowMs >= d.barredUntilMs);
    workers.forEach((id, worker) -> {
      boolean slow = worker.state == State.STARTING && nowMs - worker.bornMs > START_MS_MAX;
      if (slow) {
        bar(worker.key, nowMs);
      }
      if (slow || isOld(worker, nowMs) || wanted(worker.key, nowMs) == 0) {
        leave(id, worker, steps);
      }
    });
    demands.forEach((key, demand) -> shrink(key, demand, nowMs, steps));
    demands.entrySet().stream()
        .sorted(
            Comparator.<Map.Entry<K, Demand>>comparingInt(e -> count(e.getKey()))
                .thenComparingLong(e -> -e.getValue().lastMs))
        .forEach(e -> start(e.getKey(), e.getValue(), nowMs, steps));
    return steps;
  }

  /** Ends the oldest waiting worker of a kind that has had too many for long enough. */
  private void shrink(K key, Demand demand, long nowMs, List<Step<K>> steps) {
    if (count(key) <= wanted(key, nowMs)) {
      demand.surplusSinceMs = OptionalLong.empty();
    } else if (demand.surplusSinceMs.isEmpty()) {
      demand.surplusSinceMs = OptionalLong.of(nowMs);
    } else if (nowMs - demand.surplusSinceMs.getAsLong() >= settings.shrinkMs()) {
      demand.surplusSinceMs = OptionalLong.of(nowMs);
      workers.entrySet().stream()
          .filter(e -> e.getValue().state == State.READY && e.getValue().key.equals(key))
          .findFirst()
          .ifPresent(e -> leaveForOthers(e.getKey(), e.getValue(), steps));
    }
  }

  private void start(K key, Demand demand, long nowMs, List<Step<K>> steps) {
    while (count(key) < wanted(key, nowMs)
        && nowMs >= demand.barredUntilMs
        && count(State.STARTING) < STARTS_MAX) {
      if (countIn(demand.pool) >= settings.mostIn(demand.pool)) {
        makePlace(key, demand, nowMs, steps);
        return;
      }
      if (bytes() + demand.bytes > settings.budgetBytes()) {
        makeRoom(key, demand, nowMs, steps);
        return; // evicted workers free their memory later
      }
      workers.put(++serial, new Worker<>(key, demand.pool, demand.bytes, nowMs));
      counts(demand.pool).grown++;
      steps.add(new Step.Start<>(serial, key));
    }
  }

  /** Evicts one spare worker of a pool that is full, unless one is on its way out already. */
  private void makePlace(K key, Demand wants, long nowMs, List<Step<K>> steps) {
    if (settings.mostIn(wants.pool) == 0 || countIn(wants.pool, State.LEAVING) > 0) {
      return;
    }
    workers.entrySet().stream()
        .filter(e -> e.getValue().pool.equals(wants.pool) && !e.getValue().key.equals(key))
        .filter(e -> isSpare(e.getValue(), key, wants, nowMs))
        .findFirst()
        .ifPresent(e -> leaveForOthers(e.getKey(), e.getValue(), steps));
  }

  /** Evicts as few workers as free enough memory, oldest first; none if that is impossible. */
  private void makeRoom(K key, Demand wants, long nowMs, List<Step<K>> steps) {
    long bytes = wants.bytes;
    long room = settings.budgetBytes() - bytes();
    TreeMap<Long, Worker<K>> chosen = new TreeMap<>();
    for (Map.Entry<Long, Worker<K>> entry : workers.entrySet()) {
      Worker<K> worker = entry.getValue();
      if (worker.state == State.LEAVING) {
        room += worker.bytes;
      } else if (room < bytes && !worker.key.equals(key) && isSpare(worker, key, wants, nowMs)) {
        room += worker.bytes;
        chosen.put(entry.getKey(), worker);
      }
    }
    if (room >= bytes) {
      chosen.forEach((id, worker) -> leaveForOthers(id, worker, steps));
    }
  }

  /** Whether another kind may have its place: none of two kinds that are called keeps all. */
  private boolean isSpare(Worker<K> worker, K by, Demand wants, long nowMs) {
    Demand demand = demands.get(worker.key);
    boolean fewer =
        nowMs - wants.lastMs <= WINDOW_MS && count(worker.key) >= count(by) + MORE_THAN_ITS_SHARE;
    return worker.state == State.READY
        && (demand == null
            || fewer
            || nowMs - demand.lastMs > WINDOW_MS && demand.lastMs < wants.lastMs
            || count(worker.key) > wanted(worker.key, nowMs));
  }

  /** Ends the workers of kinds that may no longer be called. */
  List<Step<K>> drop(Predicate<K> which) {
    List<Step<K>> steps = new ArrayList<>();
    demands.keySet().removeIf(which);
    workers.forEach((id, worker) -> {
      if (which.test(worker.key)) {
        leave(id, worker, steps);
      }
    });
    return steps;
  }

  private void leave(long id, Worker<K> worker, List<Step<K>> steps) {
    if (worker.state != State.LEAVING) {
      worker.state = State.LEAVING;
      steps.add(new Step.End<>(id));
    }
  }

  private void leaveForOthers(long id, Worker<K> worker, List<Step<K>> steps) {
    if (worker.state != State.LEAVING) {
      counts(worker.pool).shrunk++;
    }
    leave(id, worker, steps);
  }

  private Counts counts(PoolName pool) {
    return pools.computeIfAbsent(pool, p -> new Counts());
  }

  private boolean isOld(Worker<K> worker, long nowMs) {
    return nowMs - worker.bornMs > settings.maxAgeMs();
  }

  private int wanted(K key, long nowMs) {
    Demand demand = demands.get(key);
    if (demand == null || nowMs - demand.lastMs > settings.maxIdleMs()) {
      return 0;
    }
    long recent = demand.calls.stream().filter(at -> nowMs - at <= WINDOW_MS).count();
    return Math.max(Math.clamp(recent, 1, settings.perKey()), queued.applyAsInt(key));
  }

  /** Of one pool, with those that are on their way out: they still use what is bounded. */
  private int countIn(PoolName pool) {
    return (int) workers.values().stream().filter(w -> w.pool.equals(pool)).count();
  }

  private int count(K key) {
    return (int)
        workers.values().stream()
            .filter(w -> w.state != State.LEAVING && w.key.equals(key))
            .count();
  }

  private int count(State state) {
    return (int) workers.values().stream().filter(w -> w.state == state).count();
  }

  /** How many wait for their call. */
  int ready() {
    return count(State.READY);
  }

  /** How many of some kinds wait for their call. */
  long ready(Predicate<K> which) {
    return workers.values().stream()
        .filter(w -> w.state == State.READY && which.test(w.key))
        .count();
  }

  /** Each pool that ever had a worker. */
  SortedMap<PoolName, Figures> pools() {
    TreeMap<PoolName, Figures> all = new TreeMap<>();
    pools.forEach((pool, counts) ->
        all.put(
            pool,
            new Figures(
                countIn(pool, State.READY),
                countIn(pool, State.STARTING),
                counts.grown,
                counts.shrunk)));
    return all;
  }

  private long countIn(PoolName pool, State state) {
    return workers.values().stream().filter(w -> w.state == state && w.pool.equals(pool)).count();
  }

  /** How many are being started. */
  int starting() {
    return count(State.STARTING);
  }

  /** The sum of all workers' memory limits, in bytes. */
  long bytes() {
    return workers.values().stream().mapToLong(w -> w.bytes).sum();
  }
}
