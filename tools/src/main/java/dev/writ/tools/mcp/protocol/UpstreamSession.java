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
  private final JsonValue.Obj offers;

  private UpstreamSession(
      PeerExchange peer, String version, JsonValue.Obj server, JsonValue.Obj offers) {
    this.peer = peer;
    this.version = version;
    this.server = server;
    this.offers = offers;
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
    return new UpstreamSession(peer, version, server, offers);
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
    return offers.get("tools") == null ? List.of() : list("tools/list", "tools", patience);
  }

  /** All prompts; none of a server that has none. */
  public List<JsonValue.Obj> prompts(Patience patience) throws InterruptedException {
    return offers.get("prompts") == null ? List.of() : list("prompts/list", "prompts", patience);
  }

  /** All templates of resources; none of a server that has no resources. */
  public List<JsonValue.Obj> templates(Patience patience) throws InterruptedException {
    return offers.get("resources") == null
        ? List.of()
        : list("resources/templates/list", "resourceTemplates", patience);
  }

  /** What the server says that it has, by capability. */
  public boolean offers(String capability) {
    return offers.get(capability) != null;
  }

  private List<JsonValue.Obj> list(String method, String key, Patience patience)
      throws InterruptedException {
    List<JsonValue.Obj> all = new ArrayList<>();
    TreeSet<String> cursors = new TreeSet<>();
    JsonValue.Obj params = JsonValue.object().build();
    while (true) {
      JsonValue.Obj page = result(peer.request(method, params, patience), method);
      if (!(page.get(key) instanceof JsonValue.Arr list)) {
        throw PeerMessage.refuse("a list of " + key + " without them");
      }
      for (JsonValue item : list.items()) {
        if (!(item instanceof JsonValue.Obj tool)) {
          throw PeerMessage.refuse("one of " + key + " that is no object");
        }
        all.add(tool);
      }
      if (all.size() > TOOLS_MAX) {
        throw new WritException(
            ToolsError.UPSTREAM_TOOL, all.size() + " " + key + ", at most " + TOOLS_MAX);
      }
      if (!(page.get("nextCursor") instanceof JsonValue.Str cursor)) {
        return all;
      }
      if (!cursors.add(cursor.value()) || cursors.size() > PAGES_MAX) {
        throw new WritException(
            ToolsError.UPSTREAM_FLOOD, "a list of " + key + " that does not end");
      }
      params = JsonValue.object().put("cursor", cursor).build();
    }
  }

  /** Asks anything else; the answer may be an error. */
  public PeerMessage.Answer ask(String method, JsonValue.Obj params, Patience patience)
      throws InterruptedException {
    return peer.request(method, params, patience);
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
