package dev.writ.tools.mcp.protocol;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.error.ToolsError;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** What Writ asks a server: who it is, what tools it has, and to call one. */
public final class UpstreamSession {
  /** The most tools of one server. */
  public static final int TOOLS_MAX = 1_000;

  private static final int PAGES_MAX = 100;
  private static final int METHOD_NOT_FOUND = -32601;

  private final PeerExchange peer;
  private final String version;
  private final JsonValue.Obj server;
  private final boolean tools;

  private UpstreamSession(PeerExchange peer, String version, JsonValue.Obj server, boolean tools) {
    this.peer = peer;
    this.version = version;
    this.server = server;
    this.tools = tools;
  }

  /**
   * Begins a session with the handshake.
   *
   * @param writ the version of this release, for the server to see
   * @throws WritException {@code TOL-233} to {@code TOL-240}
   */
  public static UpstreamSession begin(PeerExchange peer, String writ, Patience patience)
      throws InterruptedException {
    JsonValue.Obj params =
        JsonValue.object()
            .put("protocolVersion", ProtocolVersion.NEWEST)
            .put("capabilities", JsonValue.object().build())
            .put("clientInfo", JsonValue.object().put("name", "writ").put("version", writ).build())
            .build();
    JsonValue.Obj result = result(peer.request("initialize", params, patience), "initialize");
    if (!(result.get("protocolVersion") instanceof JsonValue.Str said)
        || !(result.get("capabilities") instanceof JsonValue.Obj offers)) {
      throw PeerMessage.refuse("a handshake without protocolVersion and capabilities");
    }
    String version = ProtocolVersion.require(said.value());
    peer.tell("notifications/initialized", JsonValue.object().build());
    JsonValue.Obj server =
        result.get("serverInfo") instanceof JsonValue.Obj info ? info : JsonValue.object().build();
    return new UpstreamSession(peer, version, server, offers.get("tools") != null);
  }

  /** The version of the protocol that was agreed on. */
  public String version() {
    return version;
  }

  /** What the server says that it is; nothing depends on it. */
  public JsonValue.Obj server() {
    return server;
  }

  /**
   * All tools, as the server lists them.
   *
   * @throws WritException {@code TOL-231}, {@code TOL-235} to {@code TOL-240}
   */
  public List<JsonValue.Obj> tools(Patience patience) throws InterruptedException {
    List<JsonValue.Obj> all = new ArrayList<>();
    TreeSet<String> cursors = new TreeSet<>();
    JsonValue.Obj params = JsonValue.object().build();
    while (tools) {
      JsonValue.Obj page = result(peer.request("tools/list", params, patience), "tools/list");
      if (!(page.get("tools") instanceof JsonValue.Arr list)) {
        throw PeerMessage.refuse("a list of tools without tools");
      }
      for (JsonValue item : list.items()) {
        if (!(item instanceof JsonValue.Obj tool)) {
          throw PeerMessage.refuse("a tool that is no object");
        }
        all.add(tool);
      }
      if (all.size() > TOOLS_MAX) {
        throw new WritException(
            ToolsError.UPSTREAM_TOOL, all.size() + " tools, at most " + TOOLS_MAX);
      }
      if (!(page.get("nextCursor") instanceof JsonValue.Str cursor)) {
        break;
      }
      if (!cursors.add(cursor.value()) || cursors.size() > PAGES_MAX) {
        throw new WritException(ToolsError.UPSTREAM_FLOOD, "a list of tools that does not end");
      }
      params = JsonValue.object().put("cursor", cursor).build();
    }
    return all;
  }

  /** Calls a tool; the answer may be an error. */
  public PeerMessage.Answer call(String tool, JsonValue.Obj arguments, Patience patience)
      throws InterruptedException {
    return peer.request(
        "tools/call",
        JsonValue.object().put("name", tool).put("arguments", arguments).build(),
        patience);
  }

  private static JsonValue.Obj result(PeerMessage.Answer answer, String method) {
    if (answer.error().isPresent()) {
      long code = answer.error().get().code();
      throw new WritException(
          ToolsError.UPSTREAM_START,
          method
              + " is answered with the error "
              + code
              + (code == METHOD_NOT_FOUND ? ", it knows no such method" : ""));
    }
    return answer.result().orElseThrow();
  }
}
