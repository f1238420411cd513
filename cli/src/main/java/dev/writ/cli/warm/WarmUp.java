package dev.writ.cli.warm;

import dev.writ.gateway.ops.Probe;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Exercises the code of a server that has just started, so that it is compiled before the server
 * says that it is ready: effects over HTTP, on a {@link WarmServer}. Nothing of the installation is
 * touched. It ends when the effects are fast, when its time is up, or when the installation itself
 * has work, which then must not wait for it.
 */
public final class WarmUp implements AutoCloseable {
  private static final String NAME = "warm";

  /**
   * Callers at once in a round: the first cannot be many, since each would wait for the classes.
   */
  private static final List<Integer> FIRST_CALLERS = List.of(1, 2, 8);

  private static final int CALLERS = 64;

  /** Fast enough: the slowest call of rounds of {@link #CALLERS} one after the other. */
  private static final long FAST_NANOS = 50_000_000;

  private static final int FAST_ROUNDS = 3;

  /** How long the end of the process waits for the temporary directory to be removed. */
  private static final Duration ENDS_WITHIN = Duration.ofSeconds(5);

  private final InstantSource clock;
  private final BooleanSupplier wanted;
  private final Consumer<String> log;
  private final Duration most;
  private final Thread thread;
  private volatile boolean stopped;
  private volatile boolean done;

  /**
   * Does nothing before {@link #begin}.
   *
   * @param most the longest time; zero for none of this
   * @param wanted whether the installation has work of its own
   * @param log is told how it ended
   */
  public WarmUp(Duration most, InstantSource clock, BooleanSupplier wanted, Consumer<String> log) {
    this.most = most;
    this.clock = clock;
    this.wanted = wanted;
    this.log = log;
    this.done = most.isZero();
    this.thread = Thread.ofPlatform().daemon().name("writ-warm-up").unstarted(this::run);
  }

  /** Begins in the background. */
  public void begin() {
    if (!done) {
      thread.start();
    }
  }

  /** The condition of readiness. */
  public Probe probe() {
    return new Probe(
        NAME, () -> done ? Probe.Result.OK : new Probe.Result(false, Optional.of("warming")));
  }

  private void run() {
    long began = System.nanoTime();
    String how;
    try (WarmServer server = WarmServer.start(clock, this::close)) {
      how = exercised(server, began + most.toNanos());
    } catch (IOException | RuntimeException e) {
      // A server that cannot exercise itself serves all the same: slowly at first, as it did.
      how = "ended by " + e.getClass().getSimpleName();
    }
    done = true;
    log.accept(how + " after " + (System.nanoTime() - began) / 1_000_000 + " ms");
  }

  private String exercised(WarmServer server, long until) throws IOException {
    List<WarmCaller> callers = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      try {
        int fast = 0;
        for (int round = 0; fast < FAST_ROUNDS; round++) {
          if (stopped || wanted.getAsBoolean()) {
            return "given up for calls";
          }
          if (System.nanoTime() >= until) {
            return "out of time";
          }
          int count = round < FIRST_CALLERS.size() ? FIRST_CALLERS.get(round) : CALLERS;
          while (callers.size() < count) {
            callers.add(new WarmCaller(server.port()));
          }
          fast = slowest(threads, server, callers) <= FAST_NANOS && count == CALLERS ? fast + 1 : 0;
        }
        return "done";
      } finally {
        for (WarmCaller caller : callers) {
          caller.close();
        }
      }
    }
  }

  /** The nanoseconds of the slowest of one call by each, all at once. */
  private static long slowest(ExecutorService threads, WarmServer server, List<WarmCaller> callers)
      throws IOException {
    List<Future<Long>> calls = new ArrayList<>();
    for (WarmCaller caller : callers) {
      byte[] request = server.request();
      calls.add(
          threads.submit(() -> {
            long began = System.nanoTime();
            caller.submit(request);
            return System.nanoTime() - began;
          }));
    }
    long slowest = 0;
    for (Future<Long> call : calls) {
      try {
        slowest = Math.max(slowest, call.get());
      } catch (ExecutionException e) {
        throw new IOException(e.getCause());
      } catch (InterruptedException e) {
        throw new IOException(e); // nobody interrupts this thread
      }
    }
    return slowest;
  }

  /** Ends it between two rounds, and waits until what it made is gone. */
  @Override
  public void close() {
    stopped = true;
    if (thread.getState() == Thread.State.NEW) {
      return;
    }
    try {
      thread.join(ENDS_WITHIN);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
