package dev.writ.tools.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.CallPeer;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.mcp.protocol.Patience;
import dev.writ.tools.mcp.protocol.PeerHooks;
import dev.writ.tools.mcp.protocol.PeerMessage;
import dev.writ.tools.mcp.protocol.ProtocolVersion;
import dev.writ.tools.mcp.protocol.ServerLink;
import dev.writ.tools.mcp.protocol.StillRunning;
import dev.writ.tools.mcp.protocol.UpstreamSession;
import dev.writ.tools.mcp.remote.HeaderText;
import dev.writ.tools.mcp.remote.RemoteConnection;
import dev.writ.tools.process.Masking;
import dev.writ.tools.process.ProcessHost;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/** A server after its handshake, whose tools are those of its package. */
final class ReadyServer implements AutoCloseable {
  private static final String VERSION = "0.1.0";

  /** How long the list of a server elsewhere is believed without asking again. */
  private static final long LIST_AGE_MS = 60_000;

  /** Packages whose program was seen to begin with a handshake: it is not asked again. */
  private static final Set<Digest> KNOWN_OLD = new ConcurrentSkipListSet<>();

  private final UpstreamPackage upstream;
  private final ServerLink server;
  private final UpstreamSession session;
  private final Patience start;
  private final ServerHooks hooks;
  private final LongSupplier clock;
  private final Semaphore turn = new Semaphore(1, true);
  private Optional<String> level = Optional.empty();
  private int atWork;
  private boolean retired;
  private volatile long lookedAt;
  private final AtomicBoolean isOwedALook = new AtomicBoolean();

  private ReadyServer(
      UpstreamPackage upstream,
      ServerLink server,
      UpstreamSession session,
      Patience start,
      ServerHooks hooks,
      LongSupplier clock) {
    this.upstream = upstream;
    this.server = server;
    this.session = session;
    this.start = start;
    this.hooks = hooks;
    this.clock = clock;
    this.lookedAt = clock.getAsLong();
  }

  /**
   * Starts a server and shakes hands.
   *
   * @param clock in nanoseconds, by which its lists grow old
   * @throws WritException {@code TOL-231} to {@code TOL-240}, or why there is no sandbox
   */
  static ReadyServer start(
      ProcessHost host, UpstreamPackage upstream, ServerPlace place, LongSupplier clock)
      throws InterruptedException {
    boolean remembers = upstream.spec().local().flatMap(LocalSpec::protocol).isPresent();
    boolean asks = !remembers && !KNOWN_OLD.contains(upstream.manifest().packageDigest());
    try {
      return start(host, upstream, place, clock, asks);
    } catch (WritException e) {
      boolean ended = e.code() == ToolsError.UPSTREAM_ENDED;
      boolean forgot = remembers && e.code() == ToolsError.UPSTREAM_START;
      if (!ended && !forgot) {
        throw e;
      }
      if (!asks && !remembers || upstream.spec().remote().isPresent()) {
        throw ended(e);
      }
    }
    try {
      // It may have ended of a question before the handshake, or know no handshake any more.
      return start(host, upstream, place, clock, !asks);
    } catch (WritException e) {
      throw e.code() == ToolsError.UPSTREAM_ENDED ? ended(e) : e;
    }
  }

  private static WritException ended(WritException e) {
    return new WritException(ToolsError.UPSTREAM_START, "it ended " + e.found(), e);
  }

