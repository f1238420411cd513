package dev.writ.sandbox.elsewhere;

import static dev.writ.sandbox.OutputListener.Stream.STDERR;
import static dev.writ.sandbox.OutputListener.Stream.STDOUT;

import dev.writ.sandbox.Command;
import dev.writ.sandbox.EndReason;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Execution;
import dev.writ.sandbox.OutputListener;
import dev.writ.sandbox.Usage;
import dev.writ.sandbox.egress.EgressEvent;
import dev.writ.sandbox.engine.ExitStatus;
import dev.writ.sandbox.engine.OutputCapture;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** One command on another host, from its start to the removal of what it ran in. */
public abstract class ElsewhereExecution implements Execution {
  private static final long LOOK_MS = 1_000;

  /** How long something that was told to end may take. */
  protected static final long STOP_MS = 10_000;

  private final Command command;
  private final Consumer<Optional<Ended>> atEnd;
  private final Stopping stopping = new Stopping();
  private final CompletableFuture<Ended> ended = new CompletableFuture<>();
  private final List<FollowedFile> streams;

  /**
   * @param shell runs scripts beside the command
   * @param atEnd gets the end before any waiting caller; empty if the engine failed
   */
  protected ElsewhereExecution(
      Command command,
      ElsewhereShell shell,
      OutputListener listener,
      Consumer<Optional<Ended>> atEnd) {
    this.command = command;
    this.atEnd = atEnd;
    AtomicLong left = new AtomicLong(command.limits().outputBytes());
    this.streams =
        List.of(
            stream(command, shell, "stdout", capture(STDOUT, listener, left, stopping)),
            stream(command, shell, "stderr", capture(STDERR, listener, left, stopping)));
  }

  private static OutputCapture capture(
      OutputListener.Stream which, OutputListener listener, AtomicLong left, Stopping stopping) {
    return new OutputCapture(which, listener, left, () -> stopping.because(EndReason.OUTPUT_LIMIT));
  }

  private static FollowedFile stream(
      Command command, ElsewhereShell shell, String name, OutputCapture capture) {
    long mostMs = command.limits().wallMs() + command.limits().graceMs() + STOP_MS;
    return new FollowedFile(shell, name, capture, mostMs);
  }

  /** Begins, once all of the object is there. */
  protected final void begin(String thread) {
    stopping.wakesBy(this::wake);
    Thread.ofVirtual().name(thread).start(this::run);
  }

  private void run() {
    Ended how = null;
    Throwable why = null;
    try {
      how = toItsEnd();
    } catch (Throwable e) {
      why = e;
    }
    remove();
    atEnd.accept(Optional.ofNullable(how));
    if (why == null) {
      ended.complete(how);
    } else {
      ended.completeExceptionally(why);
    }
  }

  /** Brings everything there, runs the command, and fetches what it left. */
  protected abstract Ended toItsEnd() throws InterruptedException, IOException;

  /** Removes all that was made for it; fails never. */
  protected abstract void remove();

  /** Has a wait for the next look end now. */
  protected abstract void wake();

  /**
   * Tells the command's process group to end, or kills it; where it cannot be reached, the removal
   * ends it.
   */
  protected abstract void signal(boolean kill) throws InterruptedException;

  /** Looks at a command that runs. */
  @FunctionalInterface
  protected interface Look<S> {
    /**
     * @param ms after so long at the latest
     */
    S after(long ms) throws InterruptedException;
  }

  protected final boolean isStopped() {
    return stopping.reason().isPresent();
  }

  /**
   * Reads the output of a command that runs, until it ended, or does not end though it should.
   *
   * @param from when it began, by {@link System#nanoTime}
   * @return what was seen last
   */
  protected final <S> S watch(long from, Look<S> look, Predicate<S> over)
      throws InterruptedException {
    streams.forEach(FollowedFile::start);
    try {
      return untilItEnds(from, look, over);
    } finally {
      stopReading();
    }
  }

