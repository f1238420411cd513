package dev.writ.tools.mcp.oauth;

import dev.writ.canonicalize.WritException;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.mcp.remote.WebAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Gets tokens for an MCP server: finds who gives them, has a person agree in a browser, and checks
 * what comes back. One object is one login.
 */
public final class Login {
  private final OauthWeb web;
  private final ProtectedServer resource;
  private final AuthorizationServer server;
  private final Wish wish;
  private Optional<Pending> pending = Optional.empty();

  /**
   * What is asked for.
   *
   * @param issuer the one that is wanted, where the server names several, or one was approved
   * @param client the client that is known there; else Writ registers itself
   * @param scopes beyond those that the server asks for
   * @param origins other origins that the endpoints may have
   */
  public record Wish(
      Optional<String> issuer,
      Optional<OauthClient> client,
      List<String> scopes,
      List<String> origins) {
    public Wish {
      scopes = List.copyOf(scopes);
      origins = List.copyOf(origins);
    }
  }

  /** What must be known when the browser comes back. */
  private record Pending(String state, String verifier, String redirect, OauthClient client) {}

  private Login(OauthWeb web, ProtectedServer resource, AuthorizationServer server, Wish wish) {
    this.web = web;
    this.resource = resource;
    this.server = server;
    this.wish = wish;
  }

  /**
   * Finds who gives tokens for a server.
   *
   * @throws WritException {@code TOL-280} to {@code TOL-282}, {@code TOL-284}
   */
  public static Login at(OauthWeb web, Wish wish) {
    ProtectedServer resource = ProtectedServer.look(web);
    String issuer = wish.issuer().orElse(resource.issuers().getFirst());
    if (!resource.issuers().contains(issuer)) {
      throw new WritException(
          ToolsError.OAUTH_ISSUER, web.server().origin() + " takes tokens of others now");
    }
    return new Login(web, resource, AuthorizationServer.of(web, issuer, wish.origins()), wish);
  }

  /** The scopes that are asked for, sorted. */
  public List<String> scopes() {
    TreeSet<String> scopes = new TreeSet<>(resource.scopes());
    scopes.addAll(wish.scopes());
    return List.copyOf(scopes);
  }

  /** What the package says of these tokens. */
  public OauthSpec spec(OauthSpec.Grant grant, Optional<String> clientSecret, String tokens) {
    return new OauthSpec(
        grant,
        server.issuer(),
        server.token().text(),
        resource.resource(),
        wish.client().map(OauthClient::id),
        clientSecret,
        scopes(),
        tokens);
  }

  /**
   * The address at which a person agrees.
   *
   * @param redirect where the browser comes back to, on this machine
   * @throws WritException {@code TOL-280}, {@code TOL-283}, {@code TOL-285}
   */
  public String begin(String redirect) {
    if (!server.knowsPkce()) {
      throw new WritException(
          ToolsError.OAUTH_PKCE, "what " + server.issuer() + " describes does not list S256");
    }
    WebAddress authorization =
        server
            .authorization()
            .orElseThrow(() ->
                new WritException(
                    ToolsError.OAUTH_METADATA, server.issuer() + " has no place to agree at"));
    OauthClient client = OauthClient.of(web, server, wish.client(), redirect);
    String verifier = random();
    String state = random();
    pending = Optional.of(new Pending(state, verifier, redirect, client));
    TreeMap<String, String> query = new TreeMap<>();
    query.put("response_type", "code");
    query.put("client_id", client.id());
    query.put("redirect_uri", redirect);
    query.put("code_challenge", challenge(verifier));
    query.put("code_challenge_method", "S256");
    query.put("state", state);
    query.put("resource", resource.resource());
    if (!asked().isEmpty()) {
      query.put("scope", String.join(" ", asked()));
    }
    List<String> pairs = new ArrayList<>();
    query.forEach((name, value) -> pairs.add(name + "=" + OauthWeb.encoded(value)));
    return authorization.text()
        + (authorization.target().contains("?") ? "&" : "?")
        + String.join("&", pairs);
  }

  /** The scopes, and the one for a refresh token where it is offered. */
  private List<String> asked() {
    List<String> asked = new ArrayList<>(scopes());
    if (!asked.isEmpty()
        && server.scopes().contains("offline_access")
        && !asked.contains("offline_access")) {
      asked.add("offline_access");
    }
    return asked;
  }

