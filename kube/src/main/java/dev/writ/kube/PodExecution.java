package dev.writ.kube;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.EndReason;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Execution;
import dev.writ.sandbox.OutputListener;
import dev.writ.sandbox.Usage;
import dev.writ.sandbox.egress.EgressEvent;
import dev.writ.sandbox.egress.EgressGate;
import dev.writ.sandbox.engine.ExitStatus;
import dev.writ.sandbox.engine.OutputCapture;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.workspace.Workspace;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** One command in a pod, from the pod's creation to its deletion. */
final class PodExecution implements Execution {
  private static final long LOOK_MS = 1_000;
  private static final long STOP_MS = 10_000;

  private final Job job;
  private final Pod pod;
  private final PodEye eye;
  private final PodShell shell;
  private final Consumer<Optional<Ended>> atEnd;
  private final AtomicReference<EndReason> stopped = new AtomicReference<>();
  private final CompletableFuture<Ended> ended = new CompletableFuture<>();
  private final List<PodStream> streams;
  private String node = "";

  /**
   * All that a command in a pod needs.
   *
   * @param form the pod to make
   * @param files what is sent into it, beside the workspace
   * @param pass its right to use the egress proxy; ends with it
   * @param workspaceBytes what the workspace may hold when it comes back
   * @param scratch a private directory of this command
   * @param engine name and version of the engine, and the image
   * @param startMs how long the pod may take until its command runs
   */
  record Job(
      Cluster cluster,
      Pod form,
      Command command,
      Map<String, byte[]> files,
      Optional<EgressGate.Pass> pass,
      Workspace workspace,
      long workspaceBytes,
      Path scratch,
      String engine,
      long startMs) {}

  /**
   * Makes the pod.
   *
   * @param atEnd gets the end before any waiting caller; empty if the engine failed
   * @throws WritException {@code SBX-009}, {@code SBX-036}
   */
  PodExecution(Job job, OutputListener listener, Consumer<Optional<Ended>> atEnd) {
    this.job = job;
    this.atEnd = atEnd;
    this.pod = job.cluster().create(job.form());
    this.eye = new PodEye(job.cluster(), pod);
    this.shell = new PodShell(job.cluster(), pod.getMetadata().getName());
    AtomicLong left = new AtomicLong(job.command().limits().outputBytes());
    this.streams =
        List.of(
            stream("stdout", OutputListener.Stream.STDOUT, listener, left),
            stream("stderr", OutputListener.Stream.STDERR, listener, left));
    Thread.ofVirtual().name("writ-pod").start(this::run);
  }

  private PodStream stream(
      String name, OutputListener.Stream which, OutputListener listener, AtomicLong left) {
    OutputCapture capture =
        new OutputCapture(which, listener, left, () -> stop(EndReason.OUTPUT_LIMIT));
    long mostMs = job.command().limits().wallMs() + job.command().limits().graceMs() + STOP_MS;
    return new PodStream(shell, name, capture, mostMs);
  }

  private void run() {
    Ended how = null;
    Throwable why = null;
    try {
      how = toItsEnd();
    } catch (Throwable e) {
      why = e;
    }
    eye.close();
    job.pass().ifPresent(EgressGate.Pass::close);
    try {
      job.cluster().delete(pod, PodForm.graceS(job.command().limits()));
    } catch (WritException e) {
      // The cluster ends it at its deadline, and the next sweep removes it.
    }
    atEnd.accept(Optional.ofNullable(how));
    if (why == null) {
      ended.complete(how);
    } else {
      ended.completeExceptionally(why);
    }
  }

