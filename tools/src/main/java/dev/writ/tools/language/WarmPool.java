package dev.writ.tools.language;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.driver.SandboxObserver;
import dev.writ.sandbox.Ended;
import dev.writ.tools.process.ProcessHost;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;

/**
 * Workers that wait for calls, each for one. A call that finds a waiting worker behaves like a cold
 * start, only faster. A call that finds none starts cold, and the pool starts a worker for the
 * next. Shared by the drivers of one host; thread safe.
 */
public final class WarmPool implements AutoCloseable {
  /** The interval of checks for workers that are too old or no longer allowed. */
  private static final long LOOK_MS = 1_000;

  /** How long after its time a sandbox ends by itself, if the pool did not end it. */
  private static final long SLACK_MS = 10_000;

  private final ProcessHost host;
  private final PoolSettings settings;
  private final PoolSizing<WarmKey> sizing;
  private final TreeMap<Long, WarmWorker> workers = new TreeMap<>();
  private final WaitingCalls waiting = new WaitingCalls();
  private final TreeMap<Digest, WarmKey> latest = new TreeMap<>();
  private Predicate<Digest> mayRun = packageDigest -> true;
  private long warm;
  private long cold;
  private long lost;
  private long started;
  private boolean closed;
  private Thread keeper;

  /**
   * Counts of the pool.
   *
   * @param warm calls that found a worker
   * @param cold calls that could have had one and found none
   * @param lost workers that were discarded because they no longer equalled a cold start
   * @param started workers that were started before a call
   * @param ready workers that wait
   * @param starting workers that are starting
   * @param bytes the sum of the memory limits of both, and of workers that are ending
   */
  public record Figures(
      long warm, long cold, long lost, long started, long ready, long starting, long bytes) {}

  public WarmPool(ProcessHost host, PoolSettings settings) {
    this.host = host;
    this.settings = settings;
    this.sizing = new PoolSizing<>(settings);
    sizing.queue(this::queued);
  }

  /**
   * The calls that wait for a worker of this kind: those of its package, of whose kinds the one
   * that was called last is taken to be theirs too.
   */
  private int queued(WarmKey key) {
    return key.equals(latest.get(key.packageDigest())) ? waiting.of(key.packageDigest()) : 0;
  }

  /** Sets how many calls of a tenant run at once at most: no more of its waiting calls count. */
  public synchronized void quotas(ToIntFunction<String> running) {
    waiting.quotas(running);
  }

  /** A call of a package waits for its turn. */
  public synchronized void waits(String tenant, PoolName pool, Digest packageDigest) {
    waiting.add(tenant, pool, packageDigest, 1);
    notifyAll();
  }

  /** It has its turn, or waits no longer. */
  public synchronized void goes(String tenant, PoolName pool, Digest packageDigest) {
    waiting.add(tenant, pool, packageDigest, -1);
  }

  /**
   * Figures of one pool.
   *
   * @param ready workers that wait
   * @param starting workers that are starting
   * @param queued calls that wait for their turn
   * @param grown workers that were started
   * @param shrunk workers that were ended since fewer were wanted, or others needed their room
   */
  public record PoolFigures(long ready, long starting, long queued, long grown, long shrunk) {}

  public synchronized PoolFigures figures(PoolName pool) {
    PoolSizing.Figures sized = sizing.pools().get(pool);
    long queued = waiting.of(pool);
    return sized == null
        ? new PoolFigures(0, 0, queued, 0, 0)
        : new PoolFigures(sized.ready(), sized.starting(), queued, sized.grown(), sized.shrunk());
  }

  private static long nowMs() {
    return System.nanoTime() / 1_000_000;
  }

  /** Sets which packages may run: from the next check on no worker waits for others. */
  public synchronized void allowOnly(Predicate<Digest> packages) {
    mayRun = packages;
    notifyAll();
  }

  /** Ends the workers of a package that may no longer run; from now on no call gets one. */
  public synchronized void discard(Digest packageDigest) {
    carryOut(sizing.drop(key -> key.packageDigest().equals(packageDigest)));
  }

