package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.journal.RunState;
import dev.writ.executor.journal.Runs;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.journal.TenantContents;
import dev.writ.guardian.RunOwnership;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.governance.CanaryDraw;
import dev.writ.ledger.LedgerState;
import dev.writ.ledger.event.RunId;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * What a subject may read within its tenant, and which content it may name in requests: its own
 * runs and those that policy shares with it, the documents in them, and the content that it
 * uploaded or that its effects produced. Knowing a digest gives no right to anything. Thread safe.
 */
public final class ReadAccess {
  /**
   * If many runs produced the same content, at most so many of them are checked for one that the
   * subject may read.
   */
  private static final int RUNS_LOOKED_AT_MAX = 256;

  /**
   * The surface of a run that an agent's own key opened; it matches only shares that name no
   * surface.
   */
  private static final String NO_SURFACE = "";

  private final LedgerState ledger;
  private final Supplier<SystemState> system;

  ReadAccess(LedgerState ledger, Supplier<SystemState> system) {
    this.ledger = ledger;
    this.system = system;
  }

  /**
   * The party that asks.
   *
   * @param subjects its own subject first, then those on whose behalf it asks
   * @param roles the roles that it has now
   */
  public record Who(String tenant, List<String> subjects, List<String> roles) {
    public Who {
      subjects = List.copyOf(subjects);
      roles = List.copyOf(roles);
    }

    private String subject() {
      return subjects.getFirst();
    }
  }

  /**
   * The party of a request, with its roles by the policy in force.
   *
   * @param charged its subject and those on whose behalf it is made
   */
  Who who(Request request, List<String> charged) {
    String tenant = request.scope().tenant();
    List<String> roles = policy().rolesOf(tenant, request.scope().subject());
    return new Who(
        tenant, charged, RunOwnership.holdingRoles(roles, request.origin().flatMap(Origin::roles)));
  }

  private Policy policy() {
    return system.get().policyInForce();
  }

  /** Whether policy lets the party read for everybody in its tenant (protocol rule 3). */
  public boolean seesTenant(Who who) {
    Policy policy = policy();
    return who.roles().stream()
        .anyMatch(role -> policy.mayExecuteFor(who.tenant(), who.subject(), role));
  }

  /**
   * Whether a run and all its documents may be read: by the subject of the key that opened it, or,
   * if a surface opened it, by the subject that it was opened for; and by those with whom policy
   * shares it.
   */
  public boolean mayRead(Who who, String run) {
    return seesTenant(who) || mayUse(who, run);
  }

  /**
   * The input that selects canaries for a call in a run: the subject that the run was opened for,
   * if the caller may use that run; otherwise, and in the run of the caller's refusals, the
   * caller's own subject (spec/runs.md, 8).
   */
  public CanaryDraw draw(Who who, String run) {
    return new CanaryDraw(who.tenant(), run, ownedBy(who, run).orElse(who.subject()));
  }

  /**
   * Whether calls of the party may be made in a run, as far as its owner is concerned: the run is
   * the party's own, or policy shares it with the party.
   */
  public boolean mayUse(Who who, String run) {
    return ownedBy(who, run).isPresent();
  }

  /**
   * The subject that a run was opened for, if the run is the caller's own or policy shares it with
   * the caller.
   */
  private Optional<String> ownedBy(Who who, String run) {
    Optional<TrustedKey> opener =
        ledger
            .get(Tables.RUN, Tables.key(who.tenant(), run))
            .map(RunState::parse)
            .flatMap(state -> system.get().trust().key(state.opener()))
            .filter(key -> key.tenant().filter(who.tenant()::equals).isPresent());
    if (opener.isEmpty()) {
      return Optional.empty();
    }
    boolean vouched = opener.get().role() == KeyRole.SURFACE;
    String owner =
        vouched ? Runs.firstSubject(ledger, new RunId(who.tenant(), run)) : opener.get().subject();
    String surface = vouched ? opener.get().subject() : NO_SURFACE;
    return Optional.of(owner)
        .filter(of ->
            who.subjects().contains(of)
                || policy().sharesRun(who.tenant(), surface, run, of, who.subject(), who.roles()));
  }

  /**
   * Whether a document of that scope may be read: the party's own documents, and those of runs that
   * it may read.
   */
  public boolean mayRead(Who who, Scope scope) {
    return who.tenant().equals(scope.tenant())
        && (who.subjects().contains(scope.subject()) || mayRead(who, scope.run()));
  }

  /**
   * Whether a request may name content by its digest: it was uploaded by one of the party's
   * subjects or for everybody in the tenant, or a run that the party may read produced it.
   */
  public boolean mayName(Who who, Digest content) {
    if (seesTenant(who)) {
      return TenantContents.has(ledger, who.tenant(), content);
    }
    if (who.subjects().stream().anyMatch(subject -> holds(who.tenant(), subject, content))) {
      return true;
    }
    boolean[] found = {false};
    int[] looked = {0};
    ledger.scan(
        Tables.HELD,
        Tables.prefix(who.tenant(), content.hex()),
        (key, _) -> {
          String run = Tables.lastPart(key);
          found[0] = !run.isEmpty() && mayUse(who, run);
          return !found[0] && ++looked[0] < RUNS_LOOKED_AT_MAX;
        });
    return found[0];
  }

  /**
   * Whether content is a subject's own: it uploaded it or its effects produced it, or it was
   * uploaded for everybody in the tenant.
   */
  public boolean holds(String tenant, String subject, Digest content) {
    return TenantContents.holds(ledger, tenant, subject, content);
  }

  /**
   * Whether a request may name content: by its own right, or through a receipt that it consumes.
   *
   * @param charged its subject and those on whose behalf it is made
   */
  public boolean mayName(Request request, List<String> charged, Digest content) {
    return mayName(who(request, charged), content)
        || request.consumes().stream()
            .flatMap(id -> ledger.document(id).stream())
            .map(envelope -> Receipt.read(envelope.document()))
            .anyMatch(receipt -> receipt.names(content));
  }
}
