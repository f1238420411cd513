package dev.writ.sandbox.engine;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.Captured;
import dev.writ.sandbox.Conversation;
import dev.writ.sandbox.EndReason;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Held;
import dev.writ.sandbox.OutputListener;
import dev.writ.sandbox.Usage;
import dev.writ.sandbox.cgroup.Counters;
import dev.writ.sandbox.egress.EgressEvent;
import dev.writ.sandbox.egress.EgressProxy;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.workspace.Workspace;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Runs one command: starts it, watches its limits, and reports how it ended. While a command waits
 * for its input it is watched less closely.
 */
final class LiveExecution implements Held, Conversation {
  private static final long LOOK_MS = 20;

  /**
   * While a command waits, only one check in so many is made; its cgroup limits what it uses
   * meanwhile.
   */
  private static final int WAITING_LOOKS = 25;

  private static final int ENGINE_WORDS = 2_000;
  private static final Pattern NOT_IN_IMAGE =
      Pattern.compile(
          "no such file or directory|executable file not found|executable file .* not found");

  private final Confinement c;
  private final Workspace workspace;
  private final Optional<EgressProxy> proxy;
  private final Runnable atEnd;
  private final Consumer<Optional<Ended>> told;
  private final RunningCommand running;
  private final Unaccepted unaccepted;
  private final long waitMs;
  private final AtomicReference<Phase> phase;
  private volatile long from = System.nanoTime();
  private volatile long wallMs;
  private volatile long idleCpuMs;
  private final AtomicReference<EndReason> stopped = new AtomicReference<>();
  private final EnumSet<EndReason> seen = EnumSet.noneOf(EndReason.class);
  private final CompletableFuture<Ended> ended = new CompletableFuture<>();
  private final CompletableFuture<Void> removed = new CompletableFuture<>();
  private final Pump out;
  private final Pump err;

  private enum Phase {
    /** It waits for its input. */
    WAITS,
    /** It has its input. */
    RUNS,
    /** It ended, or is being ended, without having got its input. */
    SPENT
  }

  /**
   * @param waitMs how long it waits for its input; absent if it has it from the start
   * @param talks whether its input stays open, as {@link Conversation} says
   * @param atEnd removes what was made for this command; always called once, when no process of it
   *     is left
   * @param told gets the end first, before any waiting caller; empty if the engine failed, or could
   *     not remove what it had made
   */
  LiveExecution(
      Confinement c,
      Starter starter,
      Workspace workspace,
      Optional<EgressProxy> proxy,
      OptionalLong waitMs,
      boolean talks,
      OutputListener listener,
      Runnable atEnd,
      Consumer<Optional<Ended>> told) {
    this.c = c;
    this.workspace = workspace;
    this.proxy = proxy;
    this.atEnd = atEnd;
    this.told = told;
    this.waitMs = waitMs.orElse(0);
    this.wallMs = c.command().limits().wallMs();
    this.phase = new AtomicReference<>(waitMs.isPresent() ? Phase.WAITS : Phase.RUNS);
    this.running = starter.start(c);
    this.unaccepted = new Unaccepted(running::pids);
    AtomicLong left = new AtomicLong(c.command().limits().outputBytes());
    Runnable overflow = () -> stopped.compareAndSet(null, EndReason.OUTPUT_LIMIT);
    this.out =
        new Pump(
            running.stdout(),
            talks
                ? OutputCapture.told(OutputListener.Stream.STDOUT, listener, 0)
                : new OutputCapture(OutputListener.Stream.STDOUT, listener, left, overflow));
    this.err =
        new Pump(
            running.stderr(),
            talks
                ? OutputCapture.told(OutputListener.Stream.STDERR, listener, ENGINE_WORDS)
                : new OutputCapture(OutputListener.Stream.STDERR, listener, left, overflow));
    if (waitMs.isEmpty() && !talks) {
      feed(c.command().stdin());
    }
    Thread.ofVirtual().name("writ-sandbox-watch").start(this::watch);
  }

