package dev.writ.sandbox.remote;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.EndReason;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.OutputListener;
import dev.writ.sandbox.docker.ApiClient.Container;
import dev.writ.sandbox.elsewhere.ElsewhereExecution;
import dev.writ.sandbox.elsewhere.ElsewhereScripts;
import dev.writ.sandbox.elsewhere.ElsewhereShell;
import dev.writ.sandbox.elsewhere.LostConnection;
import dev.writ.sandbox.elsewhere.WorkspaceTransfer;
import dev.writ.sandbox.engine.ExitStatus;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.workspace.Workspace;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/** One command in a container of another host, from the container's creation to its removal. */
final class RemoteExecution extends ElsewhereExecution {
  private static final String COMMAND = "command";
  private static final long LOOK_MS = 30_000;
  private static final long SOON_MS = 50;
  private static final long LATER_MS = 250;

  /** So many looks come soon after each other, since most commands are short. */
  private static final int SOON = 40;

  private final Job job;
  private final ElsewhereShell shell;
  private final Ids ids;
  private final String command;
  private boolean woken;
  private int looks;
  private long failsSince;
  private Optional<Container> latest = Optional.empty();

  /**
   * All that a command in a container needs.
   *
   * @param name of its container
   * @param attempt the value of the label by which these are known
   * @param helper id of the helper image
   * @param image id of its own
   * @param files what is sent, beside the workspace
   * @param workspaceBytes what the workspace may hold when it comes back
   * @param scratch a private directory of this command
   * @param engine name and version of the engine, and the image
   */
  record Job(
      RemoteService service,
      ContainerForms forms,
      String name,
      String attempt,
      String helper,
      String image,
      Command command,
      Map<String, byte[]> files,
      Workspace workspace,
      long workspaceBytes,
      Path scratch,
      String engine,
      RemoteDockerSettings settings) {}

  /** What is known of the containers before the rest of the object is there. */
  private static final class Ids {
    private volatile String command = "";
    private volatile String keep = "";
  }

  /**
   * Makes its volumes and its container, which does not run yet.
   *
   * @param atEnd gets the end before any waiting caller; empty if the engine failed
   * @throws WritException {@code SBX-004}, {@code SBX-009}, {@code SBX-036}
   */
  RemoteExecution(Job job, OutputListener listener, Consumer<Optional<Ended>> atEnd) {
    Ids ids = new Ids();
    try {
      job.forms().volumeForms().forEach(job.service()::createVolume);
      ids.command =
          job.service().create(job.name(), job.forms().command(job.image()), job.attempt());
    } catch (RuntimeException e) {
      removeVolumes(job);
      throw e;
    }
    ElsewhereShell there =
        new ElsewhereShell((container, in, out, ms, argv) ->
            container.equals(COMMAND)
                ? job.service().run(ids.command, ElsewhereScripts.BUSYBOX, in, out, ms, argv)
                : job.service().run(ids.keep, "/bin/busybox", in, out, ms, argv));
    super(job.command(), there, listener, atEnd);
    this.job = job;
    this.shell = there;
    this.ids = ids;
    this.command = ids.command;
    begin("writ-remote");
  }

  @Override
  protected Ended toItsEnd() throws InterruptedException, IOException {
    long give = System.nanoTime() + job.settings().startMs() * 1_000_000;
    ids.keep =
        job.service().create(job.name() + "-keep", job.forms().keep(job.helper()), job.attempt());
    job.service().start(ids.keep);
    awaitRunning(ids.keep, give);
    run(ContainerScripts.BEGIN);
    requireSize();
    WorkspaceTransfer transfer = new WorkspaceTransfer(shell, job.workspace(), job.scratch());
    transfer.send(job.files(), this::isBrought);
    if (isStopped()) {
      return concluded(ExitStatus.NONE, EnumSet.noneOf(EndReason.class), 0);
    }
    job.service().start(command);
    awaitRunning(command, give);
    look();
    job.workspace().running(true);
    try {
      return fromItsStart(transfer);
    } catch (WritException e) {
      // From here on it may have run: what cannot be known any more is said to be so.
      throw isLost(e) ? inDoubt(e.getMessage(), e) : e;
    } finally {
      job.workspace().running(false);
    }
  }

  private Ended fromItsStart(WorkspaceTransfer transfer) throws InterruptedException, IOException {
    long from = System.nanoTime();
    run(ContainerScripts.GO);
    Container last = watch(from, this::after, container -> !container.status().equals("running"));
    long wallMs = (System.nanoTime() - from) / 1_000_000;
    if (last.status().equals("running")) {
      throw inDoubt("it does not end", null);
    }
    readTheRest();
    List<String> told =
        asked(ElsewhereScripts.KEEP, "/bin/busybox", "sh", "-c", ContainerScripts.TOLD)
            .text()
            .lines()
            .toList();
    job.workspace().running(false);
    transfer.takeBack(job.workspaceBytes());
    return concluded(ExitStatus.of(last.code()), last.oomKilled(), told, wallMs);
  }

  private static boolean isLost(WritException e) {
    return e.code() == SandboxError.ENGINE_ANSWER || e.code() == SandboxError.SERVICE_TLS;
  }

  private void run(String script) throws InterruptedException, IOException {
    shell.run(ElsewhereScripts.KEEP, OutputStream::nullOutputStream, () -> script, () -> false);
  }

  private boolean isBrought() {
    try {
      return ask(ElsewhereScripts.KEEP, "/bin/busybox", "sh", "-c", ContainerScripts.IS_BROUGHT)
          .map(answer -> answer.code() == 0)
          .orElse(false);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private record Answer(int code, String text) {}

  /** Empty where the connection was lost. */
  private Optional<Answer> ask(String container, String... argv) throws InterruptedException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      int code = shell.once(container, out, LOOK_MS, List.of(argv));
      return Optional.of(new Answer(code, out.toString(StandardCharsets.UTF_8).strip()));
    } catch (LostConnection e) {
      return Optional.empty();
    }
  }

