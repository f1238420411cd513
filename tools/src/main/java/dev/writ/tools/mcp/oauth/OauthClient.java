package dev.writ.tools.mcp.oauth;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.error.ToolsError;
import java.util.List;
import java.util.Optional;

/**
 * Who Writ is towards an authorization server.
 *
 * @param secret what proves it; absent for a public client
 */
public record OauthClient(String id, Optional<String> secret) {
  private static final int CHARS_MAX = 2_000;

  /**
   * The client of a login: the one that is known, or a new one that registers itself (RFC 7591).
   *
   * @param known by its id, or by the address of its description
   * @throws WritException {@code TOL-285}
   */
  static OauthClient of(
      OauthWeb web, AuthorizationServer server, Optional<OauthClient> known, String redirect) {
    if (known.isPresent()) {
      boolean document = known.get().id().startsWith("https://");
      if (document && known.get().secret().isEmpty() && !server.takesDocuments()) {
        throw new WritException(
            ToolsError.OAUTH_CLIENT, "it takes no address of a description as a client's id");
      }
      return known.get();
    }
    if (server.registration().isEmpty()) {
      throw new WritException(ToolsError.OAUTH_CLIENT, "clients cannot register themselves there");
    }
    OauthWeb.Answer answer =
        web.post(
            server.registration().get(),
            JsonValue.object()
                .put("client_name", "Writ")
                .put("application_type", "native")
                .putList("redirect_uris", List.of(redirect), JsonValue::of)
                .putList(
                    "grant_types", List.of("authorization_code", "refresh_token"), JsonValue::of)
                .putList("response_types", List.of("code"), JsonValue::of)
                .put("token_endpoint_auth_method", "none")
                .build());
    JsonValue.Obj said = answer.document().orElse(JsonValue.object().build());
    boolean made = answer.status() == 200 || answer.status() == 201;
    if (!made || !(said.get("client_id") instanceof JsonValue.Str id) || !isPlain(id.value())) {
      throw new WritException(
          ToolsError.OAUTH_CLIENT,
          "the registration is answered with the status "
              + answer.status()
              + TokenEndpoint.error(said));
    }
    Optional<String> secret =
        said.get("client_secret") instanceof JsonValue.Str text && isPlain(text.value())
            ? Optional.of(text.value())
            : Optional.empty();
    return new OauthClient(id.value(), secret);
  }

  /** What ids and secrets consist of (RFC 6749, appendix A). */
  static boolean isPlain(String text) {
    return text.length() <= CHARS_MAX && text.matches("[ -~]+");
  }

  /** The id alone. */
  @Override
  public String toString() {
    return id;
  }
}
