package dev.writ.console.oidc;

import dev.writ.canonicalize.json.JsonValue;
import java.net.URI;
import java.util.List;
import java.util.Optional;

/**
 * What a provider says of itself (OpenID Connect Discovery 1.0), checked.
 *
 * @param answersName whether its answers name the issuer (RFC 9207)
 * @param secretInForm whether it takes a client's secret in the form alone
 * @param endSession where a person signs out there, if there is such a place
 */
record Description(
    URI authorization,
    URI token,
    URI keys,
    boolean answersName,
    boolean secretInForm,
    Optional<URI> endSession) {

  /**
   * @throws dev.writ.canonicalize.WritException {@code GWY-135}
   */
  static Description of(ProviderWeb web, String issuer) {
    String at = issuer.replaceFirst("/$", "") + "/.well-known/openid-configuration";
    JsonValue.Obj found = web.get("description", web.require("description", at));
    if (!ProviderAnswer.text(found, "issuer").equals(Optional.of(issuer))) {
      throw ProviderAnswer.unreached("its description is of another issuer");
    }
    List<String> challenges =
        ProviderAnswer.texts(found.get("code_challenge_methods_supported")).orElse(List.of("S256"));
    if (!challenges.contains("S256")) {
      throw ProviderAnswer.unreached("it takes no code_challenge_method S256");
    }
    List<String> methods =
        ProviderAnswer.texts(found.get("token_endpoint_auth_methods_supported"))
            .orElse(List.of("client_secret_basic"));
    return new Description(
        endpoint(web, found, "authorization_endpoint"),
        endpoint(web, found, "token_endpoint"),
        endpoint(web, found, "jwks_uri"),
        JsonValue.TRUE.equals(found.get("authorization_response_iss_parameter_supported")),
        !methods.contains("client_secret_basic"),
        ProviderAnswer.text(found, "end_session_endpoint")
            .map(text -> web.require("end_session_endpoint", text)));
  }

  private static URI endpoint(ProviderWeb web, JsonValue.Obj found, String name) {
    return web.require(
        name,
        ProviderAnswer.text(found, name)
            .orElseThrow(() -> ProviderAnswer.unreached("its description has no " + name)));
  }
}
