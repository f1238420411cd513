package dev.writ.tools.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.mcp.protocol.Patience;
import dev.writ.tools.mcp.protocol.PeerHooks;
import dev.writ.tools.mcp.protocol.PeerMessage;
import dev.writ.tools.mcp.protocol.UpstreamSession;
import dev.writ.tools.process.ProcessHost;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

/** A server after its handshake, whose tools are those of its package. */
final class ReadyServer implements AutoCloseable {
  private final UpstreamPackage upstream;
  private final LocalServer server;
  private final UpstreamSession session;
  private final Patience start;
  private final AtomicBoolean changed;

  private ReadyServer(
      UpstreamPackage upstream,
      LocalServer server,
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
    AtomicBoolean changed = new AtomicBoolean();
    Patience start = new Patience(upstream.spec().startMs(), upstream.spec().startMs());
    LocalServer server = LocalServer.start(host, upstream, place, new Watch(changed));
    try {
      UpstreamSession session = UpstreamSession.begin(server, "0.1.0", start);
      return new ReadyServer(upstream, server, session, start, changed);
    } catch (WritException e) {
      server.close();
      throw e.code() == ToolsError.UPSTREAM_ENDED
          ? new WritException(
              ToolsError.UPSTREAM_START, "it ended " + e.found() + said(server.stderr()), e)
          : e;
    } catch (RuntimeException | InterruptedException e) {
      server.close();
      throw e;
    }
  }

  /** What it wrote to stderr last: the last line of an error, or else the last line. */
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

  /** What it lists now. */
  PinnedTools tools() throws InterruptedException {
    changed.set(false);
    Passes passes = upstream.spec().passes();
    return PinnedTools.of(session.tools(start))
        .with(
            PinnedOffers.of(
                passes.has(Passes.PROMPTS) ? session.prompts(start) : List.of(),
                passes.has(Passes.RESOURCES) ? session.templates(start) : List.of()));
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

  /** Whether it said that its list changed since it was last asked. */
  boolean saysChanged() {
    return changed.get();
  }

  PeerMessage.Answer ask(PassedMethod method, JsonValue.Obj params, Patience patience)
      throws InterruptedException {
    return session.ask(method.method(), params, patience);
  }

  PeerMessage.Answer call(String tool, JsonValue.Obj arguments, Patience patience)
      throws InterruptedException {
    return session.call(tool, arguments, patience);
  }

  LocalServer server() {
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
