package dev.writ.sandbox.engine;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.cgroup.Cgroup;
import dev.writ.sandbox.cgroup.Counters;
import dev.writ.sandbox.docker.ApiClient;
import dev.writ.sandbox.docker.ApiClient.ExecState;
import dev.writ.sandbox.docker.Attached;
import dev.writ.sandbox.error.SandboxError;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;

/** A command in a container, with the processes that it leaves there. */
final class RunningContainer implements RunningCommand {
  private static final long SETTLE_MS = 10_000;
  private static final int MOST_WORDS = 1_000;

  private final ApiClient client;
  private final String container;
  private final long keeper;
  private final Cgroup cgroup;
  private final String exec;
  private final Attached streams;
  private final Optional<Process> forwarder;
  private final boolean feeds;
  private final Words errors;
  private ProcessHandle first;
  private OptionalInt code = OptionalInt.empty();
  private Counters last = Counters.NONE;
  private boolean oomKilled;

  /** Keeps the beginning of a stream that is read elsewhere. */
  private static final class Words extends FilterInputStream {
    private final StringBuilder text = new StringBuilder();

    Words(InputStream in) {
      super(in);
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      int n = super.read(into, offset, length);
      synchronized (text) {
        if (n > 0 && text.length() < MOST_WORDS) {
          text.append(new String(into, offset, n, StandardCharsets.ISO_8859_1));
        }
      }
      return n;
    }

    boolean contains(String words) {
      synchronized (text) {
        return text.indexOf(words) >= 0;
      }
    }
  }

  /**
   * @param keeper host process number of the container's first process, which only waits
   * @param exec id of the command's process
   * @param feeds whether it has a stdin
   */
  RunningContainer(
      ApiClient client,
      String container,
      long keeper,
      Cgroup cgroup,
      String exec,
      Attached streams,
      Optional<Process> forwarder,
      boolean feeds) {
    this.client = client;
    this.container = container;
    this.keeper = keeper;
    this.cgroup = cgroup;
    this.exec = exec;
    this.streams = streams;
    this.forwarder = forwarder;
    this.feeds = feeds;
    this.errors = new Words(streams.stderr());
  }

  @Override
  public OutputStream stdin() {
    return feeds ? streams.stdin() : OutputStream.nullOutputStream();
  }

  @Override
  public InputStream stdout() {
    return streams.stdout();
  }

  @Override
  public InputStream stderr() {
    return errors;
  }

  @Override
  public synchronized boolean awaitEnd(long ms) throws InterruptedException {
    long give = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
    while (true) {
      if (ended()) {
        return true;
      }
      long left = TimeUnit.NANOSECONDS.toMillis(give - System.nanoTime());
      if (left <= 0) {
        return false;
      }
      TimeUnit.MILLISECONDS.sleep(Math.min(left, 10));
    }
  }

  /** Checks its process on this host if the number is known, which saves a request. */
  private boolean ended() {
    if (code.isPresent() || !ProcessHandle.of(keeper).map(ProcessHandle::isAlive).orElse(false)) {
      return true;
    }
    if (first != null) {
      return !first.isAlive();
    }
    ExecState state = client.execState(exec);
    if (state.pid() > 0) {
      first = ProcessHandle.of(state.pid()).orElse(null);
    }
    boolean over = !state.running() && state.code().isPresent();
    if (over && (state.pid() > 0 || streams.ended())) {
      code = state.code();
    }
    return code.isPresent();
  }

  @Override
  public synchronized Counters counters() {
    Counters now = cgroup.counters();
    // If the whole container ended at once its cgroup is gone, and the last counters are kept.
    if (now.memoryPeakBytes() >= last.memoryPeakBytes()) {
      last = now;
    }
    return oomKilled && last.oomKills() == 0 ? last.withOomKill() : last;
  }

  @Override
  public Collection<Long> pids() {
    return List.of(keeper);
  }

  @Override
  public void terminate() {
    Tree.terminate(cgroup.pids().stream().filter(pid -> pid != keeper).toList());
  }

  @Override
  public synchronized void kill() {
    if (ProcessHandle.of(keeper).map(ProcessHandle::isAlive).orElse(false)) {
      cgroup.killAllBut(keeper);
    } else {
      oomKilled = client.state(container).oomKilled();
    }
    // The service closes the streams once it has noticed; if it does not, they are closed here.
    Thread.ofVirtual()
        .name("writ-sandbox-streams")
        .start(() -> {
          try {
            for (int i = 0; i < SETTLE_MS / 20 && !streams.ended(); i++) {
              TimeUnit.MILLISECONDS.sleep(20);
            }
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          streams.close();
        });
  }

  @Override
  public synchronized ExitStatus exit() throws InterruptedException {
    long give = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SETTLE_MS);
    while (code.isEmpty()) {
      ExecState state = client.execState(exec);
      if (!state.running() && state.code().isPresent()) {
        code = state.code();
      } else if (System.nanoTime() > give) {
        throw new WritException(
            SandboxError.ENGINE_ANSWER, "the service does not say how a process ended");
      } else {
        TimeUnit.MILLISECONDS.sleep(5);
      }
    }
    streams
        .broken()
        .ifPresent(e -> {
          throw e;
        });
    return ExitStatus.of(code.getAsInt());
  }

  /**
   * Whether the command ran. A missing program gets no process number, and ends with a shell's exit
   * code and a message of the runtime on stderr.
   */
  @Override
  public synchronized boolean ran() {
    boolean asShellsSay = Arrays.asList(126, 127).contains(code.orElse(0));
    return first != null || !asShellsSay || !errors.contains("OCI runtime");
  }

  @Override
  public void close() {
    forwarder.ifPresent(Process::destroyForcibly);
    streams.close();
    client.remove(container);
    if (client.service().podman()) {
      endMonitors();
    }
  }

  /**
   * Kills podman's monitor of a process: it would wait for five minutes for a query of the exit
   * code, and then clean up a container that is gone.
   */
  private void endMonitors() {
    ProcessHandle.allProcesses()
        .filter(p -> p.info().command().orElse("").endsWith("/conmon"))
        .filter(p -> p.info().commandLine().orElse("").contains(container))
        .forEach(ProcessHandle::destroyForcibly);
  }
}