  private Ended toItsEnd() throws InterruptedException, IOException {
    long give = System.nanoTime() + job.startMs() * 1_000_000;
    WorkspaceTransfer transfer = new WorkspaceTransfer(shell, job.workspace(), job.scratch());
    if (!isThere(give, state -> state.runs(PodForm.BRING))) {
      return concluded(ExitStatus.NONE, EnumSet.noneOf(EndReason.class), 0);
    }
    admit();
    transfer.send(job.files(), this::isBrought);
    job.workspace().running(true);
    try {
      if (!isThere(give, state -> state.commandStarted() && state.keeps())) {
        return concluded(ExitStatus.NONE, EnumSet.noneOf(EndReason.class), 0);
      }
      long from = System.nanoTime();
      streams.forEach(PodStream::start);
      PodState last;
      try {
        last = untilItEnds(from);
      } finally {
        stopReading();
      }
      long wallMs = (System.nanoTime() - from) / 1_000_000;
      node = last.node();
      Optional<ContainerStateTerminated> end = last.ended(PodForm.COMMAND);
      if (!last.failure().isEmpty() || end.isEmpty()) {
        return cutShort(last, wallMs);
      }
      if (stopped.get() != EndReason.OUTPUT_LIMIT) {
        for (PodStream stream : streams) {
          stream.finish(job.command().limits().outputBytes() + 1);
        }
      }
      job.workspace().running(false);
      transfer.takeBack(job.workspaceBytes());
      return concluded(end.get(), wallMs);
    } finally {
      job.workspace().running(false);
    }
  }

  /** Lets the pod through to the egress proxy, from its own address. */
  private void admit() throws InterruptedException {
    if (job.pass().isPresent()) {
      InetAddress address =
          now(0, SandboxError.CLUSTER)
              .address()
              .orElseThrow(() ->
                  new WritException(SandboxError.CLUSTER, "the cluster tells no address of a pod"));
      job.pass().get().from(address);
    }
  }

  /** The process that takes what is sent may be ended with its container, before it answers. */
  private boolean isBrought() {
    Optional<Pod> there;
    try {
      there = job.cluster().get(pod.getMetadata().getName());
    } catch (WritException e) {
      return false; // it is tried again
    }
    Optional<PodState> state = there.map(PodState::new);
    state.ifPresent(PodState::requireStartable);
    return state.filter(PodState::brought).isPresent();
  }

  /**
   * Waits for what the command needs to start.
   *
   * @return false if it was cancelled
   */
  private boolean isThere(long give, Predicate<PodState> there) throws InterruptedException {
    while (stopped.get() == null) {
      PodState state = now(LOOK_MS, SandboxError.CLUSTER);
      state.requireStartable();
      if (there.test(state)) {
        return true;
      }
      if (System.nanoTime() > give) {
        throw new WritException(
            SandboxError.CLUSTER,
            "it did not start within " + job.startMs() / 1_000 + " s: " + state.waitsFor());
      }
    }
    return false;
  }

  /**
   * @throws WritException {@code gone} if the pod is not there any more
   */
  private PodState now(long ms, SandboxError gone) throws InterruptedException {
    return eye.next(ms)
        .map(PodState::new)
        .orElseThrow(() ->
            new WritException(
                gone, "the pod " + pod.getMetadata().getName() + " is gone: deleted, or its node"));
  }

  /** Watches it until its command ended, its pod did, or it does not end though it should. */
  private PodState untilItEnds(long from) throws InterruptedException {
    long wallMs = job.command().limits().wallMs();
    long askedAt = Long.MAX_VALUE;
    long killedAt = Long.MAX_VALUE;
    while (true) {
      long elapsed = (System.nanoTime() - from) / 1_000_000;
      if (elapsed >= wallMs) {
        stopped.compareAndSet(null, EndReason.TIMED_OUT);
      }
      EndReason reason = stopped.get();
      if (reason != null && askedAt == Long.MAX_VALUE) {
        askedAt = elapsed;
        if (reason == EndReason.OUTPUT_LIMIT) {
          stopReading(); // first, so that a flood does not stand before what ends it
        } else {
          signal("-TERM");
        }
      }
      long graceMs = reason == EndReason.OUTPUT_LIMIT ? 0 : job.command().limits().graceMs();
      if (killedAt == Long.MAX_VALUE && askedAt < Long.MAX_VALUE && elapsed >= askedAt + graceMs) {
        killedAt = elapsed;
        signal("-USR1");
      }
      long next =
          killedAt < Long.MAX_VALUE
              ? killedAt + STOP_MS
              : askedAt < Long.MAX_VALUE ? askedAt + graceMs : wallMs;
      PodState state = now(Math.clamp(next - elapsed, 1, LOOK_MS), SandboxError.ENGINE_FAILED);
      boolean gaveUp = killedAt < Long.MAX_VALUE && elapsed >= killedAt + STOP_MS;
      if (state.ended(PodForm.COMMAND).isPresent() || !state.failure().isEmpty() || gaveUp) {
        return state;
      }
    }
  }

