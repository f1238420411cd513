package dev.writ.tools.mcp.oauth;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.SecretFile;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.mcp.remote.WebAddress;
import dev.writ.tools.process.SecretStore;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** Has a token ready for each request, and gets a new one when it is time. */
public final class TokenKeeper {
  private final SandboxSettings settings;
  private final WebAddress url;
  private final OauthSpec spec;
  private final SecretStore store;
  private final Optional<String> clientSecret;
  private final List<SecretFile> seen = new ArrayList<>();
  private TokenSet tokens;
  private boolean stale;

  /**
   * @param store keeps the tokens
   * @param secrets that the call was granted, with the tokens
   * @throws WritException {@code TOL-041}, {@code TOL-289} for tokens of another login
   */
  public TokenKeeper(
      SandboxSettings settings,
      WebAddress url,
      OauthSpec spec,
      SecretStore store,
      List<SecretFile> secrets) {
    this.settings = settings;
    this.url = url;
    this.spec = spec;
    this.store = store;
    this.clientSecret =
        spec.clientSecret()
            .map(name -> new String(secret(secrets, name), StandardCharsets.UTF_8).strip());
    this.tokens = read(secret(secrets, spec.tokens()));
    seen.addAll(tokens.parts());
  }

  private static byte[] secret(List<SecretFile> secrets, String name) {
    return secrets.stream()
        .filter(s -> s.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new WritException(ToolsError.SECRET_UNKNOWN, name))
        .bytes();
  }

  /** Reads what was kept, and requires that it is for this server, of this issuer. */
  private TokenSet read(byte[] bytes) {
    TokenSet read = TokenSet.parse(bytes);
    boolean same =
        read.issuer().equals(spec.issuer())
            && read.resource().equals(spec.resource())
            && read.tokenEndpoint().equals(spec.tokenEndpoint())
            && spec.clientId().map(read.clientId()::equals).orElse(true);
    if (!same) {
      throw new WritException(
          ToolsError.OAUTH_TOKENS, spec.tokens() + " holds those of another server or issuer");
    }
    if (!TokenSet.isToken(read.access())) {
      throw new WritException(ToolsError.OAUTH_TOKENS, spec.tokens() + " holds no bearer token");
    }
    return read;
  }

  /** All parts of tokens so far, for masking. */
  public synchronized List<SecretFile> seen() {
    return List.copyOf(seen);
  }

  /** The server did not take the token. */
  public synchronized void refuse() {
    stale = true;
  }

  /** Whether another token may be had than the one that was refused. */
  public synchronized boolean canRenew() {
    return tokens.refresh().isPresent() || spec.grant() == OauthSpec.Grant.CLIENT_CREDENTIALS;
  }

  /**
   * The value of {@code Authorization}.
   *
   * @throws WritException {@code TOL-289} where no new token can be had
   */
  public synchronized String authorization() {
    if (stale || !tokens.isFresh(TokenEndpoint.now())) {
      renew();
    }
    return "Bearer " + tokens.access();
  }

  private void renew() {
    TokenSet refused = tokens;
    byte[] kept =
        store.change(
            spec.tokens(),
            before -> {
              TokenSet current = read(before);
              boolean another = !current.access().equals(refused.access());
              if (another && current.isFresh(TokenEndpoint.now())) {
                return before; // somebody else was faster
              }
              return renewed(current).toBytes();
            });
    tokens = read(kept);
    seen.addAll(tokens.parts());
    stale = false;
  }

  private TokenSet renewed(TokenSet current) {
    TreeMap<String, String> grant;
    if (spec.grant() == OauthSpec.Grant.CLIENT_CREDENTIALS) {
      grant = Login.alone(spec.scopes());
    } else {
      grant = new TreeMap<>();
      grant.put("grant_type", "refresh_token");
      grant.put(
          "refresh_token",
          current
              .refresh()
              .orElseThrow(() ->
                  new WritException(
                      ToolsError.OAUTH_TOKENS,
                      spec.tokens() + " are over, and cannot be renewed")));
    }
    OauthClient client =
        new OauthClient(current.clientId(), clientSecret.or(current::clientSecret));
    try (OauthWeb web = new OauthWeb(settings, url)) {
      return TokenEndpoint.ask(
          web,
          new TokenEndpoint.Asker(
              spec.issuer(),
              web.require("token_endpoint", spec.tokenEndpoint()),
              spec.resource(),
              client,
              current.secretInForm()),
          grant,
          Optional.of(current));
    } catch (WritException e) {
      throw new WritException(ToolsError.OAUTH_TOKENS, e.code().code() + " " + e.found(), e);
    }
  }
}
