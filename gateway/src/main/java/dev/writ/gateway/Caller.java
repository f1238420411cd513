package dev.writ.gateway;

import java.util.List;

/**
 * Whom the server authenticated.
 *
 * @param method how: {@code bearer}, {@code access} (a signed access document) or {@code mtls}
 * @param principal the name of the credential: a token's name or a key id, never the secret
 * @param tenant the one tenant it acts in
 * @param subject for whom it acts there
 * @param roles what the credential itself is restricted to, sorted; policy says what they may do
 */
public record Caller(
    String method, String principal, String tenant, String subject, List<String> roles) {
  public Caller {
    roles = List.copyOf(roles);
  }
}