  private static ReadyServer start(
      ProcessHost host,
      UpstreamPackage upstream,
      ServerPlace place,
      LongSupplier clock,
      boolean asks)
      throws InterruptedException {
    Passes passes = upstream.spec().passes();
    JsonValue.Obj can = passes.capabilities();
    ServerHooks hooks =
        new ServerHooks(upstream.manifest().name(), passes, new Masking(place.secrets()));
    Patience start = new Patience(upstream.spec().startMs(), upstream.spec().startMs());
    ServerLink server = link(host, upstream, place, hooks);
    try {
      UpstreamSession session =
          asks
              ? UpstreamSession.begin(server, can, hooks, VERSION, start)
              : UpstreamSession.shakeHands(server, can, hooks, VERSION, start);
      boolean old = !session.version().equals(ProtocolVersion.STATELESS);
      if (old && upstream.spec().remote().isEmpty()) {
        KNOWN_OLD.add(upstream.manifest().packageDigest());
      }
      return new ReadyServer(upstream, server, session, start, hooks, clock);
    } catch (WritException e) {
      server.close();
      throw new WritException(e.code(), e.found() + said(server.lastWords()), e);
    } catch (RuntimeException | InterruptedException e) {
      server.close();
      throw e;
    }
  }

  private static ServerLink link(
      ProcessHost host, UpstreamPackage upstream, ServerPlace place, PeerHooks hooks)
      throws InterruptedException {
    if (upstream.spec().remote().isEmpty()) {
      return LocalServer.start(host, upstream, place, hooks);
    }
    return new RemoteConnection(
        host.requireSettings(),
        upstream.spec().remote().get(),
        place.secrets(),
        host.secrets(),
        tool -> upstream.tools().tool(tool).map(ListedTool::inputSchema),
        hooks);
  }

  /** The last line that it wrote to stderr, for the person who looks why. */
  private static String said(String stderr) {
    List<String> lines = stderr.strip().lines().toList();
    if (lines.isEmpty()) {
      return "";
    }
    String last =
        lines.reversed().stream()
            .filter(line -> line.matches("(?i)[^{}]*error.*"))
            .findFirst()
            .orElse(lines.getLast());
    return ", and said last: "
        + ToolChange.visible(last.substring(0, Math.min(200, last.length())));
  }

  /**
   * What it lists now. A tool whose marks for headers are wrong is left out where they would be
   * sent, as the protocol demands.
   */
  PinnedTools tools() throws InterruptedException {
    hooks.changed().set(false);
    lookedAt = clock.getAsLong();
    Passes all = upstream.spec().passes();
    boolean marks = isRemote() && session.version().equals(ProtocolVersion.STATELESS);
    List<JsonValue.Obj> listed =
        session.tools(start).stream()
            .filter(tool ->
                !marks
                    || !(tool.get("inputSchema") instanceof JsonValue.Obj schema)
                    || HeaderText.refusal(schema).isEmpty())
            .toList();
    return PinnedTools.of(listed)
        .with(
            PinnedOffers.of(
                all.has(Passes.PROMPTS) ? session.prompts(start) : List.of(),
                all.has(Passes.RESOURCES) ? session.templates(start) : List.of()));
  }

  boolean isRemote() {
    return upstream.spec().remote().isPresent();
  }

  /**
   * Requires that it lists what its package pins.
   *
   * @throws WritException {@code TOL-232} with the names of what differs
   */
  void requirePinned() throws InterruptedException {
    List<ToolChange> changes = upstream.tools().changes(tools());
    if (!changes.isEmpty()) {
      hooks.changed().set(true); // so that the next call asks again
      throw new WritException(
          ToolsError.UPSTREAM_CHANGED,
          upstream.manifest().name()
              + ": "
              + changes.stream()
                  .limit(10)
                  .map(change -> change.kind() + " " + change.name())
                  .collect(Collectors.joining(", ")));
    }
  }

  /**
   * Has its lists compared where they may differ. Where calls have their turns and one is at work,
   * which may wait for a person, the next call compares them in its own turn.
   *
   * @param everyMs how long it may go unasked
   * @throws WritException {@code TOL-232}
   */
  void look(long everyMs) throws InterruptedException {
    if (!isToBeLookedAt(everyMs)) {
      return;
    }
    if (!takesTurns()) {
      requirePinned();
    } else if (turn.tryAcquire()) {
      try {
        requirePinned();
      } finally {
        turn.release();
      }
    } else {
      isOwedALook.set(true);
    }
  }

  private boolean takesTurns() {
    return upstream.spec().passes().talks();
  }

