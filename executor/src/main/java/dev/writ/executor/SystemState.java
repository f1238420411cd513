package dev.writ.executor;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.PayloadTypes;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.document.CellRegions;
import dev.writ.executor.document.ClockCorrection;
import dev.writ.executor.document.ErasureOrder;
import dev.writ.executor.document.LegalHold;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.document.TenantMove;
import dev.writ.executor.document.TenantPlace;
import dev.writ.executor.document.ToolApproval;
import dev.writ.executor.document.ToolSubmission;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.governance.Governance;
import dev.writ.executor.governance.ToolStaging;
import dev.writ.executor.governance.ToolValidation;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.Admission;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.governance.Rollout;
import dev.writ.guardian.policy.limit.ClockLimits;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import org.pcollections.TreePMap;
import org.pcollections.TreePSet;

/**
 * The state of the installation: keys, policy, prohibited tools, governed tools. It follows from
 * the system run's signed documents alone, each verified under the state before it, so anybody with
 * the ledger can recompute it. Immutable.
 *
 * @param policy the policy in force, with the tools that governance adds
 * @param prohibited {@code name version} of tools that must not run
 * @param holds by name
 * @param erasures orders, by the id of the document
 * @param placements where operators have put tenants and cells
 */
public record SystemState(
    Trust trust,
    Optional<Policy> policy,
    SortedSet<String> prohibited,
    Governance governance,
    SortedMap<String, LegalHold> holds,
    SortedMap<Digest, ErasureOrder> erasures,
    Placements placements) {

  /** The installation's own run. No key can be enrolled for this tenant. */
  public static final RunId RUN = new RunId("writ", "system");

  /**
   * How long after a change the log may still get documents that were under way before it
   * (spec/audit.md).
   */
  public static final Duration IN_FLIGHT = Duration.ofSeconds(60);

  public static final String POLICY_TYPE = PayloadTypes.of("policy");

  /** The state of an empty ledger: nobody may do anything. */
  public static final SystemState NOTHING =
      new SystemState(
          Trust.of(List.of()),
          Optional.empty(),
          TreePSet.empty(),
          Governance.NOTHING,
          TreePMap.empty(),
          TreePMap.empty(),
          Placements.NOTHING);

  public SystemState {
    prohibited = Persistent.of(prohibited);
    holds = Persistent.of(holds);
    erasures = Persistent.of(erasures);
  }

  /**
   * Adds up the system run.
   *
   * @throws WritException with the code of the first document that is not valid
   */
  public static SystemState read(LedgerView ledger) {
    SystemState[] state = {NOTHING};
    ledger.events(RUN, 0, event -> state[0] = state[0].after(event, ledger));
    return state[0];
  }

  /**
   * Requires that a log key, where it is enrolled, is in force.
   *
   * @throws WritException {@code EXE-912}
   */
  public void requireLogKey(String kid, Instant at) {
    KernelSigningKeys.requireLog(trust, kid, at);
  }

  /**
   * Requires of a kernel's own key what the kernel does.
   *
   * @param isExecutorAlone whether its guardian is in another process
   * @throws WritException {@code EXE-912} where it is not in force
   */
  public void requireOwnKey(KeyRole role, String kid, boolean isExecutorAlone, Instant at) {
    if (role == KeyRole.LOG) {
      KernelSigningKeys.requireOwnLog(trust, kid, isExecutorAlone, at);
    } else {
      KernelSigningKeys.require(trust, role, kid, at);
    }
  }

  /**
   * The state after one event of the system run, whose document is verified under this state.
   *
   * @throws WritException with the code of what does not hold
   */
  public SystemState after(Event event, DocumentSource documents) {
    if (event.kind().equals(EventKind.RUN_OPENED)) {
      return this;
    }
    Envelope document =
        documents
            .document(event.body())
            .orElseThrow(
                () -> new WritException(ExecutorError.UNKNOWN_ID, event.body().toString()));
    return with(document, event.kind(), event.at());
  }

  /**
   * The state after any signed document of the system run.
   *
   * @param kind of its event
   * @throws WritException with the code of what does not hold
   */
  SystemState with(Envelope signed, String kind, Instant at) {
    String type = signed.payloadType();
    if (type.equals(POLICY_TYPE)) {
      return withPolicy(signed, at);
    }
    return type.equals(ToolSubmission.TYPE) || type.equals(ToolApproval.TYPE)
        ? withWord(signed, kind, at)
        : withChange(signed, kind, at);
  }

  /** The kind of the event that a document of this run is the body of. */
  static String kindOf(Envelope signed) {
    String type = signed.payloadType();
    if (type.equals(POLICY_TYPE)) {
      return EventKind.POLICY_ACTIVATED;
    }
    if (type.equals(ToolSubmission.TYPE)) {
      return EventKind.TOOL_SUBMITTED;
    }
    return type.equals(ToolApproval.TYPE)
        ? EventKind.TOOL_APPROVED
        : SystemChange.read(signed.document()).kind();
  }

  /** The state after a publisher's submission or an approver's word. */
  private SystemState withWord(Envelope signed, String kind, Instant at) {
    if (!kind.equals(kindOf(signed))) {
      throw new WritException(
          ExecutorError.MALFORMED, "the event says " + kind + ", its body " + kindOf(signed));
    }
    List<TrustedKey> signers = trust.verify(signed, signed.payloadType(), at);
    requireOfInstallation(signers);
    if (kind.equals(EventKind.TOOL_APPROVED)) {
      ToolApproval approval = ToolApproval.read(signed.document());
      return with(governance.said(approval, signers, policyInForce(), at));
    }
    ToolSubmission submission = ToolSubmission.read(signed.document());
    boolean gone = isProhibited(submission.tool().name(), submission.tool().version());
    return with(governance.submitted(submission, signers, policyInForce(), gone, at));
  }

  /**
   * The state after an operator's change. The first change of all enrols an operator's key and is
   * signed by it; every other change is signed by a key that is enrolled by then.
   *
   * @throws WritException {@code CAN-05x}, {@code CAN-06x}, {@code EXE-004}
   */
  private SystemState withChange(Envelope signed, String kind, Instant at) {
    SystemChange change = SystemChange.read(signed.document());
    if (!change.kind().equals(kind)) {
      throw new WritException(
          ExecutorError.MALFORMED, "the event says " + kind + ", its body " + change.kind());
    }
    Trust signers = trust.keys().isEmpty() ? founder(change) : trust;
    requireOfInstallation(signers.verify(signed, SystemChange.TYPE, at));
    requireNotAhead(change.changedAt(), at);
    return switch (kind) {
      case EventKind.KEY_ENROLLED -> {
        TrustedKey key = enrolled(change);
        yield withTrust(trust.withKey(key)).with(placements.named(key.tenant().stream()));
      }
      case EventKind.KEY_REVOKED -> withTrust(trust.withRevoked(change.revokedKey(), at));
      case EventKind.TOOL_REVOKED -> {
        SortedSet<String> more = Persistent.of(prohibited).plus(tool(change));
        yield new SystemState(trust, policy, more, governance, holds, erasures, placements)
            .governing();
      }
      case EventKind.TOOL_VALIDATED ->
          with(governance.validated(ToolValidation.read(change.detail())));
      case EventKind.TOOL_STAGED ->
          with(
              governance.staged(
                  ToolStaging.read(change.detail()),
                  policyInForce(),
                  this::isInForce,
                  change.changedAt()));
      case EventKind.RUNTIME_APPROVED ->
          with(governance.runtime(true, change.detail(), change.changedAt()));
      case EventKind.RUNTIME_WITHDRAWN ->
          with(governance.runtime(false, change.detail(), change.changedAt()));
      case EventKind.HOLD_PLACED -> held(LegalHold.read(change.detail()));
      case EventKind.HOLD_RELEASED -> released(LegalHold.released(change.detail()));
      case EventKind.CONTENTS_ERASED -> erased(signed.id(), ErasureOrder.read(change.detail()));
      case EventKind.TENANT_PLACED -> with(placements.with(TenantPlace.read(change.detail())));
      case EventKind.TENANT_MOVED ->
          with(placements.with(TenantMove.read(change.detail()), signed.id()));
      case EventKind.CELL_PLACED -> with(placements.with(CellRegions.read(change.detail())));
      case EventKind.LEDGER_INCARNATED -> this;
      case EventKind.CLOCK_CORRECTED -> corrected(ClockCorrection.read(change.detail()), at);
      default -> throw new WritException(ExecutorError.MALFORMED, "no change of kind " + kind);
    };
  }

  private SystemState held(LegalHold hold) {
    if (holds.containsKey(hold.name())) {
      throw new WritException(
          ExecutorError.MALFORMED, "the hold " + hold.name() + " is placed already");
    }
    SortedMap<String, LegalHold> more = Persistent.of(holds).plus(hold.name(), hold);
    return new SystemState(trust, policy, prohibited, governance, more, erasures, placements);
  }

  private SystemState released(String hold) {
    if (!holds.containsKey(hold)) {
      throw new WritException(ExecutorError.MALFORMED, "no hold " + hold + " is placed");
    }
    SortedMap<String, LegalHold> fewer = Persistent.of(holds).minus(hold);
    return new SystemState(trust, policy, prohibited, governance, fewer, erasures, placements);
  }

  private SystemState erased(Digest id, ErasureOrder order) {
    Optional<LegalHold> hold = holds.values().stream().filter(h -> keeps(h, order)).findFirst();
    if (hold.isPresent()) {
      throw new WritException(
          ExecutorError.ERASURE_HELD, "the hold " + hold.get().name() + " keeps " + order);
    }
    if (erasures.containsKey(id)) {
      throw new WritException(ExecutorError.MALFORMED, "the order " + id + " was given already");
    }
    SortedMap<Digest, ErasureOrder> more = Persistent.of(erasures).plus(id, order);
    return new SystemState(trust, policy, prohibited, governance, holds, more, placements);
  }

  /** Whether a hold keeps all that an order is about; one of a single run keeps that run alone. */
  private static boolean keeps(LegalHold hold, ErasureOrder order) {
    return hold.tenant().equals(order.tenant())
        && (hold.run().isEmpty() || hold.run().equals(order.run()));
  }

  /** Whether a hold keeps the contents of a run. */
  public boolean isHeld(RunId run) {
    return holds.values().stream().anyMatch(hold -> hold.covers(run));
  }

  /** If time went back, later times in governance become the corrected time. */
  private SystemState corrected(ClockCorrection correction, Instant at) {
    if (!correction.to().equals(at)) {
      throw new WritException(
          ExecutorError.CLOCK_CORRECTION, "its event is of " + at + ", it says " + correction.to());
    }
    return correction.goesBack() ? with(governance.notAfter(at)) : this;
  }

  /** A key of one tenant cannot sign for the installation. */
  private static void requireOfInstallation(List<TrustedKey> signers) {
    for (TrustedKey signer : signers) {
      if (signer.tenant().isPresent()) {
        throw new WritException(
            CanonicalizeError.KEY_ROLE,
            "key " + signer.kid() + " is of the tenant " + signer.tenant().get());
      }
    }
  }

  static void requireNotAhead(Instant said, Instant at) {
    if (said.isAfter(at.plus(Admission.SKEW))) {
      throw new WritException(ExecutorError.ORDER_TIME, "said at " + said + ", now " + at);
    }
  }

  private static Trust founder(SystemChange change) {
    if (!change.kind().equals(EventKind.KEY_ENROLLED)) {
      throw new WritException(
          ExecutorError.MALFORMED, "the first change is " + change.kind() + ", no key is enrolled");
    }
    TrustedKey first = enrolled(change);
    if (first.role() != KeyRole.OPERATOR) {
      throw new WritException(
          ExecutorError.MALFORMED, "the first key is of role " + first.role().text());
    }
    return Trust.of(List.of(first));
  }

  private static TrustedKey enrolled(SystemChange change) {
    TrustedKey key = TrustedKey.fromJson("detail", change.detail());
    if (key.tenant().filter(RUN.tenant()::equals).isPresent()) {
      throw new WritException(
          ExecutorError.MALFORMED, "the tenant " + RUN.tenant() + " is the installation's own");
    }
    return key;
  }

  private static String tool(SystemChange change) {
    Fields fields = Fields.of("detail", change.detail());
    String tool = prohibitedName(fields.name("tool"), fields.name("version"));
    fields.end();
    return tool;
  }

  static String prohibitedName(String tool, String version) {
    return tool + " " + version;
  }

  private SystemState withTrust(Trust changed) {
    return new SystemState(changed, policy, prohibited, governance, holds, erasures, placements);
  }

  private SystemState with(Governance changed) {
    return new SystemState(trust, policy, prohibited, changed, holds, erasures, placements)
        .governing();
  }

  private SystemState with(Placements changed) {
    return new SystemState(trust, policy, prohibited, governance, holds, erasures, changed);
  }

  /** The same, with the policy's governed tools brought up to date. */
  private SystemState governing() {
    Rollout rollout = governance.rollout(prohibited);
    return new SystemState(
        trust,
        policy.map(p -> p.with(rollout)),
        prohibited,
        governance,
        holds,
        erasures,
        placements);
  }

  private boolean isInForce(String kid) {
    return trust.key(kid).filter(key -> key.revokedAt().isEmpty()).isPresent();
  }

  /**
   * The state under the next policy, which names the one before (protocol rule 26).
   *
   * @throws WritException {@code EXE-906}, {@code CAN-05x}, {@code CAN-06x}, {@code GRD-5xx}
   */
  SystemState withPolicy(Envelope signed, Instant at) {
    requireOfInstallation(trust.verify(signed, POLICY_TYPE, at));
    Policy next = Policy.ofCanonical(signed.document());
    boolean follows =
        policy.isEmpty()
            ? next.previous().isEmpty()
            : next.version() > policy.get().version()
                && next.previous().equals(Optional.of(policy.get().digest()));
    if (!follows) {
      throw new WritException(
          ExecutorError.POLICY_ORDER,
          "version "
              + next.version()
              + " after "
              + next.previous().map(Digest::toString).orElse("none")
              + "; in force is "
              + policy.map(p -> "version " + p.version() + ", " + p.digest()).orElse("none"));
    }
    return new SystemState(
            trust,
            Optional.of(next),
            prohibited,
            governance,
            holds,
            erasures,
            placements.named(next.tenants()))
        .governing();
  }

  /**
   * The policy, including governed tools.
   *
   * @throws WritException {@code EXE-911}
   */
  public Policy policyInForce() {
    return policy.orElseThrow(() -> new WritException(ExecutorError.NO_POLICY, ""));
  }

  /** How far the clock may step; defaults before there is a policy. */
  ClockLimits clockLimits() {
    return policy.map(p -> p.limits().clock()).orElse(ClockLimits.DEFAULT);
  }

  public boolean isProhibited(String tool, String version) {
    return prohibited.contains(prohibitedName(tool, version));
  }
}
