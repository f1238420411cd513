package dev.writ.tools.mcp.oauth;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Who gives tokens for a server elsewhere: a part of {@code server.json}, and so of what policy
 * approves.
 *
 * @param issuer the authorization server, as it names itself
 * @param tokenEndpoint where tokens are asked for
 * @param resource the server, as the tokens name it
 * @param clientId absent where Writ registers itself at each login
 * @param clientSecret the name of the secret that proves the client
 * @param scopes sorted
 * @param tokens the name of the secret that holds the tokens
 */
public record OauthSpec(
    Grant grant,
    String issuer,
    String tokenEndpoint,
    String resource,
    Optional<String> clientId,
    Optional<String> clientSecret,
    List<String> scopes,
    String tokens) {

  public OauthSpec {
    scopes = List.copyOf(new TreeSet<>(scopes));
  }

  /** On whose behalf. */
  public enum Grant {
    /** A person's, who agreed in a browser. */
    AUTHORIZATION_CODE,
    /** The client's own. */
    CLIENT_CREDENTIALS;

    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Reads the member {@code oauth}. */
  public static OauthSpec parse(Fields fields) {
    OauthSpec spec =
        new OauthSpec(
            fields.oneOf("grant", List.of(Grant.values()), Grant::text),
            fields.string("issuer"),
            fields.string("token_endpoint"),
            fields.string("resource"),
            fields.optional("client_id", fields::string),
            fields.optional("client_secret", fields::name),
            fields.list("scopes", Fields::stringItem),
            fields.name("tokens"));
    fields.end();
    return spec;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("grant", grant.text())
        .put("issuer", issuer)
        .put("token_endpoint", tokenEndpoint)
        .put("resource", resource)
        .putIfPresent("client_id", clientId, JsonValue::of)
        .putIfPresent("client_secret", clientSecret, JsonValue::of)
        .putList("scopes", scopes, JsonValue::of)
        .put("tokens", tokens)
        .build();
  }
}