  /**
   * Whether its lists are to be looked at: it said that one changed, or it was not asked for a
   * while; a server elsewhere sooner, since another program may answer there by now.
   *
   * @param everyMs how long it may go unasked
   */
  private boolean isToBeLookedAt(long everyMs) {
    long most = isRemote() ? Math.min(everyMs, LIST_AGE_MS) : everyMs;
    return hooks.changed().get() || clock.getAsLong() - lookedAt >= most * 1_000_000;
  }

  /** Work with the server that belongs to one call. */
  interface Work {
    PeerMessage.Answer with(CallLine line, Optional<String> progressToken)
        throws InterruptedException;
  }

  /**
   * Makes a call, and brings the client of it what the server says meanwhile. Where nothing would
   * tie that to a call, calls have their turns.
   *
   * @throws WritException {@code TOL-246} where none came in time, {@code TOL-232}; nothing was
   *     sent then
   */
  PeerMessage.Answer during(CallLine line, Patience patience, Work work)
      throws InterruptedException {
    boolean takesTurns = takesTurns();
    if (takesTurns && !turn.tryAcquire(patience.wallMs(), TimeUnit.MILLISECONDS)) {
      throw new WritException(ToolsError.UPSTREAM_TURN, patience.wallMs() + " ms");
    }
    try {
      synchronized (this) {
        if (takesTurns && !isSound()) {
          throw new WritException(ToolsError.UPSTREAM_TURN, "the server was ended before it");
        }
        atWork++;
      }
      String token = hooks.begins(line);
      try {
        requireLook();
        tellLevel(line, patience);
        return work.with(line, line.peer().wantsProgress() ? Optional.of(token) : Optional.empty());
      } catch (StillRunning e) {
        retire();
        throw e;
      } finally {
        hooks.ends(token);
        ended();
      }
    } finally {
      if (takesTurns) {
        turn.release();
      }
    }
  }

  /** What could not be compared while another call was at work. */
  private void requireLook() throws InterruptedException {
    if (isOwedALook.getAndSet(false)) {
      requirePinned();
    }
  }

  /** The level that the client of this call wants; a server that refuses it keeps its own. */
  private void tellLevel(CallLine line, Patience patience) throws InterruptedException {
    Optional<String> wanted = line.peer().logLevel();
    if (upstream.spec().passes().has(Passes.LOGGING)
        && session.offers("logging")
        && wanted.isPresent()
        && !wanted.equals(level)) {
      session.ask(
          "logging/setLevel",
          JsonValue.object().put("level", wanted.get()).build(),
          Optional.empty(),
          patience);
      level = wanted;
    }
  }

  CallLine line(CallPeer peer) {
    return hooks.line(peer);
  }

  /** It did not end what was cancelled: it gets no more calls, and ends when it has none. */
  private synchronized void retire() {
    retired = true;
  }

  private void ended() {
    boolean isLast;
    synchronized (this) {
      atWork--;
      isLast = retired && atWork == 0;
    }
    if (isLast) {
      close();
    }
  }

  /** Ends it once it has no calls; it gets no more. */
  void leave() {
    boolean isIdle;
    synchronized (this) {
      retired = true;
      isIdle = atWork == 0 || server.failure().isPresent();
    }
    if (isIdle) {
      close();
    }
  }

  PeerMessage.Answer ask(
      PassedMethod method, JsonValue.Obj params, Optional<String> token, Patience patience)
      throws InterruptedException {
    return session.ask(method.method(), params, token, patience);
  }

  PeerMessage.Answer call(
      String tool, JsonValue.Obj arguments, Optional<String> token, Patience patience)
      throws InterruptedException {
    return session.call(tool, arguments, token, patience);
  }

  ServerLink server() {
    return server;
  }

  UpstreamSession session() {
    return session;
  }

  /** Whether it can be called. */
  synchronized boolean isSound() {
    return !retired && !hooks.isBusyInVain() && server.failure().isEmpty();
  }

  @Override
  public void close() {
    server.close();
  }
}
