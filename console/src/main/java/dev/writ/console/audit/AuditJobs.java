package dev.writ.console.audit;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.http.auth.Caller;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The jobs of a server: one is worked at, so that auditing never takes more than one processor from
 * effects; tenants take turns. Thread safe.
 */
final class AuditJobs implements AutoCloseable {
  private static final int OF_TENANT_MAX = 8;
  private static final int MAX = 64;

  private final Work work;
  private final InstantSource clock;
  private final Consumer<Throwable> failures;
  private final LinkedHashMap<String, AuditJob> all = new LinkedHashMap<>();

  /** Tenants whose jobs wait, the next one first. */
  private final LinkedHashMap<String, ArrayDeque<AuditJob>> waiting = new LinkedHashMap<>();

  private Thread thread;
  private boolean closing;

  /** Does a job; what it throws ends the job as failed. */
  @FunctionalInterface
  interface Work {
    void on(AuditJob job);
  }

  /**
   * @param failures gets what nobody foresaw
   */
  AuditJobs(Work work, InstantSource clock, Consumer<Throwable> failures) {
    this.work = work;
    this.clock = clock;
    this.failures = failures;
  }

  /**
   * Takes a job.
   *
   * @throws WritException {@code GWY-125}
   */
  synchronized void add(AuditJob job) {
    String tenant = job.caller().tenant();
    makeRoom(all.values().stream().filter(of(tenant)::test).toList(), OF_TENANT_MAX);
    makeRoom(List.copyOf(all.values()), MAX);
    all.put(job.id(), job);
    waiting.computeIfAbsent(tenant, _ -> new ArrayDeque<>()).add(job);
    if (thread == null) {
      thread = Thread.ofPlatform().name("writ-audit-jobs").daemon().start(this::workOff);
      thread.setPriority(Thread.MIN_PRIORITY);
    }
    notifyAll();
  }

  private static Predicate<AuditJob> of(String tenant) {
    return job -> job.caller().tenant().equals(tenant);
  }

  /** Forgets the oldest one that has ended, where there are as many as may be. */
  private void makeRoom(List<AuditJob> jobs, int max) {
    if (jobs.size() < max) {
      return;
    }
    AuditJob oldest =
        jobs.stream()
            .filter(job -> job.state().ended())
            .findFirst()
            .orElseThrow(() -> new WritException(AuditJobError.BUSY, jobs.size() + " jobs"));
    forget(oldest);
  }

  private void forget(AuditJob job) {
    all.remove(job.id());
    job.forget();
  }

  /** A caller's own job; empty for those of others. */
  synchronized Optional<AuditJob> of(Caller caller, String id) {
    return Optional.ofNullable(all.get(id)).filter(job -> job.isOf(caller));
  }

  /** A caller's own jobs, the latest first. */
  synchronized List<AuditJob> of(Caller caller) {
    List<AuditJob> own = new ArrayList<>(all.values());
    own.removeIf(job -> !job.isOf(caller));
    return own.reversed();
  }

  /** Cancels a job that has not ended, and forgets it. */
  synchronized void remove(AuditJob job) {
    job.end(AuditJob.State.CANCELLED, Optional.empty(), clock.instant());
    Optional.ofNullable(waiting.get(job.caller().tenant())).ifPresent(jobs -> jobs.remove(job));
    forget(job);
  }

  private void workOff() {
    for (Optional<AuditJob> job = next(); job.isPresent(); job = next()) {
      job.filter(AuditJob::begin).ifPresent(this::workAt);
    }
  }

  private void workAt(AuditJob job) {
    try {
      work.on(job);
      job.end(AuditJob.State.DONE, Optional.empty(), clock.instant());
    } catch (WritException e) {
      job.end(AuditJob.State.FAILED, Optional.of(e), clock.instant());
    } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
      failures.accept(e);
      job.end(AuditJob.State.FAILED, Optional.empty(), clock.instant());
    }
  }

  /** Waits for a job; empty at the end. */
  private synchronized Optional<AuditJob> next() {
    while (!closing) {
      Optional<Map.Entry<String, ArrayDeque<AuditJob>>> turn =
          waiting.entrySet().stream().findFirst();
      if (turn.isPresent()) {
        String tenant = turn.get().getKey();
        ArrayDeque<AuditJob> jobs = waiting.remove(tenant);
        AuditJob job = jobs.poll();
        if (!jobs.isEmpty()) {
          waiting.put(tenant, jobs); // behind the other tenants
        }
        if (job != null) {
          return Optional.of(job);
        }
        continue;
      }
      try {
        wait();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return Optional.empty();
      }
    }
    return Optional.empty();
  }

  /** Cancels all jobs, and returns when the one at work has ended. */
  @Override
  public void close() {
    Thread worker;
    synchronized (this) {
      closing = true;
      List.copyOf(all.values()).forEach(this::remove);
      notifyAll();
      worker = thread;
    }
    try {
      if (worker != null) {
        worker.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
