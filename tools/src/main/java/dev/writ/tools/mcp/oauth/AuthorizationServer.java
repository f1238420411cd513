package dev.writ.tools.mcp.oauth;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.mcp.remote.WebAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * An authorization server whose description was checked (RFC 8414, OpenID Connect Discovery).
 *
 * @param issuer exactly as it names itself
 * @param authorization where a person agrees; absent where it offers none
 * @param registration where a client registers itself; absent where it offers none
 * @param answersName whether its answers name the issuer (RFC 9207)
 * @param takesDocuments whether a client's id may be the address of its description
 * @param secretInForm whether it takes a client's secret in the form alone
 */
public record AuthorizationServer(
    String issuer,
    Optional<WebAddress> authorization,
    WebAddress token,
    Optional<WebAddress> registration,
    boolean answersName,
    boolean takesDocuments,
    boolean secretInForm,
    boolean knowsPkce,
    List<String> scopes) {

  /**
   * Finds the description of an issuer.
   *
   * @param origins other origins that its endpoints may have, as the operator allows
   * @throws WritException {@code TOL-280}, {@code TOL-281}, {@code TOL-284}
   */
  static AuthorizationServer of(OauthWeb web, String issuer, List<String> origins) {
    WebAddress at = web.require("issuer", issuer);
    if (at.target().contains("?")) {
      throw new WritException(ToolsError.OAUTH_METADATA, "an issuer with a query");
    }
    for (WebAddress place : places(at)) {
      OauthWeb.Answer answer = web.get(place);
      if (answer.status() == 200 && answer.document().isPresent()) {
        return read(web, issuer, at, answer.document().get(), origins);
      }
    }
    throw new WritException(ToolsError.OAUTH_METADATA, "no description of the issuer " + at);
  }

  /** The places in MCP's order. */
  private static List<WebAddress> places(WebAddress at) {
    String path = at.path().equals("/") ? "" : at.path().replaceAll("/+$", "");
    List<WebAddress> places = new ArrayList<>();
    places.add(at.at("/.well-known/oauth-authorization-server" + path));
    places.add(at.at("/.well-known/openid-configuration" + path));
    if (!path.isEmpty()) {
      places.add(at.at(path + "/.well-known/openid-configuration"));
    }
    return places;
  }

  private static AuthorizationServer read(
      OauthWeb web, String issuer, WebAddress at, JsonValue.Obj found, List<String> origins) {
    if (!JsonValue.of(issuer).equals(found.get("issuer"))) {
      throw new WritException(
          ToolsError.OAUTH_ISSUER, "what " + at.origin() + " describes has another issuer");
    }
    Endpoints endpoints = new Endpoints(web, at, found, origins);
    return new AuthorizationServer(
        issuer,
        endpoints.one("authorization_endpoint"),
        endpoints
            .one("token_endpoint")
            .orElseThrow(() ->
                new WritException(ToolsError.OAUTH_METADATA, at.origin() + " names no endpoint")),
        endpoints.one("registration_endpoint"),
        JsonValue.TRUE.equals(found.get("authorization_response_iss_parameter_supported")),
        JsonValue.TRUE.equals(found.get("client_id_metadata_document_supported")),
        !texts(found.get("token_endpoint_auth_methods_supported")).isEmpty()
            && !texts(found.get("token_endpoint_auth_methods_supported"))
                .contains("client_secret_basic"),
        texts(found.get("code_challenge_methods_supported")).contains("S256"),
        texts(found.get("scopes_supported")));
  }

  private record Endpoints(
      OauthWeb web, WebAddress issuer, JsonValue.Obj found, List<String> origins) {
    Optional<WebAddress> one(String name) {
      if (!(found.get(name) instanceof JsonValue.Str text)) {
        return Optional.empty();
      }
      WebAddress address = web.require(name, text.value());
      if (!address.isAt(issuer) && !origins.contains(address.origin())) {
        throw new WritException(
            ToolsError.OAUTH_ENDPOINT,
            "the " + name + " of " + issuer.origin() + " is at " + address.origin());
      }
      return Optional.of(address);
    }
  }

  static List<String> texts(JsonValue value) {
    return value instanceof JsonValue.Arr list
        ? list.items().stream()
            .filter(item -> item instanceof JsonValue.Str)
            .map(item -> ((JsonValue.Str) item).value())
            .limit(200)
            .toList()
        : List.of();
  }
}
