package dev.writ.tools.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.policy.rule.NetworkPlace;
import dev.writ.sandbox.Bind;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Conversation;
import dev.writ.sandbox.EndReason;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.OutputListener;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.SecretFile;
import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.egress.EgressRule;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.mcp.protocol.LineSplitter;
import dev.writ.tools.mcp.protocol.Patience;
import dev.writ.tools.mcp.protocol.PeerHooks;
import dev.writ.tools.mcp.protocol.PeerMessage;
import dev.writ.tools.mcp.protocol.PeerPairing;
import dev.writ.tools.mcp.protocol.ProtocolVersion;
import dev.writ.tools.mcp.protocol.ServerLink;
import dev.writ.tools.mcp.protocol.StillRunning;
import dev.writ.tools.process.Masking;
import dev.writ.tools.process.ProcessHost;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/** A server as a confined process, which speaks over its standard input and output. */
final class LocalServer implements ServerLink {
  /** The longest message, beyond what any call may give. */
  static final int LINE_BYTES_MAX = 40 << 20;

  private static final long LIFE_MS = 86_400_000;
  private static final long LOOK_MS = 50;

  /** How long a server may take to end what was cancelled. */
  static final long CANCEL_MS = 2_000;

  private static final int UNSENT_MAX = 256;
  private static final int STDERR_KEPT = 8 << 10;
  private static final int PIDS = 256;

  /** In the workspace, where nothing is kept. */
  private static final String OWN_STATE = ".state";

  private static final byte[] STOP = {};
  private static final AtomicLong SERIAL = new AtomicLong();

  private final Sandbox sandbox;
  private final Optional<ServerState> state;
  private final Object destroying = new Object();
  private final Masking masking;
  private final PeerPairing peer;
  private final PeerHooks hooks;
  private final LineSplitter lines;
  private final LinkedBlockingQueue<byte[]> unsent = new LinkedBlockingQueue<>(UNSENT_MAX);
  private final Thread ending;
  private volatile Conversation process;
  private byte[] stderr = new byte[0];

  private LocalServer(
      Sandbox sandbox, Optional<ServerState> state, List<SecretFile> secrets, PeerHooks hooks) {
    this.sandbox = sandbox;
    this.state = state;
    this.masking = new Masking(secrets);
    this.peer = new PeerPairing(this::put, hooks);
    this.hooks = hooks;
    this.lines = new LineSplitter(LINE_BYTES_MAX, peer::received);
    this.ending = Thread.ofVirtual().name("writ-mcp-end").unstarted(this::awaitEnd);
  }

  /**
   * Starts a server.
   *
   * @throws WritException why the sandbox cannot be had, {@code SBX-028} for a program that is not
   *     there, {@code TOL-305}, {@code TOL-307}, {@code TOL-308}
   */
  static LocalServer start(
      ProcessHost host, UpstreamPackage upstream, ServerPlace place, PeerHooks hooks)
      throws InterruptedException {
    SandboxSpec spec =
        SandboxSpec.of("mcp-" + SERIAL.incrementAndGet(), Profile.named(place.profile()))
            .without(place.waived());
    Sandbox sandbox =
        host.engine(place.waived()).create(place.approved() ? spec.asApproved() : spec);
    Optional<ServerState> state = Optional.empty();
    try {
      Command command = command(host, upstream, place);
      OptionalLong bytes = upstream.spec().local().orElseThrow().kept().stateBytes();
      if (bytes.isPresent() && place.keeps()) {
        String name = upstream.manifest().name();
        state = Optional.of(ServerState.take(host, name, place.scope(), bytes.getAsLong()));
        command = with(command, state.get().bind(sandbox.workspace().owner()));
      } else if (bytes.isPresent()) {
        sandbox.workspace().makeDirectory(OWN_STATE);
        Path empty = sandbox.workspace().directory().resolve(OWN_STATE);
        command = with(command, new Bind(empty, ServerState.PLACE, true));
      }
      LocalServer server = new LocalServer(sandbox, state, place.secrets(), hooks);
      server.process = sandbox.converse(command, server::output);
      server.ending.start();
      state.ifPresent(kept ->
          kept.watch(full -> {
            server.peer.fail(full);
            server.endIfFailed();
          }));
      Thread.ofVirtual().name("writ-mcp-stdin").start(server::write);
      server.endIfFailed();
      return server;
    } catch (RuntimeException | InterruptedException e) {
      sandbox.destroy();
      state.ifPresent(ServerState::close);
      throw e;
    }
  }