  /**
   * Takes what the browser came back with, and asks for the tokens.
   *
   * @param redirected the whole address, or its query
   * @throws WritException {@code TOL-281}, {@code TOL-286} to {@code TOL-288}
   */
  public TokenSet finish(String redirected) {
    Pending login =
        pending.orElseThrow(() -> new WritException(ToolsError.OAUTH_RESPONSE, "none was begun"));
    pending = Optional.empty(); // an answer counts once
    TreeMap<String, String> query = query(redirected);
    byte[] state = query.getOrDefault("state", "").getBytes(StandardCharsets.UTF_8);
    if (!MessageDigest.isEqual(state, login.state().getBytes(StandardCharsets.UTF_8))) {
      throw new WritException(ToolsError.OAUTH_RESPONSE, "its state is not that of this login");
    }
    String issuer = query.get("iss");
    if (issuer == null ? server.answersName() : !issuer.equals(server.issuer())) {
      throw new WritException(
          ToolsError.OAUTH_ISSUER,
          issuer == null
              ? "the answer does not say whose it is, which " + server.issuer() + " always does"
              : "the answer is of another than " + server.issuer());
    }
    if (query.containsKey("error")) {
      String word = query.get("error");
      throw new WritException(
          ToolsError.OAUTH_REFUSED,
          server.issuer() + " says no" + (word.matches("[A-Za-z0-9_.-]{1,64}") ? ", " + word : ""));
    }
    String code = query.getOrDefault("code", "");
    if (!OauthClient.isPlain(code)) {
      throw new WritException(ToolsError.OAUTH_RESPONSE, "it has no code");
    }
    TreeMap<String, String> grant = new TreeMap<>();
    grant.put("grant_type", "authorization_code");
    grant.put("code", code);
    grant.put("redirect_uri", login.redirect());
    grant.put("code_verifier", login.verifier());
    return TokenEndpoint.ask(web, asker(login.client()), grant, Optional.empty());
  }

  /**
   * Gets tokens of the client's own.
   *
   * @throws WritException {@code TOL-285}, {@code TOL-286}, {@code TOL-288}
   */
  public TokenSet alone() {
    OauthClient client =
        wish.client()
            .filter(c -> c.secret().isPresent())
            .orElseThrow(() ->
                new WritException(
                    ToolsError.OAUTH_CLIENT, "a client of its own needs an id and a secret"));
    return TokenEndpoint.ask(web, asker(client), alone(scopes()), Optional.empty());
  }

  static TreeMap<String, String> alone(List<String> scopes) {
    TreeMap<String, String> grant = new TreeMap<>();
    grant.put("grant_type", "client_credentials");
    if (!scopes.isEmpty()) {
      grant.put("scope", String.join(" ", scopes));
    }
    return grant;
  }

  private TokenEndpoint.Asker asker(OauthClient client) {
    return new TokenEndpoint.Asker(
        server.issuer(), server.token(), resource.resource(), client, server.secretInForm());
  }

  private static TreeMap<String, String> query(String redirected) {
    String text = redirected.strip();
    text = text.substring(text.indexOf('?') + 1);
    TreeMap<String, String> query = new TreeMap<>();
    for (String pair : text.split("&", 50)) {
      String[] sides = pair.split("=", 2);
      String name = decoded(sides[0]);
      if (query.put(name, sides.length == 2 ? decoded(sides[1]) : "") != null) {
        throw new WritException(ToolsError.OAUTH_RESPONSE, "a parameter stands twice in it");
      }
    }
    return query;
  }

  private static String decoded(String text) {
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw new WritException(ToolsError.OAUTH_RESPONSE, "it cannot be read", e);
    }
  }

  private static String random() {
    byte[] bytes = new byte[32];
    new SecureRandom().nextBytes(bytes);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  private static String challenge(String verifier) {
    try {
      return Base64.getUrlEncoder()
          .withoutPadding()
          .encodeToString(
              MessageDigest.getInstance("SHA-256")
                  .digest(verifier.getBytes(StandardCharsets.US_ASCII)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
