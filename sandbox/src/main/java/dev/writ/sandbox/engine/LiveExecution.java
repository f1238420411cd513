package dev.writ.sandbox.engine;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.Captured;
import dev.writ.sandbox.EndReason;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Execution;
import dev.writ.sandbox.Limits;
import dev.writ.sandbox.OutputListener;
import dev.writ.sandbox.SandboxError;
import dev.writ.sandbox.Usage;
import dev.writ.sandbox.cgroup.Counters;
import dev.writ.sandbox.egress.EgressEvent;
import dev.writ.sandbox.egress.EgressProxy;
import dev.writ.sandbox.workspace.Workspace;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;

/** Runs one command: starts it, watches its limits, and when it ended says how. */
final class LiveExecution implements Execution {
  private static final long LOOK_MS = 20;
  private static final int ENGINE_WORDS = 2_000;
  private static final Pattern NOT_IN_IMAGE =
      Pattern.compile(
          "no such file or directory|executable file not found|executable file .* not found");

  private final Confinement c;
  private final Workspace workspace;
  private final Optional<EgressProxy> proxy;
  private final Runnable atEnd;
  private final Running running;
  private final long started = System.nanoTime();
  private final AtomicReference<EndReason> stopped = new AtomicReference<>();
  private final EnumSet<EndReason> seen = EnumSet.noneOf(EndReason.class);
  private final CompletableFuture<Ended> ended = new CompletableFuture<>();
  private final Pump out;
  private final Pump err;

  /**
   * @param atEnd takes away what was made for this command; called once, whatever happens
   */
  LiveExecution(
      Confinement c,
      Starter starter,
      Workspace workspace,
      Optional<EgressProxy> proxy,
      OutputListener listener,
      Runnable atEnd) {
    this.c = c;
    this.workspace = workspace;
    this.proxy = proxy;
    this.atEnd = atEnd;
    this.running = starter.start(c);
    AtomicLong left = new AtomicLong(c.command().limits().outputBytes());
    Runnable overflow = () -> stopped.compareAndSet(null, EndReason.OUTPUT_LIMIT);
    this.out = new Pump(running.stdout(), OutputListener.Stream.STDOUT, listener, left, overflow);
    this.err = new Pump(running.stderr(), OutputListener.Stream.STDERR, listener, left, overflow);
    Thread.ofVirtual().name("writ-sandbox-stdin").start(this::feed);
    Thread.ofVirtual().name("writ-sandbox-watch").start(this::watch);
  }

  private void feed() {
    try (OutputStream in = running.stdin()) {
      in.write(c.command().stdin());
    } catch (IOException e) {
      // It reads no more.
    }
  }

  private void watch() {
    Thread outReader = Thread.ofVirtual().name("writ-sandbox-stdout").start(out);
    Thread errReader = Thread.ofVirtual().name("writ-sandbox-stderr").start(err);
    Ended how = null;
    Throwable why = null;
    try {
      while (!running.awaitEnd(LOOK_MS)) {
        if (limitReached()) {
          break;
        }
      }
      stopRest();
      outReader.join();
      errReader.join();
      how = conclude((System.nanoTime() - started) / 1_000_000);
    } catch (Throwable e) {
      why = e;
    }
    try {
      running.close();
      proxy.ifPresent(EgressProxy::close);
      atEnd.run();
    } catch (Throwable e) {
      why = why == null ? e : why;
    }
    if (why == null) {
      ended.complete(how);
    } else {
      ended.completeExceptionally(why);
    }
  }

  private boolean limitReached() {
    Limits limits = c.command().limits();
    if ((System.nanoTime() - started) / 1_000_000 >= limits.wallMs()) {
      stopped.compareAndSet(null, EndReason.TIMED_OUT);
    }
    if (running.counters().cpuMs() >= limits.cpuMs()) {
      stopped.compareAndSet(null, EndReason.CPU_LIMIT);
    }
    if (workspace.freeBytes() < 4096) {
      seen.add(EndReason.DISK_LIMIT);
    }
    return stopped.get() != null;
  }

  /** Ends what still runs: with a grace where it is told in time, else at once. */
  private void stopRest() throws InterruptedException {
    EndReason reason = stopped.get();
    if (reason == EndReason.TIMED_OUT || reason == EndReason.CANCELLED) {
      running.terminate();
      running.awaitEnd(c.command().limits().graceMs());
    }
    // Also after an end of its own: a process that it left behind goes with it.
    running.kill();
    running.exit();
  }

