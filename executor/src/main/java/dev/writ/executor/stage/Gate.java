package dev.writ.executor.stage;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.stage.Preflight.Order;
import dev.writ.guardian.document.Audience;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.DocumentSource;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Stage 1: the cryptographic gate. It precedes the look-up of stored outcomes, since an unsigned
 * decision with a known id must get nothing (protocol rule 11). An order that it refuses was never
 * issued here or does not belong to the submitter, and leaves no trace in the journal.
 */
public final class Gate {
  private static final Duration SKEW = Duration.ofSeconds(2);

  private final Supplier<Audience> audience;
  private final DocumentSource words;
  private final boolean asksStanding;

  /** Where no approvals are at hand. */
  public Gate(Audience audience) {
    this(() -> audience, _ -> Optional.empty());
  }

  /**
   * @param words has the approvals that a decision counts
   */
  public Gate(Supplier<Audience> audience, DocumentSource words) {
    this(audience, words, true);
  }

  private Gate(Supplier<Audience> audience, DocumentSource words, boolean asksStanding) {
    this.audience = audience;
    this.words = words;
    this.asksStanding = asksStanding;
  }

  /**
   * The same as it was up to November 2026, for the replay of what it let through: it did not ask
   * whether the keys of who allowed an effect stand.
   */
  public Gate asFormerly() {
    return new Gate(audience, words, false);
  }

  /** The same for a log of another process, which may begin another incarnation. */
  public Gate in(Supplier<Audience> other) {
    return new Gate(other, words, asksStanding);
  }

  /**
   * Signatures, verdict, binding, audience, holder: all checks but the expiry.
   *
   * @throws WritException {@code EXE-101} to {@code EXE-106}
   */
  public void pass(Order order, Trust trust, Policy policy, Instant now) {
    verify(order.decisionEnvelope(), Decision.TYPE, trust, now, ExecutorError.DECISION_SIGNATURE);
    if (order.decision().verdict() != Verdict.ALLOW) {
      throw new WritException(
          ExecutorError.VERDICT,
          order.decision().verdict() + order.decision().code().map(c -> " " + c).orElse(""));
    }
    verify(order.intentEnvelope(), Intent.TYPE, trust, now, ExecutorError.INTENT_SIGNATURE);
    bind(order);
    if (!order.intent().audience().equals(audience.get())) {
      throw new WritException(
          ExecutorError.AUDIENCE, order.intent().audience() + ", this is " + audience.get());
    }
    holder(order, policy);
  }

  /**
   * Whether the intent may be served at this moment.
   *
   * @throws WritException {@code EXE-107}
   */
  public void requireUnexpired(Intent intent, Instant now) {
    Instant longest = intent.issuedAt().plus(Intent.LIFE_MAX);
    Instant end = intent.expiresAt().isBefore(longest) ? intent.expiresAt() : longest;
    if (!now.isBefore(end) || now.isBefore(intent.issuedAt().minus(SKEW))) {
      throw new WritException(
          ExecutorError.EXPIRED,
          "valid from " + intent.issuedAt() + " until before " + end + ", now " + now);
    }
  }

  /**
   * Requires that nobody's key was revoked by whose word the effect was allowed, approver or
   * delegator. The request is judged again then, without that word.
   *
   * @throws WritException {@code EXE-107}
   */
  public void requireStanding(Order order, Trust trust) {
    requireStanding(order, trust, words);
  }

  /**
   * The same.
   *
   * @param brought has approvals beside those that are at hand here
   * @throws WritException {@code EXE-107}
   */
  public void requireStanding(Order order, Trust trust, DocumentSource brought) {
    AllowedBy.revoked(
            order.decision(),
            order.request(),
            trust,
            id -> words.document(id).or(() -> brought.document(id)))
        .filter(_ -> asksStanding)
        .ifPresent(key -> {
          throw new WritException(
              ExecutorError.EXPIRED,
              "the key " + key.kid() + " of " + key.subject() + ", who allowed it, was revoked");
        });
  }

  private static void verify(
      Envelope envelope, String type, Trust trust, Instant now, ErrorCode code) {
    try {
      trust.verify(envelope, type, now);
    } catch (WritException e) {
      throw new WritException(code, e.code().code() + " " + e.found(), e);
    }
  }

  private static void bind(Order order) {
    Decision decision = order.decision();
    Intent intent = order.intent();
    same("intent's decision", intent.decision(), order.decisionEnvelope().id());
    same("request", intent.request(), decision.request());
    same("tenant, run or subject", intent.scope(), decision.scope());
    same("tenant, run or subject", intent.scope(), order.request().scope());
    same("holder", intent.holder(), decision.holder());
    same("decision's effect", decision.effect(), order.effectDigest());
    same("intent's effect", intent.effect(), order.effectDigest());
    same("tool", intent.tool().name(), order.request().effect().tool());
    same("tool version", intent.tool().version(), order.request().effect().version());
    same("run", intent.scope().run(), order.submission().run().id().run());
    same("tenant", intent.scope().tenant(), order.submission().run().id().tenant());
  }

  private static void same(String what, Object one, Object other) {
    if (!one.equals(other)) {
      throw new WritException(ExecutorError.BINDING, what + " is " + one + " and " + other);
    }
  }

  private static void holder(Order order, Policy policy) {
    var submitter = order.submission().submitter();
    if (submitter.kid().equals(order.intent().holder())) {
      return;
    }
    boolean sameTenant =
        submitter.tenant().filter(order.intent().scope().tenant()::equals).isPresent();
    if (!sameTenant
        || !policy.mayExecuteFor(order.intent().scope().tenant(), submitter.subject())) {
      throw new WritException(ExecutorError.HOLDER, "key " + submitter.kid());
    }
  }
}