  private Answer asked(String container, String... argv) throws InterruptedException {
    for (int i = 0; i < ElsewhereShell.TRIES; i++) {
      Optional<Answer> answer = ask(container, argv);
      if (answer.isPresent()) {
        return answer.get();
      }
      ElsewhereShell.pause(i);
    }
    throw new WritException(
        SandboxError.ENGINE_ANSWER, "container " + job.name() + " cannot be looked at");
  }

  /** The workspace is a file system of its own, and no larger than was asked for. */
  private void requireSize() throws InterruptedException {
    String expected = "4096 " + job.forms().workspaceBlocks();
    Answer answer =
        asked(ElsewhereScripts.KEEP, "/bin/busybox", "sh", "-c", ContainerScripts.BLOCKS);
    if (!answer.text().equals(expected)) {
      throw new WritException(
          SandboxError.NOT_ENFORCED, "the workspace's size there is another than was asked for");
    }
  }

  /** Reads of the kernel how the command's container is confined, before anything of it runs. */
  private void look() throws InterruptedException {
    int code = asked(COMMAND, ElsewhereScripts.BUSYBOX, "sh", "/writ/in/look").code();
    switch (code) {
      case 0 -> {}
      case ElsewhereScripts.NOT_FOUND ->
          throw new WritException(SandboxError.EXECUTABLE_MISSING, "it is not in the image");
      case ElsewhereScripts.NOT_ENTERED ->
          throw new WritException(SandboxError.COMMAND, "its directory cannot be entered");
      case ElsewhereScripts.NOT_CONFINED ->
          throw new WritException(
              SandboxError.NOT_ENFORCED,
              "a container has another user, capabilities, filter, root, network, /tmp or limits"
                  + " than was asked for");
      default -> throw new WritException(SandboxError.ENGINE_FAILED, "a look ended with " + code);
    }
  }

  private void awaitRunning(String container, long give) throws InterruptedException {
    while (true) {
      String status = job.service().settled(container).map(Container::status).orElse("gone");
      if (status.equals("running")) {
        return;
      }
      if (!status.equals("created") || System.nanoTime() > give) {
        throw new WritException(
            SandboxError.ENGINE_ANSWER, "container " + job.name() + " did not start: " + status);
      }
      Thread.sleep(SOON_MS);
    }
  }

  /** The command's container, as soon as there is a reason to look, or after a time. */
  private Container after(long ms) throws InterruptedException {
    synchronized (this) {
      long give = System.nanoTime() + Math.min(ms, looks++ < SOON ? SOON_MS : LATER_MS) * 1_000_000;
      for (long left = give - System.nanoTime(); !woken && left > 0; ) {
        wait(Math.max(1, left / 1_000_000));
        left = give - System.nanoTime();
      }
      woken = false;
    }
    try {
      latest = job.service().now(command);
      failsSince = 0;
    } catch (WritException e) {
      long now = System.nanoTime();
      failsSince = failsSince == 0 ? now : failsSince;
      if (now - failsSince > job.settings().patienceMs() * 1_000_000) {
        throw inDoubt(e.getMessage(), e);
      }
      return latest.orElseGet(() -> new Container(command, "running", 0, false, new TreeMap<>()));
    }
    return latest.orElseThrow(() -> inDoubt("the container is gone", null));
  }

  private WritException inDoubt(String why, Throwable cause) {
    return new WritException(
        SandboxError.ENGINE_FAILED,
        "container " + job.name() + " was started, and nobody knows its end: " + why,
        cause);
  }

  @Override
  protected synchronized void wake() {
    woken = true;
    notifyAll();
  }

  @Override
  protected void signal(boolean kill) {
    quietly(() -> job.service().signal(command, kill ? "USR1" : "TERM"));
  }

  /**
   * @param told what was counted, as {@link ContainerScripts#TOLD} says it
   */
  private Ended concluded(ExitStatus exit, boolean oomKilled, List<String> told, long wallMs) {
    EnumSet<EndReason> reached =
        reached(exit, oomKilled || told.stream().anyMatch(l -> l.matches("memory [1-9][0-9]*")));
    if (!exit.isSuccess() && told.stream().anyMatch(l -> l.matches("processes [1-9][0-9]*"))) {
      reached.add(EndReason.PIDS_LIMIT);
    }
    if (!exit.isSuccess() && told.contains("free 0")) {
      reached.add(EndReason.DISK_LIMIT);
    }
    return concluded(exit, reached, wallMs);
  }

  private Ended concluded(ExitStatus exit, EnumSet<EndReason> reached, long wallMs) {
    return concluded(exit, reached, wallMs, List.of(), job.engine() + ", container " + job.name());
  }

  @Override
  protected void remove() {
    if (quietly(() -> job.service().remove(command))
        && (ids.keep.isEmpty() || quietly(() -> job.service().remove(ids.keep)))) {
      removeVolumes(job);
    }
  }

  private static void removeVolumes(Job job) {
    for (String name : job.forms().volumeNames()) {
      if (!quietly(() -> job.service().removeVolume(name))) {
        return;
      }
    }
  }

  /**
   * What fails here ends at its deadline, and is removed when the state directory is next opened.
   *
   * @return whether the service answered
   */
  private static boolean quietly(Runnable step) {
    try {
      step.run();
      return true;
    } catch (WritException e) {
      return !isLost(e);
    }
  }
}
