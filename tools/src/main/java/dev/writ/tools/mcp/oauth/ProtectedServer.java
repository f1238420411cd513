package dev.writ.tools.mcp.oauth;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.mcp.remote.Challenge;
import dev.writ.tools.mcp.remote.Scopes;
import dev.writ.tools.mcp.remote.WebAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * An MCP server that wants tokens, as it describes itself (RFC 9728).
 *
 * @param resource how tokens name it
 * @param issuers who may give them
 * @param scopes what it asks for
 */
public record ProtectedServer(String resource, List<String> issuers, List<String> scopes) {
  private static final String WELL_KNOWN = "/.well-known/oauth-protected-resource";

  public ProtectedServer {
    issuers = List.copyOf(issuers);
    scopes = List.copyOf(scopes);
  }

  /**
   * Asks the server without a token, and reads where it describes itself.
   *
   * @throws WritException {@code TOL-280}, {@code TOL-282}, {@code TOL-284}
   */
  public static ProtectedServer look(OauthWeb web) {
    WebAddress server = web.server();
    JsonValue.Obj question =
        JsonValue.object()
            .put("jsonrpc", "2.0")
            .put("id", 1L)
            .put("method", "server/discover")
            .put("params", JsonValue.object().build())
            .build();
    OauthWeb.Answer asked = web.post(server, question);
    Optional<Challenge> challenge =
        asked.status() == 401 || asked.status() == 403
            ? Challenge.bearer(asked.challenges())
            : Optional.empty();
    List<String> demanded = challenge.map(Challenge::scopes).orElse(List.of());
    for (WebAddress place : places(web, challenge)) {
      OauthWeb.Answer answer = web.get(place);
      if (answer.status() == 200 && answer.document().isPresent()) {
        return read(server, answer.document().get(), demanded);
      }
    }
    // Before 2025-06-18 the server's own origin was asked.
    return new ProtectedServer(canonical(server), List.of(server.origin()), demanded);
  }

  private static List<WebAddress> places(OauthWeb web, Optional<Challenge> challenge) {
    Optional<String> named = challenge.flatMap(Challenge::resourceMetadata);
    if (named.isPresent()) {
      return List.of(web.require("resource_metadata", named.get()));
    }
    WebAddress server = web.server();
    List<WebAddress> places = new ArrayList<>();
    if (!server.path().equals("/")) {
      places.add(server.at(WELL_KNOWN + server.path()));
    }
    places.add(server.at(WELL_KNOWN));
    return places;
  }

  private static ProtectedServer read(
      WebAddress server, JsonValue.Obj found, List<String> demanded) {
    if (!(found.get("resource") instanceof JsonValue.Str resource)
        || !covers(resource.value(), server)) {
      throw new WritException(
          ToolsError.OAUTH_RESOURCE, "what describes " + server.origin() + " is about another");
    }
    List<String> issuers = AuthorizationServer.texts(found.get("authorization_servers"));
    if (issuers.isEmpty()) {
      throw new WritException(
          ToolsError.OAUTH_METADATA, server.origin() + " names no authorization server");
    }
    List<String> scopes =
        demanded.isEmpty()
            ? AuthorizationServer.texts(found.get("scopes_supported")).stream()
                .filter(Scopes::isScope)
                .toList()
            : demanded;
    return new ProtectedServer(resource.value(), issuers, scopes);
  }

  /** Whether a resource is the server, or a path of its origin that the server is below. */
  private static boolean covers(String resource, WebAddress server) {
    Optional<WebAddress> named = WebAddress.parse(resource);
    if (named.isEmpty() || !named.get().isAt(server)) {
      return false;
    }
    String above = named.get().path().endsWith("/") ? named.get().path() : named.get().path() + "/";
    return (server.path() + "/").startsWith(above);
  }

  /** The address without a slash that means nothing (RFC 8707, 2). */
  private static String canonical(WebAddress server) {
    return server.target().equals("/") ? server.origin() : server.text();
  }
}
