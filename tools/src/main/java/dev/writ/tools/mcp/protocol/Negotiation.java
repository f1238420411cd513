package dev.writ.tools.mcp.protocol;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.error.ToolsError;
import java.util.List;
import java.util.Optional;

/**
 * Finds the version that a server and Writ both speak, as MCP prescribes it: {@code
 * server/discover} first; whoever does not understand that is offered the handshake.
 */
final class Negotiation {
  /** How long a server may take to say that it does not know {@code server/discover}, at most. */
  private static final long PROBE_MS = 5_000;

  private static final String META = "io.modelcontextprotocol/";
  private static final long UNSUPPORTED_VERSION = -32022;

  /** Codes that only a server which speaks the version without sessions sends. */
  private static final List<Long> MODERN = List.of(-32020L, -32021L, UNSUPPORTED_VERSION);

  private Negotiation() {}

  private static JsonValue.Obj client(String writ) {
    return JsonValue.object().put("name", "writ").put("version", writ).build();
  }

  static Agreed of(PeerExchange peer, JsonValue.Obj capabilities, String writ, Patience patience)
      throws InterruptedException {
    JsonValue.Obj meta =
        JsonValue.object()
            .put(META + "protocolVersion", ProtocolVersion.STATELESS)
            .put(META + "clientInfo", client(writ))
            .put(META + "clientCapabilities", capabilities)
            .build();
    JsonValue.Obj params = JsonValue.object().put("_meta", meta).build();
    Optional<PeerMessage.Answer> answer;
    try {
      answer = probe(peer, params, patience.probing(Math.min(PROBE_MS, patience.wallMs() / 4)));
    } catch (Silent e) {
      try {
        return handshake(peer, capabilities, writ, patience);
      } catch (WritException refused) {
        if (refused.code() != ToolsError.UPSTREAM_START) {
          throw refused;
        }
        // It answers, and knows no handshake: it was slow to start.
        answer = Optional.of(peer.request("server/discover", params, patience));
      }
    }
    return answer.isEmpty()
        ? handshake(peer, capabilities, writ, patience)
        : answered(peer, capabilities, writ, patience, meta, answer.get());
  }

  private static Agreed answered(
      PeerExchange peer,
      JsonValue.Obj capabilities,
      String writ,
      Patience patience,
      JsonValue.Obj meta,
      PeerMessage.Answer answer)
      throws InterruptedException {
    if (answer.error().isPresent()) {
      PeerMessage.Fault fault = answer.error().get();
      if (!MODERN.contains(fault.code())) {
        return handshake(peer, capabilities, writ, patience);
      }
      return otherwise(peer, capabilities, writ, patience, fault);
    }
    JsonValue.Obj result = answer.result().orElseThrow();
    List<String> versions = texts(result.get("supportedVersions"));
    if (!(result.get("capabilities") instanceof JsonValue.Obj offers) || versions.isEmpty()) {
      return handshake(peer, capabilities, writ, patience); // it answers whatever it is asked
    }
    if (!versions.contains(ProtocolVersion.STATELESS)) {
      return older(peer, capabilities, writ, patience, versions);
    }
    peer.agreed(ProtocolVersion.STATELESS);
    Agreed agreed =
        new Agreed(ProtocolVersion.STATELESS, server(result), offers, Optional.of(meta));
    if (agreed.saysWhenToolsChange()) {
      JsonValue.Obj wanted = JsonValue.object().put("toolsListChanged", true).build();
      peer.listen(
          Optional.of(agreed.with(JsonValue.object().put("notifications", wanted).build())));
    }
    return agreed;
  }

  /** It does not answer, in any way. */
  private static final class Silent extends Exception {
    private static final long serialVersionUID = 1L;

    Silent(Throwable cause) {
      super(cause);
    }
  }

  /** Asks; empty for a status that a server of before answers with. */
  private static Optional<PeerMessage.Answer> probe(
      PeerExchange peer, JsonValue.Obj params, Patience patience)
      throws InterruptedException, Silent {
    try {
      return Optional.of(peer.request("server/discover", params, patience));
    } catch (WritException e) {
      if (e.code() == ToolsError.UPSTREAM_TIMEOUT) {
        throw new Silent(e);
      }
      if (e.code() == ToolsError.UPSTREAM_STATUS || e.code() == ToolsError.UPSTREAM_BROKE) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private static Agreed otherwise(
      PeerExchange peer,
      JsonValue.Obj capabilities,
      String writ,
      Patience patience,
      PeerMessage.Fault fault)
      throws InterruptedException {
    if (fault.code() == UNSUPPORTED_VERSION
        && fault.data().orElse(JsonValue.TRUE) instanceof JsonValue.Obj data) {
      return older(peer, capabilities, writ, patience, texts(data.get("supported")));
    }
    throw new WritException(
        ToolsError.UPSTREAM_START, "server/discover is answered with the error " + fault.code());
  }

  /** A server that knows the question, and speaks versions with a handshake alone. */
  private static Agreed older(
      PeerExchange peer,
      JsonValue.Obj capabilities,
      String writ,
      Patience patience,
      List<String> versions)
      throws InterruptedException {
    if (versions.stream().noneMatch(ProtocolVersion.ALL::contains)) {
      throw new WritException(
          ToolsError.UPSTREAM_VERSION,
          "it lists "
              + versions.size()
              + " versions; known are "
              + ProtocolVersion.STATELESS
              + " and "
              + ProtocolVersion.ALL);
    }
    return handshake(peer, capabilities, writ, patience);
  }

  static Agreed handshake(
      PeerExchange peer, JsonValue.Obj capabilities, String writ, Patience patience)
      throws InterruptedException {
    JsonValue.Obj params =
        JsonValue.object()
            .put("protocolVersion", ProtocolVersion.NEWEST)
            .put("capabilities", capabilities)
            .put("clientInfo", client(writ))
            .build();
    JsonValue.Obj result =
        UpstreamSession.result(peer.request("initialize", params, patience), "initialize");
    if (!(result.get("protocolVersion") instanceof JsonValue.Str said)
        || !(result.get("capabilities") instanceof JsonValue.Obj offers)) {
      throw PeerMessage.refuse("a handshake without protocolVersion and capabilities");
    }
    String version = ProtocolVersion.require(said.value());
    peer.agreed(version);
    peer.tell("notifications/initialized", JsonValue.object().build());
    JsonValue.Obj server =
        result.get("serverInfo") instanceof JsonValue.Obj info ? info : JsonValue.object().build();
    peer.listen(Optional.empty());
    return new Agreed(version, server, offers, Optional.empty());
  }

  private static JsonValue.Obj server(JsonValue.Obj result) {
    return result.get("_meta") instanceof JsonValue.Obj about
            && about.get(META + "serverInfo") instanceof JsonValue.Obj info
        ? info
        : JsonValue.object().build();
  }

  private static List<String> texts(JsonValue value) {
    return value instanceof JsonValue.Arr list
        ? list.items().stream()
            .filter(item -> item instanceof JsonValue.Str)
            .map(item -> ((JsonValue.Str) item).value())
            .toList()
        : List.of();
  }
}
