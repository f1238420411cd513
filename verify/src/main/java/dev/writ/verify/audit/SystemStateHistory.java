package dev.writ.verify.audit;

import static dev.writ.executor.error.ExecutorError.CLOCK_CORRECTION;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.Placements;
import dev.writ.executor.SystemState;
import dev.writ.executor.document.ClockCorrection;
import dev.writ.executor.document.ErasureOrder;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.document.Audience;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.VersionRule;
import dev.writ.guardian.policy.governance.CanaryDraw;
import dev.writ.guardian.policy.governance.GovernedTool;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.form.LogTime;
import dev.writ.verify.error.AuditError;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What is in force at one place of the log: the sum of the system run up to there. Signatures are
 * verified under it (protocol rule 25).
 *
 * <p>A change is in force for the kernel a moment after its event, and an effect in flight reaches
 * the log after it was judged. What comes after a revocation, and says by the kernel's clock that
 * it happened before or within {@link #IN_FLIGHT} of it, is counted apart and not taken for forged.
 */
final class SystemStateHistory {
  /** How long after a change the kernel may still act on what was before it. */
  static final Duration IN_FLIGHT = SystemState.IN_FLIGHT;

  private final DocumentSource documents;
  private final String origin;
  private final Findings findings;
  private SystemState state = SystemState.NOTHING;

  /** The rules of tools before changes, which may still have been acted on for a moment. */
  private final TreeMap<Instant, List<SystemState>> past = new TreeMap<>();

  private final TreeMap<Digest, Policy> policies = new TreeMap<>();
  private final TreeMap<Digest, Instant> superseded = new TreeMap<>();
  private final TreeMap<String, Instant> prohibited = new TreeMap<>();
  private final TreeMap<String, Long> revocations = new TreeMap<>();
  private final TreeMap<Instant, List<String>> revoked = new TreeMap<>();
  private final TreeMap<Digest, Instant> erasures = new TreeMap<>();
  private final LogTime time = LogTime.begin();
  private final List<Long> restarts = new ArrayList<>();
  private final boolean wholeLog;
  private Audience audience;
  private long index;
  long changes;

  /**
   * @param wholeLog whether it is given every event of the log, or those of two runs
   */
  SystemStateHistory(DocumentSource documents, String origin, Findings findings, boolean wholeLog) {
    this.wholeLog = wholeLog;
    this.documents = documents;
    this.origin = origin;
    this.findings = findings;
    this.audience = new Audience(origin, 1);
  }

  /** Takes the time of the log's next event; a correction of the clock may set it back. */
  void time(long index, Event event) {
    this.index = index;
    try {
      correction(event).ifPresent(correction -> correct(index, correction, event));
      time.take(event.at());
    } catch (WritException e) {
      findings.problem(
          AuditError.TIME, Findings.place(event), event.at(), "not before " + time.earliest());
    }
  }

  private void correct(long index, ClockCorrection correction, Event event) {
    String place = Findings.place(event) + " /detail";
    findings.same(CLOCK_CORRECTION, place + "/tree_size", correction.treeSize(), index);
    if (wholeLog || correction.from().isBefore(time.latest())) {
      findings.same(CLOCK_CORRECTION, place + "/from", correction.from(), time.latest());
    }
    if (correction.goesBack()) {
      restarts.add(index);
      time.restart(event.at());
      settle();
    }
  }

  /** What was in flight when time went back is void: what ended before, ended long before. */
  private void settle() {
    past.clear();
    superseded.replaceAll((_, _) -> Instant.MIN);
    prohibited.replaceAll((_, _) -> Instant.MIN);
    revoked.clear();
  }

  /** One that holds; what is wrong with another is found with the change itself. */
  private Optional<ClockCorrection> correction(Event event) {
    if (!event.kind().equals(EventKind.CLOCK_CORRECTED) || !event.runId().equals(SystemState.RUN)) {
      return Optional.empty();
    }
    try {
      state.after(event, documents);
      return Optional.of(
          ClockCorrection.read(
              SystemChange.read(documents.document(event.body()).orElseThrow().document())
                  .detail()));
    } catch (WritException e) {
      return Optional.empty();
    }
  }

  /** Positions of the corrections that set time back. */
  List<Long> restarts() {
    return restarts;
  }

  /** Takes an event of the system run. An event that is not valid changes nothing. */
  void system(Event event) {
    findings.seed(AuditError.SYSTEM, event, false);
    Optional<Policy> before = state.policy();
    Optional<Digest> inForce = before.map(Policy::digest);
    SystemState after;
    try {
      after = state.after(event, documents);
      Optional<Long> incarnation = incarnation(event);
      if (incarnation.isPresent()) {
        audience = new Audience(origin, incarnation.get());
      }
    } catch (WritException e) {
      findings.problem(AuditError.SYSTEM, Findings.place(event), e, "a change that holds");
      return;
    }
    boolean samePolicy = after.policy().map(Policy::digest).equals(inForce);
    if (event.kind().equals(EventKind.POLICY_ACTIVATED) == samePolicy) {
      findings.problem(
          AuditError.SYSTEM, Findings.place(event), event.kind(), "a change of policy");
    }
    if (!samePolicy) {
      Policy policy = after.policyInForce();
      policies.put(policy.digest(), policy);
      before.ifPresent(p -> superseded.put(p.digest(), event.at()));
    }
    after.prohibited().forEach(tool -> prohibited.putIfAbsent(tool, event.at()));
    keep(after, event.at());
    if (event.kind().equals(EventKind.KEY_REVOKED)) {
      change(event)
          .map(SystemChange::revokedKey)
          .ifPresent(kid -> {
            revocations.put(kid, index);
            revoked.computeIfAbsent(event.at(), _ -> new ArrayList<>()).add(kid);
          });
    }
    if (event.kind().equals(EventKind.CONTENTS_ERASED)) {
      // Times of a log in which time went back do not tell what was before.
      erasures.put(
          event.body(), restarts.isEmpty() ? event.at().plus(ErasureOrder.LATENESS) : Instant.MAX);
    }
    state = after;
    changes++;
  }

  /**
   * Most changes are of keys, and leave the policy as it is; each change of governance or of what
   * is prohibited makes another, which has it.
   */
  private void keep(SystemState after, Instant until) {
    if (!after.policy().equals(state.policy())) {
      past.computeIfAbsent(until, _ -> new ArrayList<>()).addFirst(state);
    }
    past.headMap(time.earliest().minus(IN_FLIGHT)).clear();
  }

  /** The operator's change that an event is of; a policy or a word on a tool is none. */
  private Optional<SystemChange> change(Event event) {
    Envelope document = documents.document(event.body()).orElseThrow();
    return document.payloadType().equals(SystemChange.TYPE)
        ? Optional.of(SystemChange.read(document.document()))
        : Optional.empty();
  }

  /** The incarnation that begins with an event. */
  private Optional<Long> incarnation(Event event) {
    Optional<Long> next = change(event).flatMap(SystemChange::incarnation);
    if (next.filter(n -> n <= audience.incarnation()).isPresent()) {
      throw new WritException(
          ExecutorError.MALFORMED,
          "incarnation " + next.get() + " after " + audience.incarnation());
    }
    return next;
  }

  /** At the end of the log: whether it is of the incarnation that its events name. */
  void end(long incarnation) {
    findings.same(AuditError.SYSTEM, "incarnation", incarnation, audience.incarnation());
  }

  /**
   * An order of erasure that was given before.
   *
   * @param latest until when an event may be that names a content which it covers
   */
  record Erasure(ErasureOrder order, Instant latest) {}

  Optional<Erasure> erasure(Digest id) {
    return Optional.ofNullable(state.erasures().get(id))
        .map(order -> new Erasure(order, erasures.get(id)));
  }

  Audience audience() {
    return audience;
  }

  Trust trust() {
    return state.trust();
  }

  /** The policy in force at this place of the log. */
  Optional<Policy> policyHere() {
    return state.policy();
  }

  /** Where operators have put tenants and cells at this place of the log. */
  Placements placements() {
    return state.placements();
  }

  /** Whether a hold keeps the contents of a run at this place of the log. */
  boolean isHeld(RunId run) {
    return state.isHeld(run);
  }

  /** Where in the log each revoked key was revoked. */
  TreeMap<String, Long> revocations() {
    return revocations;
  }

  /** Every policy that was in force up to here. */
  TreeMap<Digest, Policy> policies() {
    return policies;
  }

  /**
   * The policy that a decision names: it must have been in force, and not be superseded long
   * before.
   */
  Optional<Policy> policy(Digest named, Instant decidedAt, String place) {
    Optional<Policy> policy = Optional.ofNullable(policies.get(named));
    Instant until = superseded.get(named);
    if (policy.isEmpty() || until != null && decidedAt.isAfter(until.plus(IN_FLIGHT))) {
      findings.problem(
          AuditError.SYSTEM,
          place + " /policy",
          named,
          state.policy().map(p -> p.digest().toString()).orElse("none in force"));
    } else if (until != null) {
      findings.late(place, "its policy was superseded at " + until);
    }
    return policy;
  }

  /**
   * A policy as governance had completed it when a decision was made: as it is here, or as it was a
   * moment before where that is what the decision recorded.
   *
   * @param policy that was in force
   * @param recorded what the decision says of the tool
   */
  Policy governing(
      Policy policy, Effect effect, Optional<GovernedTool> recorded, Instant at, String place) {
    Policy now = completed(policy, state);
    if (governed(now, effect).equals(recorded)) {
      return now;
    }
    for (var inFlight : past.tailMap(at.minus(IN_FLIGHT), true).descendingMap().entrySet()) {
      for (SystemState before : inFlight.getValue()) {
        Policy then = completed(policy, before);
        if (governed(then, effect).equals(recorded)) {
          findings.late(place, "governance of its tool changed at " + inFlight.getKey());
          return then;
        }
      }
    }
    return now;
  }

  private static Optional<GovernedTool> governed(Policy policy, Effect effect) {
    return policy.governed(effect.tool(), effect.version());
  }

  private static Policy completed(Policy policy, SystemState at) {
    return policy.with(at.governance().rollout(at.prohibited()));
  }

  /** Whether policy had a tool run for that call, by what was in force up to a moment ago. */
  boolean ranLately(ToolRef tool, CanaryDraw draw, Instant at) {
    return runs(tool, draw)
        || past.tailMap(at.minus(IN_FLIGHT)).values().stream()
            .flatMap(List::stream)
            .anyMatch(before -> runs(before, tool, draw));
  }

  /** Whether policy has a tool run for that call now. */
  boolean runs(ToolRef tool, CanaryDraw draw) {
    return runs(state, tool, draw);
  }

  private static boolean runs(SystemState state, ToolRef tool, CanaryDraw draw) {
    return state
        .policy()
        .flatMap(p -> p.tool(tool.name(), tool.version()))
        .filter(approved -> approved.ref().equals(tool))
        .filter(approved -> VersionRule.mayRun(approved, draw))
        .isPresent();
  }

  /** Since when the tool is prohibited. */
  Optional<Instant> prohibited(ToolRef tool) {
    return Optional.ofNullable(prohibited.get(tool.name() + " " + tool.version()));
  }

  /** Whether what ended then cannot have been in force any more for work that was in flight. */
  static boolean isLongBefore(Instant ended, Instant at) {
    return at.isAfter(ended.plus(IN_FLIGHT));
  }

  /**
   * Verifies a document of an event.
   *
   * @return its signers; none where it is not valid; the problem is reported by then
   */
  List<TrustedKey> verify(Envelope envelope, String type, Instant at, String place) {
    try {
      List<TrustedKey> signers = signers(envelope, type, at, place);
      findings.signatures++;
      return signers;
    } catch (WritException e) {
      findings.problem(AuditError.SIGNATURE, place, e, "a signature that holds for " + type);
      return List.of();
    }
  }

  private List<TrustedKey> signers(Envelope envelope, String type, Instant at, String place) {
    try {
      return state.trust().verify(envelope, type, at);
    } catch (WritException e) {
      if (e.code() != CanonicalizeError.KEY_REVOKED) {
        throw e;
      }
      List<TrustedKey> signers = inFlight(at).verify(envelope, type, at);
      findings.late(place, "its key was revoked");
      return signers;
    }
  }

  /** The trust as work in flight at that time may still have known it. */
  Trust inFlight(Instant at) {
    Trust known = state.trust();
    for (List<String> kids : revoked.tailMap(at.minus(IN_FLIGHT)).values()) {
      for (String kid : kids) {
        known = known.beforeRevocation(kid);
      }
    }
    return known;
  }
}
