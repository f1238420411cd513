package dev.writ.tools.mcp.protocol;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.error.ToolsError;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/** What Writ asks a server: who it is, what tools it has, and to call one. */
public final class UpstreamSession {
  /** The most tools of one server. */
  public static final int TOOLS_MAX = 1_000;

  private static final int PAGES_MAX = 100;
  private static final int METHOD_NOT_FOUND = -32601;

  /** How often one call may be answered with a question. */
  private static final int ROUNDS_MAX = 16;

  private final PeerExchange peer;
  private final InputAnswers inputs;
  private final Agreed agreed;

  private UpstreamSession(PeerExchange peer, InputAnswers inputs, Agreed agreed) {
    this.peer = peer;
    this.inputs = inputs;
    this.agreed = agreed;
  }

  /**
   * Begins: a server that speaks the version without sessions is spoken to in it, every other one
   * with the handshake.
   *
   * @param capabilities what its client can do for it
   * @param writ the version of this release, for the server to see
   * @throws WritException {@code TOL-233} to {@code TOL-240}, and for a server elsewhere {@code
   *     TOL-271} to {@code TOL-279}
   */
  public static UpstreamSession begin(
      PeerExchange peer,
      JsonValue.Obj capabilities,
      InputAnswers inputs,
      String writ,
      Patience patience)
      throws InterruptedException {
    return new UpstreamSession(peer, inputs, Negotiation.of(peer, capabilities, writ, patience));
  }

  /** Begins with the handshake, for a server that ends when it is asked anything before. */
  public static UpstreamSession shakeHands(
      PeerExchange peer,
      JsonValue.Obj capabilities,
      InputAnswers inputs,
      String writ,
      Patience patience)
      throws InterruptedException {
    return new UpstreamSession(
        peer, inputs, Negotiation.handshake(peer, capabilities, writ, patience));
  }

  /** The version of the protocol that was agreed on. */
  public String version() {
    return agreed.version();
  }

  /** What the server says that it is; nothing depends on it. */
  public JsonValue.Obj server() {
    return agreed.server();
  }

  /**
   * All tools, as the server lists them.
   *
   * @throws WritException {@code TOL-231}, {@code TOL-235} to {@code TOL-240}
   */
  public List<JsonValue.Obj> tools(Patience patience) throws InterruptedException {
    return !agreed.offers("tools") ? List.of() : list("tools/list", "tools", patience);
  }

  /** All prompts; none of a server that has none. */
  public List<JsonValue.Obj> prompts(Patience patience) throws InterruptedException {
    return !agreed.offers("prompts") ? List.of() : list("prompts/list", "prompts", patience);
  }

  /** All templates of resources; none of a server that has no resources. */
  public List<JsonValue.Obj> templates(Patience patience) throws InterruptedException {
    return !agreed.offers("resources")
        ? List.of()
        : list("resources/templates/list", "resourceTemplates", patience);
  }

  /** What the server says that it has, by capability. */
  public boolean offers(String capability) {
    return agreed.offers(capability);
  }

  private List<JsonValue.Obj> list(String method, String key, Patience patience)
      throws InterruptedException {
    List<JsonValue.Obj> all = new ArrayList<>();
    TreeSet<String> cursors = new TreeSet<>();
    JsonValue.Obj params = JsonValue.object().build();
    while (true) {
      JsonValue.Obj page =
          complete(result(peer.request(method, agreed.with(params), patience), method));
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

  /**
   * Asks anything; the answer may be an error. What the server asks for meanwhile is answered by
   * {@link InputAnswers}, in rounds.
   *
   * @throws WritException also {@code TOL-270} where it is not
   */
  public PeerMessage.Answer ask(
      String method, JsonValue.Obj params, Optional<String> progressToken, Patience patience)
      throws InterruptedException {
    JsonValue.Obj marked = marked(params, progressToken);
    long end = System.nanoTime() + patience.wallMs() * 1_000_000;
    JsonValue.Obj round = marked;
    for (int rounds = 0; rounds < ROUNDS_MAX; rounds++) {
      long left = Math.max(1, (end - System.nanoTime()) / 1_000_000);
      PeerMessage.Answer answer =
          peer.request(
              method, agreed.with(round), new Patience(left, patience.cpuMs(), patience.ends()));
      if (answer.result().isEmpty() || !asksForInput(answer.result().get())) {
        answer.result().ifPresent(this::complete);
        return answer;
      }
      long from = System.nanoTime();
      round = answered(marked, answer.result().get());
      end += System.nanoTime() - from; // the server cannot use that time
    }
    throw new WritException(
        ToolsError.UPSTREAM_INPUT, "it asked " + ROUNDS_MAX + " times for more");
  }

  private static JsonValue.Obj marked(JsonValue.Obj params, Optional<String> progressToken) {
    TreeMap<String, JsonValue> all = new TreeMap<>(params.members());
    progressToken.ifPresent(
        token -> all.put("_meta", JsonValue.object().put("progressToken", token).build()));
    return new JsonValue.Obj(all);
  }

  /**
   * Calls a tool; the answer may be an error.
   *
   * @param progressToken under which the server is to tell its progress
   * @throws WritException also {@code TOL-270}
   */
  public PeerMessage.Answer call(
      String tool, JsonValue.Obj arguments, Optional<String> progressToken, Patience patience)
      throws InterruptedException {
    return ask(
        "tools/call",
        JsonValue.object().put("name", tool).put("arguments", arguments).build(),
        progressToken,
        patience);
  }

  private boolean asksForInput(JsonValue.Obj result) {
    return agreed.isStateless() && JsonValue.of("input_required").equals(result.get("resultType"));
  }

  /** The same request with what the server asked for. */
  private JsonValue.Obj answered(JsonValue.Obj params, JsonValue.Obj result)
      throws InterruptedException {
    TreeMap<String, JsonValue> again = new TreeMap<>(params.members());
    if (result.get("inputRequests") instanceof JsonValue.Obj asked) {
      var responses = JsonValue.object();
      for (var entry : asked.members().entrySet()) {
        if (!(entry.getValue() instanceof JsonValue.Obj request)
            || !(request.get("method") instanceof JsonValue.Str method)) {
          throw PeerMessage.refuse("an input request without a method");
        }
        JsonValue.Obj of =
            request.get("params") instanceof JsonValue.Obj p ? p : JsonValue.object().build();
        responses.put(
            entry.getKey(),
            inputs
                .answer(method.value(), of)
                .orElseThrow(() ->
                    new WritException(
                        ToolsError.UPSTREAM_INPUT,
                        "it asks for something of " + asked.members().size() + " kinds")));
      }
      again.put("inputResponses", responses.build());
    } else if (result.get("requestState") == null) {
      throw PeerMessage.refuse("an input_required result that asks for nothing");
    }
    if (result.get("requestState") instanceof JsonValue.Str state) {
      again.put("requestState", state);
    }
    return new JsonValue.Obj(again);
  }

  /** Requires that a result is whole; before the version without sessions all were. */
  private JsonValue.Obj complete(JsonValue.Obj result) {
    JsonValue type = result.get("resultType");
    if (agreed.isStateless() && type != null && !JsonValue.of("complete").equals(type)) {
      throw PeerMessage.refuse("a result of another type than complete");
    }
    return result;
  }

  static JsonValue.Obj result(PeerMessage.Answer answer, String method) {
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