  private void stopReading() throws InterruptedException {
    for (PodStream stream : streams) {
      stream.stop();
    }
  }

  /** Tells the command's process 1; where it cannot be reached, the pod's deletion ends it. */
  private void signal(String name) throws InterruptedException {
    try {
      shell.once(
          PodForm.COMMAND,
          OutputStream.nullOutputStream(),
          STOP_MS,
          List.of(PodForm.BUSYBOX, "kill", name, "1"));
    } catch (Cluster.Cut e) {
      return;
    }
  }

  /** The end of a command whose pod was ended; what was in its workspace is lost. */
  private Ended cutShort(PodState last, long wallMs) {
    EnumSet<EndReason> reached = EnumSet.noneOf(EndReason.class);
    if (last.failure().equals("DeadlineExceeded")) {
      reached.add(EndReason.TIMED_OUT);
    } else if (last.evictedForDisk()) {
      reached.add(EndReason.DISK_LIMIT);
    } else if (stopped.get() == null) {
      throw new WritException(
          SandboxError.ENGINE_FAILED,
          "the cluster ended the pod: " + (last.failure().isEmpty() ? "?" : last.failure()));
    }
    return concluded(ExitStatus.NONE, reached, wallMs);
  }

  private Ended concluded(ContainerStateTerminated end, long wallMs) {
    ExitStatus exit = ExitStatus.of(end.getExitCode());
    EnumSet<EndReason> reached = EnumSet.noneOf(EndReason.class);
    if ("OOMKilled".equals(end.getReason())) {
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
    return concluded(exit, reached, wallMs);
  }

  private Ended concluded(ExitStatus exit, EnumSet<EndReason> reached, long wallMs) {
    Optional.ofNullable(stopped.get()).ifPresent(reached::add);
    job.pass().ifPresent(EgressGate.Pass::close);
    List<EgressEvent> egress = job.pass().map(EgressGate.Pass::events).orElse(List.of());
    if (egress.stream().anyMatch(EgressEvent::denied)) {
      reached.add(EndReason.EGRESS_DENIED);
    }
    EndReason reason =
        reached.stream()
            .filter(r -> r != EndReason.EGRESS_DENIED || !exit.isSuccess())
            .findFirst()
            .orElse(exit.signal().isPresent() ? EndReason.SIGNALLED : EndReason.EXITED);
    ExitStatus shown = stopped.get() == null ? exit : ExitStatus.NONE;
    return new Ended(
        reason,
        List.copyOf(reached),
        shown.code(),
        shown.signal(),
        streams.getFirst().captured(),
        streams.getLast().captured(),
        new Usage(0, 0, wallMs, 0),
        egress,
        job.engine()
            + ", pod "
            + pod.getMetadata().getName()
            + (node.isEmpty() ? "" : " on " + node));
  }

  @Override
  public Ended await() {
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
  public void cancel() {
    stop(EndReason.CANCELLED);
  }

  private void stop(EndReason reason) {
    stopped.compareAndSet(null, reason);
    eye.wake();
  }

  /** Waits until nothing of it is left. */
  void settle() {
    cancel();
    ended.exceptionally(e -> null).join();
  }
}