  private void feed(byte[] stdin) {
    Thread.ofVirtual()
        .name("writ-sandbox-stdin")
        .start(() -> {
          try (OutputStream in = running.stdin()) {
            in.write(stdin);
          } catch (IOException e) {
            // It reads no more.
          }
        });
  }

  private void watch() {
    Thread outReader = Thread.ofVirtual().name("writ-sandbox-stdout").start(out);
    Thread errReader = Thread.ofVirtual().name("writ-sandbox-stderr").start(err);
    Ended how = null;
    Throwable why = null;
    try {
      for (int look = 1; !running.awaitEnd(LOOK_MS); look++) {
        if (isDue(look) && limitReached() || stopped.get() != null) {
          break;
        }
      }
      phase.compareAndSet(Phase.WAITS, Phase.SPENT);
      stopRest();
      outReader.join();
      errReader.join();
      how = conclude(elapsedMs());
    } catch (Throwable e) {
      why = e;
    }
    try {
      running.close();
      proxy.ifPresent(EgressProxy::close);
    } catch (Throwable e) {
      why = why == null ? e : why;
    }
    if (why == null) {
      // Its processes are gone, so who waits need not wait for the kernel, too: unmounting and
      // removing a cgroup take most of what a short command takes.
      workspace.running(false);
      told.accept(Optional.of(how));
      ended.complete(how);
    }
    try {
      atEnd.run();
      removed.complete(null);
    } catch (Throwable e) {
      removed.completeExceptionally(e);
      why = why == null ? e : why;
    }
    if (why != null) {
      told.accept(Optional.empty());
      ended.completeExceptionally(why); // does nothing where its end is known
    }
  }

  private boolean isDue(int look) {
    return phase.get() != Phase.WAITS || look % WAITING_LOOKS == 0;
  }

  private long elapsedMs() {
    return (System.nanoTime() - from) / 1_000_000;
  }

  private boolean limitReached() {
    // Read the phase first: if it is RUNS, the start of its time is visible, too.
    boolean waits = phase.get() == Phase.WAITS;
    EndReason reason = null;
    Counters counters = running.counters();
    if (counters.cpuMs() - idleCpuMs >= c.command().limits().cpuMs()) {
      reason = EndReason.CPU_LIMIT;
    }
    if (elapsedMs() >= (waits ? waitMs : wallMs)) {
      reason = EndReason.TIMED_OUT;
    }
    // The kernel does not refuse TCP memory over the limit, or does not count it at all.
    if (counters.socketBytes() > c.socketBytesMost() || unaccepted.areTooMany()) {
      reason = EndReason.OUT_OF_MEMORY;
    }
    if (workspace.freeBytes() < 4096) {
      seen.add(EndReason.DISK_LIMIT);
    }
    // A command that waited too long but got its input at this moment keeps all of its time.
    if (reason != null && (!waits || phase.compareAndSet(Phase.WAITS, Phase.SPENT))) {
      stopped.compareAndSet(null, reason);
    }
    return stopped.get() != null;
  }

  /** Ends remaining processes: with a grace after a timeout or cancellation, otherwise at once. */
  private void stopRest() throws InterruptedException {
    EndReason reason = stopped.get();
    boolean told = reason == EndReason.TIMED_OUT || reason == EndReason.CANCELLED;
    if (told && phase.get() == Phase.RUNS) { // without input there is nothing to clean up
      running.terminate();
      running.awaitEnd(c.command().limits().graceMs());
    }
    // Even after its own end: processes that it left behind are killed.
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
        new Usage(
            Math.max(0, counters.cpuMs() - idleCpuMs),
            counters.memoryPeakBytes(),
            wallMs,
            counters.pidsPeak());
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
    if (isCpuLimit(counters, exit)) {
      reached.add(EndReason.CPU_LIMIT);
    }
    if (egress.stream().anyMatch(EgressEvent::denied)) {
      reached.add(EndReason.EGRESS_DENIED);
    }
    return reached;
  }

