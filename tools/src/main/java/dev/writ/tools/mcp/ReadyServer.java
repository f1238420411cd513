package dev.writ.tools.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.mcp.protocol.InputAnswers;
import dev.writ.tools.mcp.protocol.Patience;
import dev.writ.tools.mcp.protocol.PeerHooks;
import dev.writ.tools.mcp.protocol.PeerMessage;
import dev.writ.tools.mcp.protocol.ProtocolVersion;
import dev.writ.tools.mcp.protocol.ServerLink;
import dev.writ.tools.mcp.protocol.UpstreamSession;
import dev.writ.tools.mcp.remote.HeaderText;
import dev.writ.tools.mcp.remote.RemoteConnection;
import dev.writ.tools.process.ProcessHost;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicBoolean;
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
  private final AtomicBoolean changed;
  private volatile long asked = System.nanoTime();

  private ReadyServer(
      UpstreamPackage upstream,
      ServerLink server,
      UpstreamSession session,
      Patience start,
      AtomicBoolean changed) {
    this.upstream = upstream;
    this.server = server;
    this.session = session;
    this.start = start;
    this.changed = changed;
  }

  /** Notes that the list of tools has changed. */
  private record Watch(AtomicBoolean changed) implements PeerHooks {
    private static final List<String> LISTS =
        List.of(
            "notifications/tools/list_changed",
            "notifications/prompts/list_changed",
            "notifications/resources/list_changed");

    @Override
    public void told(String method, JsonValue.Obj params) {
      if (LISTS.contains(method)) {
        changed.set(true);
      }
    }
  }

  /**
   * Starts a server and shakes hands.
   *
   * @throws WritException {@code TOL-231} to {@code TOL-240}, or why there is no sandbox
   */
  static ReadyServer start(ProcessHost host, UpstreamPackage upstream, ServerPlace place)
      throws InterruptedException {
    boolean asks = !KNOWN_OLD.contains(upstream.manifest().packageDigest());
    try {
      return start(host, upstream, place, asks);
    } catch (WritException e) {
      if (e.code() != ToolsError.UPSTREAM_ENDED) {
        throw e;
      }
      if (!asks || upstream.spec().remote().isPresent()) {
        throw ended(e);
      }
    }
    try {
      // It may have ended of a question before the handshake.
      return start(host, upstream, place, false);
    } catch (WritException e) {
      throw e.code() == ToolsError.UPSTREAM_ENDED ? ended(e) : e;
    }
  }

  private static WritException ended(WritException e) {
    return new WritException(ToolsError.UPSTREAM_START, "it ended " + e.found(), e);
  }

  private static ReadyServer start(
      ProcessHost host, UpstreamPackage upstream, ServerPlace place, boolean asks)
      throws InterruptedException {
    AtomicBoolean changed = new AtomicBoolean();
    Patience start = new Patience(upstream.spec().startMs(), upstream.spec().startMs());
    ServerLink server = link(host, upstream, place, new Watch(changed));
    try {
      UpstreamSession session =
          asks
              ? UpstreamSession.begin(server, InputAnswers.NONE, VERSION, start)
              : UpstreamSession.shakeHands(server, InputAnswers.NONE, VERSION, start);
      boolean old = !session.version().equals(ProtocolVersion.STATELESS);
      if (old && upstream.spec().remote().isEmpty()) {
        KNOWN_OLD.add(upstream.manifest().packageDigest());
      }
      return new ReadyServer(upstream, server, session, start, changed);
    } catch (WritException e) {
      server.close();
      throw new WritException(e.code(), e.found() + said(server.lastWords()), e);
    } catch (RuntimeException | InterruptedException e) {
      server.close();
      throw e;
    }
  }

  private static ServerLink link(
      ProcessHost host, UpstreamPackage upstream, ServerPlace place, PeerHooks hooks) {
    if (upstream.spec().remote().isEmpty()) {
      return LocalServer.start(host, upstream, place, hooks);
    }
    return new RemoteConnection(
        host.requireSettings(),
        upstream.spec().remote().get(),
        place.secrets(),
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
    changed.set(false);
    asked = System.nanoTime();
    Passes passes = upstream.spec().passes();
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
                passes.has(Passes.PROMPTS) ? session.prompts(start) : List.of(),
                passes.has(Passes.RESOURCES) ? session.templates(start) : List.of()));
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
      changed.set(true); // so that the next call asks again
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
   * Whether it said that its list changed since it was last asked, or is elsewhere, where another
   * program may answer by now, and was asked long ago.
   */
  boolean mayHaveChanged() {
    return changed.get() || isRemote() && System.nanoTime() - asked > LIST_AGE_MS * 1_000_000;
  }

  PeerMessage.Answer ask(PassedMethod method, JsonValue.Obj params, Patience patience)
      throws InterruptedException {
    return session.ask(method.method(), params, patience);
  }

  PeerMessage.Answer call(String tool, JsonValue.Obj arguments, Patience patience)
      throws InterruptedException {
    return session.call(tool, arguments, patience);
  }

  ServerLink server() {
    return server;
  }

  UpstreamSession session() {
    return session;
  }

  /** Whether it can be called. */
  boolean isSound() {
    return server.failure().isEmpty();
  }

  @Override
  public void close() {
    server.close();
  }
}
