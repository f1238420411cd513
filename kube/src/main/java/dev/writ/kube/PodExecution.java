package dev.writ.kube;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.EndReason;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.OutputListener;
import dev.writ.sandbox.egress.EgressGate;
import dev.writ.sandbox.elsewhere.ElsewhereExecution;
import dev.writ.sandbox.elsewhere.ElsewhereShell;
import dev.writ.sandbox.elsewhere.LostConnection;
import dev.writ.sandbox.elsewhere.WorkspaceTransfer;
import dev.writ.sandbox.engine.ExitStatus;
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
import java.util.function.Consumer;
import java.util.function.Predicate;

/** One command in a pod, from the pod's creation to its deletion. */
final class PodExecution extends ElsewhereExecution {
  private static final long LOOK_MS = 1_000;

  private final Job job;
  private final Pod pod;
  private final PodEye eye;
  private final ElsewhereShell shell;
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
    Pod made = job.cluster().create(job.form());
    String name = made.getMetadata().getName();
    ElsewhereShell there =
        new ElsewhereShell((container, in, out, ms, argv) ->
            job.cluster().exec(new Cluster.Place(name, container), in, out, ms, argv));
    super(job.command(), there, listener, atEnd);
    this.job = job;
    this.pod = made;
    this.eye = new PodEye(job.cluster(), pod);
    this.shell = there;
    begin("writ-pod");
  }

  @Override
  protected void remove() {
    eye.close();
    job.pass().ifPresent(EgressGate.Pass::close);
    try {
      job.cluster().delete(pod, PodForm.graceS(job.command().limits()));
    } catch (WritException e) {
      // The cluster ends it at its deadline, and the next sweep removes it.
    }
  }

  @Override
  protected void wake() {
    eye.wake();
  }

  @Override
  protected Ended toItsEnd() throws InterruptedException, IOException {
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
      PodState last =
          watch(
              from,
              ms -> now(ms, SandboxError.ENGINE_FAILED),
              state -> state.ended(PodForm.COMMAND).isPresent() || !state.failure().isEmpty());
      long wallMs = (System.nanoTime() - from) / 1_000_000;
      node = last.node();
      Optional<ContainerStateTerminated> end = last.ended(PodForm.COMMAND);
      if (!last.failure().isEmpty() || end.isEmpty()) {
        return cutShort(last, wallMs);
      }
      readTheRest();
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
    while (!isStopped()) {
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

  /** By the command's process 1; where it cannot be reached, the pod's deletion ends it. */
  @Override
  protected void signal(boolean kill) throws InterruptedException {
    try {
      shell.once(
          PodForm.COMMAND,
          OutputStream.nullOutputStream(),
          STOP_MS,
          List.of(PodForm.BUSYBOX, "kill", kill ? "-USR1" : "-TERM", "1"));
    } catch (LostConnection e) {
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
    } else if (!isStopped()) {
      throw new WritException(
          SandboxError.ENGINE_FAILED,
          "the cluster ended the pod: " + (last.failure().isEmpty() ? "?" : last.failure()));
    }
    return concluded(ExitStatus.NONE, reached, wallMs);
  }

  private Ended concluded(ContainerStateTerminated end, long wallMs) {
    ExitStatus exit = ExitStatus.of(end.getExitCode());
    return concluded(exit, reached(exit, "OOMKilled".equals(end.getReason())), wallMs);
  }

  private Ended concluded(ExitStatus exit, EnumSet<EndReason> reached, long wallMs) {
    job.pass().ifPresent(EgressGate.Pass::close);
    return concluded(
        exit,
        reached,
        wallMs,
        job.pass().map(EgressGate.Pass::events).orElse(List.of()),
        job.engine()
            + ", pod "
            + pod.getMetadata().getName()
            + (node.isEmpty() ? "" : " on " + node));
  }
}
