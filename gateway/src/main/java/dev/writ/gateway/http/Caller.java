package dev.writ.gateway.http;

import dev.writ.executor.Access;
import dev.writ.guardian.policy.Policy;
import java.util.List;

/**
 * Whom the server authenticated.
 *
 * @param method how: {@code bearer}, {@code access} (a signed access document) or {@code mtls}
 * @param principal the name of the credential: a token's name or a key id, never the secret
 * @param fingerprint of the credential itself: a token's digest, a certificate's, a key id. Two
 *     credentials of one name are two
 * @param tenant the one tenant it acts in
 * @param subject for whom it acts there
 * @param roles what the credential itself is narrowed to; none: all that policy gives the subject.
 *     Policy says what they may do.
 */
public record Caller(
    String method,
    String principal,
    String fingerprint,
    String tenant,
    String subject,
    List<String> roles) {
  public Caller {
    roles = List.copyOf(roles);
  }

  /** One whose credential's name is a fingerprint: a key id. */
  public Caller(
      String method, String principal, String tenant, String subject, List<String> roles) {
    this(method, principal, principal, tenant, subject, roles);
  }

  /** Which credential it is: what is counted or kept for one is for no other. */
  public String credential() {
    return method + " " + fingerprint + " " + principal;
  }

  /** Whether policy lets it read for everybody in its tenant (protocol rule 3). */
  public boolean seesTenant(Policy policy) {
    return roles.isEmpty()
        ? policy.mayExecuteFor(tenant, subject)
        : roles.stream().anyMatch(role -> policy.mayExecuteFor(tenant, subject, role));
  }

  /** As the kernel asks who reads: the subject in the roles that this credential has. */
  public Access.Who who(Policy policy) {
    List<String> held = policy.rolesOf(tenant, subject);
    return new Access.Who(
        tenant,
        List.of(subject),
        roles.isEmpty() ? held : held.stream().filter(roles::contains).toList());
  }

  /** Whether policy lets it look at what waits for approval. */
  public boolean approves(Policy policy) {
    return policy.approverRoles(tenant, subject).stream()
        .anyMatch(role -> roles.isEmpty() || roles.contains(role));
  }
}
