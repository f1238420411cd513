package dev.writ.gateway;

import dev.writ.gateway.config.GatewayConfig;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What the configuration's credentials are narrowed to. A credential that is taken out lets nobody
 * in any more; its roles stay known, for a call of it that is at work must not lose its bounds.
 */
final class Narrowed implements Credentials {
  private final ConcurrentHashMap<String, List<String>> roles = new ConcurrentHashMap<>();

  Narrowed(GatewayConfig config) {
    add(config);
  }

  /** From now on these, and those that were before and are not among them. */
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