  private static Command with(Command command, Bind bind) {
    List<Bind> binds = new ArrayList<>(command.binds());
    binds.add(bind);
    return command.withBinds(binds);
  }

  private static Command command(ProcessHost host, UpstreamPackage upstream, ServerPlace place) {
    LocalSpec spec = upstream.spec().local().orElseThrow();
    List<Bind> binds = new ArrayList<>();
    if (!upstream.own().isEmpty()) {
      binds.add(
          new Bind(
              host.sharedFiles(upstream.own(), PinnedCode.FILE, PinnedCode.LIMITS),
              ServerSpec.PLACE));
    }
    spec.reads().forEach(path -> binds.add(new Bind(Path.of(path), path)));
    spec.kept().requireThere();
    spec.kept().writes().forEach(path -> binds.add(new Bind(Path.of(path), path, true)));
    Command command =
        Command.of(spec.command())
            .withBinds(binds)
            .withEgress(spec.hosts().stream().map(LocalServer::rule).toList())
            .withLimits(
                CgroupLimits.STANDARD
                    .withWallMs(LIFE_MS)
                    .withCpuMs(LIFE_MS)
                    .withPids(PIDS)
                    .withMemoryBytes(place.memoryBytes()));
    for (var variable : spec.environment().entrySet()) {
      command = command.withEnvironment(variable.getKey(), variable.getValue());
    }
    for (var variable : spec.secrets().entrySet()) {
      SecretFile secret =
          place.secrets().stream()
              .filter(s -> s.name().equals(variable.getValue()))
              .findFirst()
              .orElseThrow(() -> new WritException(ToolsError.SECRET_UNKNOWN, variable.getValue()));
      command =
          command.withEnvironment(
              variable.getKey(), new String(secret.bytes(), StandardCharsets.UTF_8));
    }
    return command;
  }

  private static EgressRule rule(String host) {
    NetworkPlace place = NetworkPlace.parse(host).orElseThrow();
    return EgressRule.of(place.host(), place.port());
  }

  private void output(OutputListener.Stream stream, byte[] bytes) {
    if (stream == OutputListener.Stream.STDERR) {
      keep(bytes);
    } else if (peer.failure().isEmpty()) {
      try {
        lines.next(bytes);
      } catch (WritException e) {
        peer.fail(e);
      }
      endIfFailed();
    }
  }

  private void endIfFailed() {
    Conversation started = process;
    if (started != null && peer.failure().isPresent()) {
      started.cancel();
    }
  }

  private synchronized void keep(byte[] bytes) {
    byte[] all = Arrays.copyOf(stderr, stderr.length + bytes.length);
    System.arraycopy(bytes, 0, all, stderr.length, bytes.length);
    stderr = Arrays.copyOfRange(all, Math.max(0, all.length - STDERR_KEPT), all.length);
  }

  @Override
  public synchronized String lastWords() {
    return new String(masking.apply(stderr, true), StandardCharsets.UTF_8);
  }

  private void put(byte[] message) {
    byte[] line = Arrays.copyOf(message, message.length + 1);
    line[message.length] = '\n';
    if (!unsent.offer(line)) {
      peer.fail(new WritException(ToolsError.UPSTREAM_FLOOD, "it does not read what it is sent"));
      endIfFailed();
    }
  }