  /** Watches it until its end; ends it when it must. */
  private <S> S untilItEnds(long from, Look<S> look, Predicate<S> over)
      throws InterruptedException {
    long wallMs = command.limits().wallMs();
    long askedAt = Long.MAX_VALUE;
    long killedAt = Long.MAX_VALUE;
    while (true) {
      long elapsed = (System.nanoTime() - from) / 1_000_000;
      if (elapsed >= wallMs && !isStopped()) {
        stopping.because(EndReason.TIMED_OUT);
      }
      EndReason reason = stopping.reason().orElse(null);
      if (reason != null && askedAt == Long.MAX_VALUE) {
        askedAt = elapsed;
        if (reason == EndReason.OUTPUT_LIMIT) {
          stopReading(); // first, so that a flood does not stand before what ends it
        } else {
          signal(false);
        }
      }
      long graceMs = reason == EndReason.OUTPUT_LIMIT ? 0 : command.limits().graceMs();
      if (killedAt == Long.MAX_VALUE && askedAt < Long.MAX_VALUE && elapsed >= askedAt + graceMs) {
        killedAt = elapsed;
        signal(true);
      }
      long next =
          killedAt < Long.MAX_VALUE
              ? killedAt + STOP_MS
              : askedAt < Long.MAX_VALUE ? askedAt + graceMs : wallMs;
      S seen = look.after(Math.clamp(next - elapsed, 1, LOOK_MS));
      boolean gaveUp = killedAt < Long.MAX_VALUE && elapsed >= killedAt + STOP_MS;
      if (over.test(seen) || gaveUp) {
        return seen;
      }
    }
  }

  private void stopReading() throws InterruptedException {
    for (FollowedFile stream : streams) {
      stream.stop();
    }
  }

  /** Reads the rest of the output, after the command's end. */
  protected final void readTheRest() throws IOException, InterruptedException {
    if (!stopping.reason().equals(Optional.of(EndReason.OUTPUT_LIMIT))) {
      for (FollowedFile stream : streams) {
        stream.finish(command.limits().outputBytes() + 1);
      }
    }
  }

  /** What the exit status alone tells of limits. */
  protected static EnumSet<EndReason> reached(ExitStatus exit, boolean outOfMemory) {
    EnumSet<EndReason> reached = EnumSet.noneOf(EndReason.class);
    if (outOfMemory) {
      reached.add(EndReason.OUT_OF_MEMORY);
    }
    if (exit.isSignal(ExitStatus.SIGSYS)) {
      reached.add(EndReason.SECCOMP_VIOLATION);
    }
    if (exit.isSignal(ExitStatus.SIGXFSZ)) {
      reached.add(EndReason.DISK_LIMIT);
    }
    if (exit.isSignal(ExitStatus.SIGXCPU)) {
      reached.add(EndReason.CPU_LIMIT);
    }
    return reached;
  }

  /**
   * @param reached the limits, without that for which it was stopped
   * @param engine what ran it, for observations
   */
  protected final Ended concluded(
      ExitStatus exit,
      EnumSet<EndReason> reached,
      long wallMs,
      List<EgressEvent> egress,
      String engine) {
    stopping.reason().ifPresent(reached::add);
    if (egress.stream().anyMatch(EgressEvent::denied)) {
      reached.add(EndReason.EGRESS_DENIED);
    }
    EndReason reason =
        reached.stream()
            .filter(r -> r != EndReason.EGRESS_DENIED || !exit.isSuccess())
            .findFirst()
            .orElse(exit.signal().isPresent() ? EndReason.SIGNALLED : EndReason.EXITED);
    ExitStatus shown = isStopped() ? ExitStatus.NONE : exit;
    return new Ended(
        reason,
        List.copyOf(reached),
        shown.code(),
        shown.signal(),
        streams.getFirst().captured(),
        streams.getLast().captured(),
        new Usage(0, 0, wallMs, 0),
        egress,
        engine);
  }

  @Override
  public final Ended await() {
    try {
      return ended.get();
    } catch (InterruptedException e) {
      cancel();
      try {
        return ended.join();
      } catch (CompletionException failed) {
        throw unwrapped(failed.getCause());
      } finally {
        Thread.currentThread().interrupt();
      }
    } catch (ExecutionException e) {
      throw unwrapped(e.getCause());
    }
  }

  private static RuntimeException unwrapped(Throwable cause) {
    return cause instanceof RuntimeException e ? e : new IllegalStateException(cause);
  }

  @Override
  public final void cancel() {
    stopping.because(EndReason.CANCELLED);
  }

  /** Waits until nothing of it is left. */
  final void settle() {
    cancel();
    ended.exceptionally(e -> null).join();
  }
}
