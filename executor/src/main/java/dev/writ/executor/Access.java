package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.journal.RunState;
import dev.writ.executor.journal.Runs;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.RunOwnership;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.policy.CanaryDraw;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.LedgerState;
import dev.writ.ledger.RunId;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Who may read and name what within a tenant: the runs of a subject and those that policy shares
 * with it, what they hold, and the content that it put or that came of them. A digest alone is no
 * right to anything. Thread safe.
 */
public final class Access {
  /** Of so many runs that one content came of it is looked whether a subject may read them. */
  private static final int RUNS_LOOKED_AT_MAX = 256;

  /** Of a run that an agent's own key opened: only shares that name no surface are about it. */
  private static final String NO_SURFACE = "";

  private final LedgerState ledger;
  private final Supplier<SystemState> system;

  Access(LedgerState ledger, Supplier<SystemState> system) {
    this.ledger = ledger;
    this.system = system;
  }

  /**
   * Who asks.
   *
   * @param subjects itself, and those on whose behalf it asks
   * @param roles that it holds now
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
   * Who a request is for, by the policy in force.
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

  /** Whether policy lets it read for everybody in its tenant (protocol rule 3). */
  public boolean seesTenant(Who who) {
    Policy policy = policy();
    return who.roles().stream()
        .anyMatch(role -> policy.mayExecuteFor(who.tenant(), who.subject(), role));
  }

  /**
   * Whether a run and all that it holds may be read: its opener's subject may, or, where a surface
   * opened it, the one that it was opened for, and those with whom policy shares it.
   */
  public boolean mayRead(Who who, String run) {
    return seesTenant(who) || isOwn(who, run);
  }

  /**
   * What decides which canaries a call meets that is made in a run: the subject that the run was
   * opened for, where the caller may use it; else the caller's own, also in the run of its refusals
   * (spec/runs.md, 8).
   */
  public CanaryDraw draw(Who who, String run) {
    return new CanaryDraw(who.tenant(), run, ownedBy(who, run).orElse(who.subject()));
  }

  private boolean isOwn(Who who, String run) {
    return ownedBy(who, run).isPresent();
  }

  /** For whom a run was opened that is the caller's own, or that policy shares with it. */
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

  /** Whether a document of that scope may be read: one's own, and those of runs that one reads. */
  public boolean mayRead(Who who, Scope scope) {
    return who.tenant().equals(scope.tenant())
        && (who.subjects().contains(scope.subject()) || mayRead(who, scope.run()));
  }

  /** Whether content may be named by its digest: it was put by, or came of, what one may read. */
  public boolean mayName(Who who, Digest content) {
    if (seesTenant(who)) {
      return ledger.get(Tables.REFERENCE, Tables.key(who.tenant(), content.hex())).isPresent();
    }
    if (isHeldBy(who.tenant(), content, Tables.EVERYBODY)
        || who.subjects().stream().anyMatch(subject -> isHeldBy(who.tenant(), content, subject))) {
      return true;
    }
    boolean[] found = {false};
    int[] looked = {0};
    ledger.scan(
        Tables.HELD,
        Tables.prefix(who.tenant(), content.hex()),
        (key, _) -> {
          String run = Tables.lastPart(key);
          found[0] = !run.isEmpty() && isOwn(who, run);
          return !found[0] && ++looked[0] < RUNS_LOOKED_AT_MAX;
        });
    return found[0];
  }

  private boolean isHeldBy(String tenant, Digest content, String subject) {
    boolean[] found = {false};
    ledger.scan(
        Tables.HELD,
        Tables.prefix(tenant, content.hex(), subject),
        (_, _) -> {
          found[0] = true;
          return false;
        });
    return found[0];
  }

  /** Whether a request may name content: directly, or through a receipt that it consumes. */
  boolean mayName(Request request, List<String> charged, Digest content) {
    return mayName(who(request, charged), content)
        || request.consumes().stream()
            .flatMap(id -> ledger.document(id).stream())
            .map(envelope -> Receipt.read(envelope.document()))
            .anyMatch(receipt -> receipt.names(content));
  }
}