  private void write() {
    try {
      for (byte[] line = unsent.take(); line != STOP; line = unsent.take()) {
        if (!process.write(line)) {
          return; // it ends, or is ended when an answer is late
        }
      }
      process.endInput();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void awaitEnd() {
    String why;
    try {
      Ended ended = process.await();
      why =
          ended.reason() == EndReason.EXITED
              ? "with the exit status " + ended.exitCode().orElse(-1)
              : ended.reason().text();
    } catch (WritException e) {
      why = e.code().code() + " " + e.found();
    }
    peer.fail(new WritException(ToolsError.UPSTREAM_ENDED, why));
    unsent.clear();
    unsent.offer(STOP);
    destroy();
  }

  @Override
  public PeerMessage.Answer request(String method, JsonValue.Obj params, Patience patience)
      throws InterruptedException {
    long from = System.nanoTime();
    long cpuFrom = process.state().cpuMs();
    long waitedFrom = hooks.waitedMs();
    PeerPairing.Pending pending = peer.send(method, params);
    while (true) {
      long waited = hooks.waitedMs() - waitedFrom; // for the client's answers, not for the server
      long leftMs = patience.wallMs() + waited - (System.nanoTime() - from) / 1_000_000;
      try {
        return masked(pending.answer().get(Math.clamp(leftMs, 1, LOOK_MS), TimeUnit.MILLISECONDS));
      } catch (TimeoutException e) {
        if (leftMs <= LOOK_MS) {
          WritException why =
              new WritException(
                  ToolsError.UPSTREAM_TIMEOUT, method + ", " + patience.wallMs() + " ms", e);
          if (patience.ends()) {
            throw late(pending, why);
          }
          peer.giveUp(pending, "too late");
          throw why;
        }
        long cpuMs = process.state().cpuMs() - cpuFrom;
        if (cpuMs > patience.cpuMs()) {
          throw late(
              pending,
              new WritException(
                  ToolsError.UPSTREAM_CPU,
                  cpuMs + " ms of processor time, at most " + patience.cpuMs(),
                  e));
        }
      } catch (InterruptedException e) {
        hooks.cancelled(true);
        peer.cancel(pending, "cancelled");
        if (!endsSoon(pending)) {
          throw new StillRunning(CANCEL_MS);
        }
        hooks.cancelled(false);
        throw e;
      } catch (ExecutionException e) {
        WritException why = (WritException) e.getCause();
        throw new WritException(why.code(), why.found(), e);
      }
    }
  }

  /** Whether a cancelled request is answered, with whatever; only that says that it has ended. */
  private boolean endsSoon(PeerPairing.Pending pending) {
    long until = System.nanoTime() + CANCEL_MS * 1_000_000;
    while (true) {
      try {
        pending.answer().get(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS);
        return true;
      } catch (InterruptedException e) {
        // it is being cancelled already
      } catch (ExecutionException e) {
        return true; // the server has ended
      } catch (TimeoutException e) {
        return !peer.forget(pending);
      }
    }
  }

  /** A server that is late is asked to stop, and ended: what it does next is of no use. */
  private WritException late(PeerPairing.Pending pending, WritException why) {
    peer.giveUp(pending, "too late");
    peer.fail(why);
    endIfFailed();
    return why;
  }

  private PeerMessage.Answer masked(PeerMessage.Answer answer) {
    return new PeerMessage.Answer(
        answer.id(),
        answer.result().map(result -> (JsonValue.Obj) masking.apply((JsonValue) result)),
        answer
            .error()
            .map(f ->
                new PeerMessage.Fault(
                    f.code(), masking.apply(f.message()), f.data().map(d -> masking.apply(d)))));
  }

  @Override
  public void agreed(String version) {
    if (version.equals(ProtocolVersion.STATELESS)) {
      peer.stateless();
    }
  }

  /** What the server says comes in the same stream; its last answer, at its end, is of no use. */
  @Override
  public void listen(Optional<JsonValue.Obj> params) {
    params.ifPresent(p -> peer.send("subscriptions/listen", p));
  }

  @Override
  public void tell(String method, JsonValue.Obj params) {
    peer.tell(method, params);
  }

  @Override
  public Used used() {
    Conversation.State state = process.state();
    return new Used(state.cpuMs(), state.memoryPeakBytes());
  }

  @Override
  public Optional<WritException> failure() {
    return peer.failure();
  }

  @Override
  public Optional<String> sandbox() {
    return Optional.of(sandbox.id());
  }

  /** Ends it: nothing of it is left afterwards. */
  @Override
  public void close() {
    peer.fail(new WritException(ToolsError.UPSTREAM_ENDED, "it was closed"));
    destroy();
  }

  /** Lets go of its state when nothing of it can write there any more. */
  private void destroy() {
    synchronized (destroying) { // the second one waits for the first
      sandbox.destroy();
      state.ifPresent(ServerState::close);
    }
  }

  @Override
  public void requireRoom() {
    state.ifPresent(ServerState::requireRoom);
  }
}
