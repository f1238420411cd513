package dev.writ.gateway.http.auth;

import dev.writ.executor.ReadAccess;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.PolicyPerson;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * An authenticated caller.
 *
 * @param method how: {@code bearer}, {@code access} (a signed access document) or {@code mtls}
 * @param principal the name of the credential: a token's name or a key id, never the secret
 * @param fingerprint of the credential itself: a token's digest, a certificate's, a key id. Two
 *     credentials with one name differ in it
 * @param tenant the one tenant it acts in
 * @param subject the subject that it acts as
 * @param roles roles that the credential is narrowed to; empty for all roles that policy gives the
 *     subject
 * @param until when the credential's own time is over; absent where something else knows it
 */
public record Caller(
    String method,
    String principal,
    String fingerprint,
    String tenant,
    String subject,
    List<String> roles,
    Optional<Instant> until) {
  public Caller {
    roles = List.copyOf(roles);
  }

  /** A caller by a credential whose time is looked at where it is known. */
  public Caller(
      String method,
      String principal,
      String fingerprint,
      String tenant,
      String subject,
      List<String> roles) {
    this(method, principal, fingerprint, tenant, subject, roles, Optional.empty());
  }

  /** A caller whose credential's name is its fingerprint: a key id. */
  public Caller(
      String method, String principal, String tenant, String subject, List<String> roles) {
    this(method, principal, principal, tenant, subject, roles);
  }

  /** Identifies the credential; limits and caches are kept by this name. */
  public String credential() {
    return method + " " + fingerprint + " " + principal;
  }

  /** Whether it acts as that subject, by whatever credential. */
  public boolean isOf(String ofTenant, String ofSubject) {
    return tenant.equals(ofTenant) && subject.equals(ofSubject);
  }

  /** Whether policy lets it read for everybody in its tenant (protocol rule 3). */
  public boolean seesTenant(Policy policy) {
    return roles.isEmpty()
        ? policy.mayExecuteFor(tenant, subject)
        : roles.stream().anyMatch(role -> policy.mayExecuteFor(tenant, subject, role));
  }

  /**
   * The caller as the kernel's access checks see it: its subject, in the roles of this credential.
   */
  public ReadAccess.Who who(Policy policy) {
    List<String> held = policy.rolesOf(tenant, subject);
    return new ReadAccess.Who(
        tenant,
        List.of(subject),
        roles.isEmpty() ? held : held.stream().filter(roles::contains).toList());
  }

  /** As what policy lets it look at its tenant's effects, with this credential. */
  public List<PolicyPerson.Look> looksAs(Policy policy) {
    return policy.looksAs(tenant, subject).stream()
        .filter(look -> roles.isEmpty() || roles.contains(look.word()))
        .toList();
  }

  /** Whether policy lets it see requests that wait for approval. */
  public boolean approves(Policy policy) {
    return !approverRoles(policy).isEmpty();
  }

  /** The approver roles that policy gives it, in this credential. */
  public List<String> approverRoles(Policy policy) {
    return policy.approverRoles(tenant, subject).stream()
        .filter(role -> roles.isEmpty() || roles.contains(role))
        .toList();
  }
}
