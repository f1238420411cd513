package dev.writ.console.oidc;

import com.nimbusds.jose.jwk.JWKSet;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.auth.OidcProvider;
import dev.writ.gateway.http.auth.OidcSettings;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/** A provider of OpenID Connect as a client of it sees it: code flow with PKCE. */
final class Provider implements AutoCloseable {
  private static final Duration WITHIN = Duration.ofSeconds(10);

  private final OidcProvider configured;
  private final ProviderWeb web;
  private final Kept<Description> description;
  private final Kept<JWKSet> keys;

  /** Where the keys are, by the newest description. */
  private volatile URI keysAt;

  /**
   * @param clock the server's
   */
  Provider(OidcProvider configured, InstantSource clock) {
    this.configured = configured;
    this.web = new ProviderWeb(configured, WITHIN);
    this.description = new Kept<>(() -> Description.of(web, settings().issuer()), clock);
    this.keys = new Kept<>(() -> Signatures.keys(web.get("keys", keysAt)), clock);
  }

  OidcProvider configured() {
    return configured;
  }

  OidcSettings settings() {
    return configured.settings();
  }

  private Description described() {
    Description found = description.get();
    keysAt = found.keys();
    return found;
  }

  /**
   * The address to which the browser is sent.
   *
   * @param redirect where it comes back to
   * @throws WritException {@code GWY-135}
   */
  String address(Attempts.Attempt attempt, String redirect) {
    TreeSet<String> scopes = new TreeSet<>(settings().scopes());
    scopes.add("openid");
    TreeMap<String, String> query = new TreeMap<>();
    query.put("response_type", "code");
    query.put("client_id", settings().clientId());
    query.put("redirect_uri", redirect);
    query.put("scope", String.join(" ", scopes));
    query.put("state", attempt.state());
    query.put("nonce", attempt.nonce());
    query.put("code_challenge", attempt.challenge());
    query.put("code_challenge_method", "S256");
    return with(described().authorization(), query);
  }

  /** Where a person signs out at the provider, if it has such a place. */
  Optional<String> out() {
    TreeMap<String, String> query = new TreeMap<>();
    query.put("client_id", settings().clientId());
    return described().endSession().map(at -> with(at, query));
  }

  private static String with(URI at, TreeMap<String, String> query) {
    return at + (at.getRawQuery() == null ? "?" : "&") + ProviderWeb.query(query);
  }

  /**
   * Requires that an answer says whose it is as it has to (RFC 9207), so that a code of one
   * provider is never shown to another.
   *
   * @throws WritException {@code GWY-137}
   */
  void requireIssuer(Optional<String> issuer) {
    if (issuer.isEmpty() ? described().answersName() : !issuer.get().equals(settings().issuer())) {
      throw Signatures.refused("the answer is of another issuer: iss");
    }
  }

  /**
   * Redeems a code.
   *
   * @param from the address of who brings it
   * @throws WritException {@code GWY-026}, {@code GWY-135}, {@code GWY-137}, {@code GWY-138},
   *     {@code GWY-139}
   */
  Caller redeem(Attempts.Attempt attempt, String code, String redirect, String from, Instant now) {
    Description described = described();
    TreeMap<String, String> form = new TreeMap<>();
    form.put("grant_type", "authorization_code");
    form.put("code", code);
    form.put("redirect_uri", redirect);
    form.put("code_verifier", attempt.verifier());
    Optional<String> authorization = Optional.empty();
    if (configured.secret().isPresent() && !described.secretInForm()) {
      authorization = Optional.of(basic(configured.secret().get()));
    } else {
      form.put("client_id", settings().clientId());
      configured.secret().ifPresent(secret -> form.put("client_secret", secret));
    }
    ProviderWeb.Answer answer =
        web.post("token_endpoint", described.token(), form, authorization, from);
    String token = token(answer);
    JsonValue.Obj claims = Signatures.verified(token, keys.get(), keys::newer);
    IdToken.Expected expected =
        new IdToken.Expected(
            settings().issuer(), settings().clientId(), attempt.nonce(), attempt.begunAt(), now);
    return Persons.caller(settings(), IdToken.read(claims, expected));
  }

  private static String token(ProviderWeb.Answer answer) {
    JsonValue.Obj said = answer.document().orElse(JsonValue.object().build());
    if (answer.status() / 100 == 4) {
      throw new WritException(
          OidcError.REFUSED, "the code is answered with " + answer.status() + word(said));
    }
    if (answer.status() != 200) {
      throw ProviderAnswer.unreached("its token_endpoint is answered with " + answer.status());
    }
    return ProviderAnswer.text(said, "id_token")
        .orElseThrow(() -> Signatures.refused("the provider gives no id_token"));
  }

  /** The error that an answer names, where it is a plain word. */
  private static String word(JsonValue.Obj said) {
    return ProviderAnswer.text(said, "error")
        .filter(OidcSurface::isWord)
        .map(w -> ", " + w)
        .orElse("");
  }

  private String basic(String secret) {
    String pair = ProviderWeb.encoded(settings().clientId()) + ":" + ProviderWeb.encoded(secret);
    return "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.US_ASCII));
  }

  @Override
  public void close() {
    web.close();
  }
}
