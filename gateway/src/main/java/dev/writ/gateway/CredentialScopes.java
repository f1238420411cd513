package dev.writ.gateway;

import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.auth.Certificates;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.pipeline.Credentials;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The scopes of the credentials in the configuration. A credential that is removed authenticates
 * nobody any more, but its scopes stay known, so that its calls at work keep their bounds.
 */
final class CredentialScopes implements Credentials {
  private final ConcurrentHashMap<String, List<String>> roles = new ConcurrentHashMap<>();

  CredentialScopes(GatewayConfig config) {
    add(config);
  }

  /** Adds or replaces the scopes of this configuration's credentials; earlier ones stay. */
  void add(GatewayConfig config) {
    config.tokens().forEach(t -> roles.put(key(Tokens.METHOD, t.name()), t.roles()));
    config
        .extras()
        .certificates()
        .forEach(c -> roles.put(key(Certificates.METHOD, c.name()), c.roles()));
  }

  @Override
  public List<String> rolesOf(String method, String principal) {
    return roles.getOrDefault(key(method, principal), List.of());
  }

  private static String key(String method, String principal) {
    return method + " " + principal;
  }
}
