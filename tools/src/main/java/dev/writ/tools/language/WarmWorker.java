package dev.writ.tools.language;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.SandboxObserver;
import dev.writ.sandbox.EndReason;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Held;
import dev.writ.sandbox.OutputListener;
import dev.writ.sandbox.Sandbox;
import dev.writ.tools.process.ProcessHost;
import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One worker that was started before its call, in a sandbox of its own, for one call. Its thread
 * removes everything once it has ended, in any way.
 */
final class WarmWorker {
  /**
   * From this time after it reported to be ready, its processor time counts as used while idle, not
   * as its start.
   */
  private static final long SETTLE_MS = 50;

  /** A worker that uses more processor time than this while idle is evicted. */
  private static final long IDLE_CPU_MS_MAX = 250;

  private static final int FIRST_FRAME_MAX = 1_024;

  /** Unique names for sandboxes, over all pools of the host. */
  private static final AtomicLong SERIAL = new AtomicLong();

  /** Gets changes of the worker's state. */
  interface Keeper {
    void ready(WarmWorker worker);

    void gone(WarmWorker worker);
  }

  private final long id;
  private final WarmKey key;
  private final ProcessHost host;
  private final long waitMs;
  private final Keeper keeper;
  private final String sandbox = "warm-" + SERIAL.incrementAndGet();
  private final Thread thread;
  private final ByteArrayOutputStream said = new ByteArrayOutputStream();
  private final CompletableFuture<Boolean> first = new CompletableFuture<>();
  private long firstBytes;
  private long startMs;
  private volatile Held held;
  private volatile Held.Look settled;
  private volatile boolean ending;

  WarmWorker(long id, WarmKey key, ProcessHost host, long waitMs, Keeper keeper) {
    this.id = id;
    this.key = key;
    this.host = host;
    this.waitMs = waitMs;
    this.keeper = keeper;
    this.thread = Thread.ofVirtual().name("writ-warm-" + id).unstarted(this::live);
  }

  long id() {
    return id;
  }

  void start() {
    thread.start();
  }

  private void live() {
    try (Sandbox place = host.engine(key.waived()).create(key.sandbox(sandbox))) {
      long from = System.nanoTime();
      held = place.hold(key.command(), waitMs, this::output);
      Thread.ofVirtual().name("writ-warm-end-" + id).start(this::awaitEnd);
      if (ending) {
        held.cancel();
      }
      if (first.join()) {
        startMs = (System.nanoTime() - from) / 1_000_000;
        TimeUnit.MILLISECONDS.sleep(SETTLE_MS);
        settled = held.look();
        keeper.ready(this);
      } else {
        end();
      }
      held.await();
    } catch (WritException e) {
      // a cold start of the same call will report it
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      keeper.gone(this);
    }
  }

  private void awaitEnd() {
    try {
      held.await();
    } catch (WritException e) {
      // Its own thread gets the same.
    } finally {
      first.complete(false);
    }
  }

  /** Checks that the first output is the ready message, and nothing else. */
  private void output(OutputListener.Stream stream, byte[] bytes) {
    if (stream != OutputListener.Stream.STDOUT || first.isDone()) {
      return;
    }
    said.writeBytes(bytes);
    try {
      List<JsonValue.Obj> frames = Frames.read(said.toByteArray());
      firstBytes = said.size();
      first.complete(frames.size() == 1 && Frames.kind(frames.getFirst()).equals("ready"));
    } catch (Frames.Violation e) {
      // Not whole yet, or never.
      if (said.size() > FIRST_FRAME_MAX || Frames.announces(said.toByteArray()) > FIRST_FRAME_MAX) {
        first.complete(false);
      }
    }
  }

  /** Ends it, if it has no call. */
  void end() {
    ending = true;
    Held started = held;
    if (started != null) {
      started.cancel();
    }
  }

  /** Waits until the worker has ended completely. */
  void join() {
    boolean interrupted = false;
    while (true) {
      try {
        thread.join();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends it if it was active while it waited. */
  synchronized void endIfBusy() {
    if (settled != null) {
      Held.Look now = held.look();
      if (now.waits() && !isAsStarted(now)) {
        end();
      }
    }
  }

  private synchronized boolean handOver(byte[] stdin, long wallMs) {
    Held.Look now = held.look();
    return startMs < wallMs
        && isAsStarted(now)
        && held.handOver(stdin, wallMs, Math.max(0, idleMs(now)));
  }

  private boolean isAsStarted(Held.Look now) {
    return !now.limitMet()
        && now.stdoutBytes() == firstBytes
        && now.stderrBytes() == settled.stderrBytes()
        && idleMs(now) <= IDLE_CPU_MS_MAX;
  }

  private long idleMs(Held.Look now) {
    return now.cpuMs() - settled.cpuMs();
  }

  /**
   * Gives it its call and waits for the end. Empty if it does not equal a cold start: it ended, was
   * active while it waited, or took longer to start than the call may take. Empty, too, if it ended
   * without output so early that it cannot have done more than start.
   *
   * @param wallMs the call's limit of elapsed time
   * @param observer of the call's sandbox, which is not made for it
   */
  Optional<Ended> run(byte[] stdin, long wallMs, SandboxObserver observer) {
    if (!handOver(stdin, wallMs)) {
      end();
      return Optional.empty();
    }
    observer.in(sandbox);
    observer.executing();
    Ended ended = held.await();
    observer.executed();
    boolean byItself = ended.reason() == EndReason.EXITED || ended.reason() == EndReason.SIGNALLED;
    boolean unheard =
        byItself && ended.stdout().total() == firstBytes && ended.usage().wallMs() <= startMs;
    return unheard ? Optional.empty() : Optional.of(ended);
  }
}