  /**
   * Whether processor time ended it, by our measurement or by the kernel's limit of each process.
   */
  private boolean isCpuLimit(Counters counters, ExitStatus exit) {
    long usedMs = counters.cpuMs() - idleCpuMs;
    // Without measurements: a process that ignores SIGXCPU is killed a second later, and not
    // earlier.
    long possibleMs = elapsedMs() * Runtime.getRuntime().availableProcessors();
    long kernelMs = counters.cpuMs() > 0 ? counters.cpuMs() : possibleMs;
    return usedMs >= c.command().limits().cpuMs()
        || exit.isSignal(ExitStatus.SIGXCPU)
        || exit.isSignal(ExitStatus.SIGKILL) && kernelMs >= c.backstopS() * 1_000;
  }

  /** A limit that a program may reach and still succeed. */
  private static boolean needsFailure(EndReason reason) {
    return reason == EndReason.PIDS_LIMIT
        || reason == EndReason.DISK_LIMIT
        || reason == EndReason.EGRESS_DENIED;
  }

  /** Reports a failure of the engine as such, not as one of the program. */
  private void requireStarted(EnumSet<EndReason> reached) {
    boolean byUs = stopped.get() != null || reached.contains(EndReason.OUT_OF_MEMORY);
    if (!byUs && !running.ran()) {
      Captured said = err.captured();
      int length = Math.min(said.bytes().length, ENGINE_WORDS);
      String words = new String(said.bytes(), 0, length, StandardCharsets.UTF_8).strip();
      // Only the engine knows the content of an image, so it reports a missing program at the
      // start.
      boolean missing = c.image().isPresent() && NOT_IN_IMAGE.matcher(words).find();
      throw new WritException(
          missing ? SandboxError.EXECUTABLE_MISSING : SandboxError.ENGINE_FAILED,
          c.engine() + ": " + words);
    }
  }

  @Override
  public Look look() {
    Counters counters = running.counters();
    boolean met =
        counters.oomKills() > 0 || counters.pidsRefused() > 0 || workspace.freeBytes() < 4096;
    boolean waits = phase.get() == Phase.WAITS && stopped.get() == null;
    return new Look(waits, out.total(), err.total(), counters.cpuMs(), met);
  }

  @Override
  public synchronized boolean handOver(byte[] stdin, long wallMs, long idleCpuMs) {
    if (phase.get() != Phase.WAITS || stopped.get() != null) {
      return false;
    }
    // Before the phase changes: a reader that sees RUNS must see these limits, too.
    this.from = System.nanoTime();
    this.wallMs = wallMs;
    this.idleCpuMs = idleCpuMs;
    if (!phase.compareAndSet(Phase.WAITS, Phase.RUNS)) {
      return false;
    }
    feed(stdin);
    return true;
  }

  @Override
  public boolean write(byte[] bytes) {
    try {
      running.stdin().write(bytes);
      running.stdin().flush();
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public void endInput() {
    try {
      running.stdin().close();
    } catch (IOException e) {
      // It reads no more.
    }
  }

  @Override
  public State state() {
    Counters counters = running.counters();
    return new State(counters.cpuMs(), counters.memoryPeakBytes(), ended.isDone());
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

  /** Whether it has ended: no process of it is left, though its mounts and cgroup may be. */
  boolean hasEnded() {
    return ended.isDone();
  }

  /**
   * Waits until everything that was made for it is removed.
   *
   * @throws dev.writ.canonicalize.WritException {@code SBX-007} where that failed
   */
  void awaitRemoval() {
    try {
      removed.join();
    } catch (CompletionException e) {
      throw unwrapped(e.getCause());
    }
  }

  /** Cancels it and waits until everything is removed, or that failed; returns whether it is. */
  boolean settle() {
    cancel();
    return removed.handle((nothing, failure) -> failure == null).join();
  }
}