  private Ended conclude(long wallMs) throws InterruptedException {
    proxy.ifPresent(EgressProxy::close);
    Counters counters = running.counters();
    List<EgressEvent> egress = proxy.map(EgressProxy::events).orElse(List.of());
    ExitStatus exit = running.exit();
    EnumSet<EndReason> reached = reached(counters, egress, exit);
    requireStarted(reached);
    EndReason reason =
        reached.stream()
            .filter(r -> !needsFailure(r) || !exit.isSuccess())
            .findFirst()
            .orElse(exit.signal().isPresent() ? EndReason.SIGNALLED : EndReason.EXITED);
    boolean byUs = stopped.get() != null;
    ExitStatus shown = byUs ? ExitStatus.NONE : exit;
    Usage usage =
        new Usage(counters.cpuMs(), counters.memoryPeakBytes(), wallMs, counters.pidsPeak());
    return new Ended(
        reason,
        List.copyOf(reached),
        shown.code(),
        shown.signal(),
        out.captured(),
        err.captured(),
        usage,
        egress,
        c.engine());
  }

  private EnumSet<EndReason> reached(Counters counters, List<EgressEvent> egress, ExitStatus exit) {
    EnumSet<EndReason> reached = EnumSet.copyOf(seen);
    Optional.ofNullable(stopped.get()).ifPresent(reached::add);
    if (counters.oomKills() > 0) {
      reached.add(EndReason.OUT_OF_MEMORY);
    }
    if (counters.pidsRefused() > 0) {
      reached.add(EndReason.PIDS_LIMIT);
    }
    if (exit.isSignal(ExitStatus.SIGSYS)) {
      reached.add(EndReason.SECCOMP_VIOLATION);
    }
    if (exit.isSignal(ExitStatus.SIGXFSZ) || workspace.freeBytes() < 4096) {
      reached.add(EndReason.DISK_LIMIT);
    }
    if (exit.isSignal(ExitStatus.SIGXCPU)) {
      reached.add(EndReason.CPU_LIMIT);
    }
    if (egress.stream().anyMatch(EgressEvent::denied)) {
      reached.add(EndReason.EGRESS_DENIED);
    }
    return reached;
  }

  /** A limit that a program may meet and live with. */
  private static boolean needsFailure(EndReason reason) {
    return reason == EndReason.PIDS_LIMIT
        || reason == EndReason.DISK_LIMIT
        || reason == EndReason.EGRESS_DENIED;
  }

  /** An engine that failed is no program that failed. */
  private void requireStarted(EnumSet<EndReason> reached) {
    boolean byUs = stopped.get() != null || reached.contains(EndReason.OUT_OF_MEMORY);
    if (!byUs && !running.ran()) {
      Captured said = err.captured();
      int length = Math.min(said.bytes().length, ENGINE_WORDS);
      String words = new String(said.bytes(), 0, length, StandardCharsets.UTF_8).strip();
      // Of an image only its engine knows what is in it, and says so when it is to start it.
      boolean missing = c.image().isPresent() && NOT_IN_IMAGE.matcher(words).find();
      throw new WritException(
          missing ? SandboxError.EXECUTABLE_MISSING : SandboxError.ENGINE_FAILED,
          c.engine() + ": " + words);
    }
  }

  @Override
  public Ended await() {
    try {
      return ended.get();
    } catch (InterruptedException e) {
      cancel();
      Ended how = join();
      Thread.currentThread().interrupt();
      return how;
    } catch (ExecutionException e) {
      throw unwrapped(e.getCause());
    }
  }

  private Ended join() {
    try {
      return ended.join();
    } catch (CompletionException e) {
      throw unwrapped(e.getCause());
    }
  }

  private static RuntimeException unwrapped(Throwable cause) {
    return cause instanceof RuntimeException e ? e : new IllegalStateException(cause);
  }

  @Override
  public void cancel() {
    stopped.compareAndSet(null, EndReason.CANCELLED);
  }

  /** Waits until nothing of it is left, however it ended. */
  void settle() {
    cancel();
    ended.exceptionally(e -> null).join();
  }
}
