package dev.writ.tools.mcp.oauth;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.mcp.remote.WebAddress;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Asks for tokens. */
final class TokenEndpoint {
  private TokenEndpoint() {}

  /**
   * Who asks whom.
   *
   * @param secretInForm whether the client's secret goes into the form
   */
  record Asker(
      String issuer,
      WebAddress endpoint,
      String resource,
      OauthClient client,
      boolean secretInForm) {}

  /**
   * Asks with a grant.
   *
   * @param before tokens that these follow; a refresh token is kept where no new one comes
   * @throws WritException {@code TOL-286} with the error that it names, {@code TOL-288}
   */
  static TokenSet ask(
      OauthWeb web, Asker asker, SortedMap<String, String> grant, Optional<TokenSet> before) {
    TreeMap<String, String> form = new TreeMap<>(grant);
    form.put("resource", asker.resource());
    Optional<String> authorization = Optional.empty();
    if (asker.client().secret().isPresent() && !asker.secretInForm()) {
      String pair =
          OauthWeb.encoded(asker.client().id())
              + ":"
              + OauthWeb.encoded(asker.client().secret().get());
      authorization =
          Optional.of(
              "Basic "
                  + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.US_ASCII)));
    } else {
      form.put("client_id", asker.client().id());
      asker.client().secret().ifPresent(secret -> form.put("client_secret", secret));
    }
    OauthWeb.Answer answer = web.post(asker.endpoint(), form, authorization);
    JsonValue.Obj said = answer.document().orElse(JsonValue.object().build());
    if (answer.status() != 200) {
      throw new WritException(
          ToolsError.OAUTH_REFUSED,
          asker.endpoint().origin() + " answers with " + answer.status() + error(said));
    }
    return read(asker, said, before);
  }

  private static TokenSet read(Asker asker, JsonValue.Obj said, Optional<TokenSet> before) {
    boolean bearer =
        said.get("token_type") instanceof JsonValue.Str type
            && type.value().equalsIgnoreCase("Bearer");
    if (!bearer
        || !(said.get("access_token") instanceof JsonValue.Str access)
        || !TokenSet.isToken(access.value())
        || access.value().length() < 8) {
      throw new WritException(
          ToolsError.OAUTH_TOKEN_ANSWER, asker.endpoint().origin() + " gives no bearer token");
    }
    Optional<String> refresh =
        said.get("refresh_token") instanceof JsonValue.Str text && OauthClient.isPlain(text.value())
            ? Optional.of(text.value())
            : before.flatMap(TokenSet::refresh);
    Optional<Long> expires =
        said.get("expires_in") instanceof JsonValue.Num seconds
                && seconds.isInteger()
                && seconds.value() > 0
                && seconds.value() < 4e9
            ? Optional.of(now() + (long) seconds.value())
            : Optional.empty();
    return new TokenSet(
        asker.issuer(),
        asker.resource(),
        asker.endpoint().text(),
        asker.client().id(),
        asker.client().secret(),
        access.value(),
        refresh,
        expires,
        asker.secretInForm());
  }

  /** The time in seconds, as tokens expire. */
  static long now() {
    return System.currentTimeMillis() / 1_000;
  }

  /** The error that an answer names, where it is a plain word. */
  static String error(JsonValue.Obj said) {
    return said.get("error") instanceof JsonValue.Str word
            && word.value().matches("[A-Za-z0-9_.-]{1,64}")
        ? ", " + word.value()
        : "";
  }
}
