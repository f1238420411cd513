package dev.writ.tools.wasm;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Resources;
import dev.writ.tools.error.ToolsError;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Runs guests on platform threads of a known stack size, with limits on their number and on the sum
 * of their memory. Callers wait, also on virtual threads, and tenants share both fairly ({@link
 * GuestPlaces}); interrupting a caller ends its guest. A guest's time counts from its own start.
 */
public final class GuestPool implements AutoCloseable {
  /** Stack of a guest's thread. QuickJS and SQLite end by their own limits well before it. */
  public static final int STACK_BYTES = 64 << 20;

  private static final int PERMIT_BYTES = 1 << 20;

  /** How many tenants can have their maximum of places at once. */
  private static final int TENANTS_AT_ONCE = 4;

  private final ThreadPoolExecutor threads;
  private final Watchdog watchdog = new Watchdog();
  private final GuestPlaces places;
  private final int permits;
  private final Set<Stop> running = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /**
   * Without a separate limit for one tenant.
   *
   * @param guests how many run at once
   * @param memoryBytes the most that those running may declare together
   */
  public GuestPool(int guests, long memoryBytes) {
    this(guests, guests, memoryBytes);
  }

  /**
   * @param guests how many run at once
   * @param guestsOfOne how many of one tenant
   * @param memoryBytes the most that those running may declare together
   */
  public GuestPool(int guests, int guestsOfOne, long memoryBytes) {
    permits = Math.toIntExact(Math.max(1, memoryBytes / PERMIT_BYTES));
    places = new GuestPlaces(guests, guestsOfOne, permits);
    ThreadFactory factory =
        Thread.ofPlatform().name("writ-guest-", 0).daemon().stackSize(STACK_BYTES).factory();
    threads =
        new ThreadPoolExecutor(
            guests, guests, 30, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), factory);
    threads.allowCoreThreadTimeOut(true);
    Warmup.run();
  }

  /**
   * One tenant may run as many guests as there are processors, so that several tenants share the
   * processors through the host's scheduler; all guests together get half of the heap.
   */
  public static GuestPool ofThisHost() {
    Runtime host = Runtime.getRuntime();
    int processors = host.availableProcessors();
    return new GuestPool(TENANTS_AT_ONCE * processors, processors, host.maxMemory() / 2);
  }

  /** The work on a guest's thread. */
  @FunctionalInterface
  public interface Program {
    DriverOutcome.Output run(Guest guest);
  }

  /**
   * Runs a program for an invocation, within its limits.
   *
   * @throws WritException {@code TOL-005} when closed, or what opening an input threw: these are no
   *     failures of the guest
   */
  public DriverOutcome run(Invocation invocation, Program program) {
    return run(invocation, program, true);
  }

  /**
   * As {@link #run(Invocation, Program)}.
   *
   * @param timed whether processor time is limited by the clock; not where instructions are counted
   */
  DriverOutcome run(Invocation invocation, Program program, boolean timed) {
    Resources limits = invocation.resources();
    if (limits.wallMs() == 0 || limits.cpuMs() == 0) {
      String reason = limits.cpuMs() == 0 ? Reason.CPU_TIME : Reason.WALL_TIME;
      return atOnce(Failure.stopped(reason));
    }
    long needed = limits.memoryBytes() / PERMIT_BYTES + 1;
    if (needed > permits) {
      return atOnce(
          new Failure(
              DriverOutcome.End.KILLED,
              Reason.HOST_MEMORY,
              "the ceiling is "
                  + limits.memoryBytes()
                  + " bytes of memory, this host gives guests "
                  + (long) permits * PERMIT_BYTES,
              false));
    }
    String tenant = invocation.scope().tenant();
    try {
      places.acquire(tenant, needed);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return atOnce(Failure.stopped(Reason.CANCELLED));
    }
    try {
      List<byte[]> inputs = new ArrayList<>(invocation.inputs().size());
      Failure failure = readInputs(invocation, inputs);
      return failure == null ? dispatch(invocation, inputs, program, timed) : atOnce(failure);
    } finally {
      places.release(tenant, needed);
    }
  }

  private static DriverOutcome atOnce(Failure failure) {
    return DriverOutcome.failed(
        failure.end(), failure.reason(), failure.message(), DriverOutcome.Metrics.NONE);
  }

  /** Reads the inputs, which count towards the guest's memory. */
  private static Failure readInputs(Invocation invocation, List<byte[]> into) {
    long max = Math.min(invocation.resources().memoryBytes(), Integer.MAX_VALUE - 16);
    long left = max;
    for (Input input : invocation.inputs()) {
      try (InputStream stream = invocation.content().open(input)) {
        byte[] bytes = stream.readNBytes((int) left + 1);
        if (bytes.length > left) {
          return new Failure(
              DriverOutcome.End.FAILED,
              Reason.INPUT_TOO_LARGE,
              "the inputs are larger than the memory ceiling of " + max + " bytes",
              false);
        }
        into.add(bytes);
        left -= bytes.length;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return null;
  }

  private DriverOutcome dispatch(
      Invocation invocation, List<byte[]> inputs, Program program, boolean timed) {
    Stop stop = new Stop();
    running.add(stop);
    try {
      if (closed) {
        throw new WritException(ToolsError.DRIVERS_CLOSED, "");
      }
      Guest guest = new Guest(invocation, inputs);
      invocation.call().observer().created();
      try {
        invocation.call().observer().executing();
        return await(stop, threads.submit(() -> onThread(stop, guest, program, timed)));
      } finally {
        invocation.call().observer().destroyed();
      }
    } catch (RejectedExecutionException e) {
      throw new WritException(ToolsError.DRIVERS_CLOSED, "");
    } finally {
      running.remove(stop);
    }
  }

  private static DriverOutcome await(Stop stop, Future<DriverOutcome> future) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return future.get();
        } catch (InterruptedException e) {
          interrupted = true;
          stop.request(Reason.CANCELLED);
        } catch (ExecutionException e) {
          throw new IllegalStateException("a guest's end is always an outcome", e.getCause());
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private DriverOutcome onThread(Stop stop, Guest guest, Program program, boolean timed) {
    Resources limits = guest.invocation().resources();
    DriverOutcome.Output output = null;
    Throwable thrown = null;
    try (Watchdog.Watch watch =
        watchdog.watch(stop, timed ? limits.cpuMs() : Long.MAX_VALUE, limits.wallMs())) {
      stop.begin();
      try {
        output = program.run(guest);
      } catch (Throwable t) {
        // any failure that a guest causes in the JVM becomes an outcome; the thread survives
        thrown = t;
      } finally {
        stop.end();
      }
      DriverOutcome.Metrics metrics =
          new DriverOutcome.Metrics(
              TimeUnit.NANOSECONDS.toMillis(watch.cpuNanos()),
              guest.memoryBytes(),
              TimeUnit.NANOSECONDS.toMillis(watch.wallNanos()),
              guest.fuel());
      return thrown == null
          ? guest.succeeded(output, metrics)
          : guest.ended(Failure.of(thrown, stop.reason(), guest.memoryRefused()), metrics);
    }
  }

  /** Guests that run now. */
  public int running() {
    return threads.getActiveCount();
  }

  /** Callers that wait for memory or for a place. */
  public int waiting() {
    return places.waiting();
  }

  /** Ends all guests and accepts no more. */
  @Override
  public void close() {
    closed = true;
    running.forEach(stop -> stop.request(Reason.CANCELLED));
    threads.shutdown();
    try {
      threads.awaitTermination(10, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    watchdog.close();
  }
}