  /**
   * Runs a call in a worker that waits for one of its kind.
   *
   * @param pool of its workers
   * @param observer is told of the worker's sandbox
   * @return how it ended; empty if the call must start cold
   */
  Optional<Ended> run(
      WarmKey key, PoolName pool, byte[] stdin, long wallMs, SandboxObserver observer) {
    if (settings.budgetBytes() == 0) {
      return Optional.empty();
    }
    for (Optional<WarmWorker> worker = take(key, pool); worker.isPresent(); worker = again(key)) {
      Optional<Ended> ended = worker.get().run(stdin, wallMs, observer);
      synchronized (this) {
        warm += ended.isPresent() ? 1 : 0;
        lost += ended.isPresent() ? 0 : 1;
      }
      if (ended.isPresent()) {
        return ended;
      }
    }
    synchronized (this) {
      cold++;
    }
    return Optional.empty();
  }

  private synchronized Optional<WarmWorker> take(WarmKey key, PoolName pool) {
    latest.put(key.packageDigest(), key);
    return taken(sizing.take(key, pool, key.limits().memoryBytes(), nowMs()));
  }

  /** Another worker for the same call, which is not counted as further demand. */
  private synchronized Optional<WarmWorker> again(WarmKey key) {
    return taken(sizing.another(key, nowMs()));
  }

  private Optional<WarmWorker> taken(OptionalLong id) {
    if (closed) {
      return Optional.empty();
    }
    keep();
    notifyAll();
    return id.isPresent() ? Optional.of(workers.get(id.getAsLong())) : Optional.empty();
  }

  /** Starts the thread that checks the workers, at the first call. */
  private void keep() {
    if (keeper == null) {
      keeper = Thread.ofVirtual().name("writ-warm-pool").start(this::look);
    }
  }

  private void look() {
    try {
      while (true) {
        List<WarmWorker> all;
        synchronized (this) {
          all = new ArrayList<>(workers.values());
        }
        all.forEach(WarmWorker::endIfBusy);
        synchronized (this) {
          if (closed) {
            return;
          }
          latest.keySet().removeIf(packageDigest -> !mayRun.test(packageDigest));
          carryOut(sizing.drop(key -> !mayRun.test(key.packageDigest())));
          carryOut(sizing.steps(nowMs()));
          wait(LOOK_MS);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      synchronized (this) {
        keeper = null; // had it failed, the next call would start another
      }
    }
  }

  private void carryOut(List<PoolSizing.Step<WarmKey>> steps) {
    for (PoolSizing.Step<WarmKey> step : steps) {
      switch (step) {
        case PoolSizing.Step.Start<WarmKey>(long id, WarmKey key) -> {
          long waitMs = settings.maxAgeMs() + SLACK_MS;
          WarmWorker worker = new WarmWorker(id, key, host, waitMs, new Told());
          workers.put(id, worker);
          started++;
          worker.start();
        }
        case PoolSizing.Step.End<WarmKey>(long id) -> workers.get(id).end();
      }
    }
  }

  /** What workers tell the pool. */
  private final class Told implements WarmWorker.Keeper {
    @Override
    public void ready(WarmWorker worker) {
      synchronized (WarmPool.this) {
        sizing.ready(worker.id());
        WarmPool.this.notifyAll();
      }
    }

    @Override
    public void gone(WarmWorker worker) {
      synchronized (WarmPool.this) {
        workers.remove(worker.id());
        sizing.gone(worker.id(), nowMs());
        WarmPool.this.notifyAll();
      }
    }
  }

  /** How many workers wait for calls of a package. */
  synchronized long ready(Digest packageDigest) {
    return sizing.ready(key -> key.packageDigest().equals(packageDigest));
  }

  public synchronized Figures figures() {
    return new Figures(
        warm, cold, lost, started, sizing.ready(), sizing.starting(), sizing.bytes());
  }

  /**
   * Waits until its figures match a condition; returns whether they do. For measurements.
   *
   * @param atMostMs how long
   */
  public synchronized boolean await(Predicate<Figures> so, long atMostMs)
      throws InterruptedException {
    long give = nowMs() + atMostMs;
    while (!so.test(figures()) && nowMs() < give) {
      wait(Math.max(1, give - nowMs()));
    }
    return so.test(figures());
  }

  /** Ends every worker; afterwards every call starts cold. */
  @Override
  public void close() {
    List<WarmWorker> all;
    synchronized (this) {
      closed = true;
      all = new ArrayList<>(workers.values());
      notifyAll();
    }
    all.forEach(WarmWorker::end);
    all.forEach(WarmWorker::join);
  }
}
