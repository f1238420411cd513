package dev.writ.tools.mcp.oauth;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.SecretFile;
import dev.writ.tools.error.ToolsError;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The tokens for one server, as they are kept: a secret of the installation, whole.
 *
 * @param expiresAt seconds since 1970; absent where the authorization server did not say
 * @param clientSecret of a client that registered itself
 * @param secretInForm whether the endpoint takes a client's secret in the form alone
 */
public record TokenSet(
    String issuer,
    String resource,
    String tokenEndpoint,
    String clientId,
    Optional<String> clientSecret,
    String access,
    Optional<String> refresh,
    Optional<Long> expiresAt,
    boolean secretInForm) {

  /** What a bearer token consists of (RFC 6750, 2.1). */
  static boolean isToken(String text) {
    return text.length() <= 16_000 && text.matches("[A-Za-z0-9._~+/-]+=*");
  }

  /**
   * Reads what was kept.
   *
   * @throws WritException {@code TOL-289}, without a part of it
   */
  static TokenSet parse(byte[] bytes) {
    try {
      Fields fields = Fields.of("tokens", Jcs.parse(bytes));
      TokenSet read =
          new TokenSet(
              fields.string("issuer"),
              fields.string("resource"),
              fields.string("token_endpoint"),
              fields.string("client_id"),
              fields.optional("client_secret", fields::string),
              fields.string("access_token"),
              fields.optional("refresh_token", fields::string),
              fields.optional("expires_at", fields::count),
              fields.bool("secret_in_form"));
      fields.end();
      return read;
    } catch (WritException e) {
      throw new WritException(ToolsError.OAUTH_TOKENS, "they cannot be read: " + e.code().code());
    }
  }

  public byte[] toBytes() {
    return Jcs.write(
        JsonValue.object()
            .put("issuer", issuer)
            .put("resource", resource)
            .put("token_endpoint", tokenEndpoint)
            .put("client_id", clientId)
            .putIfPresent("client_secret", clientSecret, JsonValue::of)
            .put("access_token", access)
            .putIfPresent("refresh_token", refresh, JsonValue::of)
            .putIfPresent("expires_at", expiresAt, JsonValue::of)
            .put("secret_in_form", secretInForm)
            .build());
  }

  /** Each part that nobody may see, for masking. */
  List<SecretFile> parts() {
    List<SecretFile> parts = new ArrayList<>();
    parts.add(part(access));
    refresh.ifPresent(token -> parts.add(part(token)));
    clientSecret.ifPresent(secret -> parts.add(part(secret)));
    return parts;
  }

  private static SecretFile part(String text) {
    return new SecretFile("token", text.getBytes(StandardCharsets.UTF_8));
  }

  /** Whether it can be used for a while. */
  boolean isFresh(long now) {
    return expiresAt.isEmpty() || expiresAt.get() - now > 30;
  }

  /** Names nothing that is secret. */
  @Override
  public String toString() {
    return "tokens of " + issuer;
  }
}
