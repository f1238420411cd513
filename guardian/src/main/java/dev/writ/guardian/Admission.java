package dev.writ.guardian;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.dsse.SignatureCheck;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.Principal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Admits or refuses a request, by the cheapest check first (protocol rule 5): size, form, a known
 * key, the subject that it may act for, age, signature, delegations. {@link Accounts}, which own
 * the nonces, check the nonce. A request that is refused here is not recorded.
 */
public final class Admission {
  /** How far a sender's clock may run ahead. */
  public static final Duration SKEW = Duration.ofSeconds(2);

  private Admission() {}

  /**
   * @param now when it was received
   * @throws WritException {@code GRD-002} to {@code GRD-008}, {@code GRD-60x}, {@code CAN-0xx}
   */
  public static Admitted admit(Envelope envelope, Trust trust, Policy policy, Instant now) {
    return readmit(envelope, trust, policy, now, now);
  }

  /**
   * The first two checks alone, size and form, for a caller that has bytes.
   *
   * @throws WritException {@code GRD-002}, {@code CAN-0xx}
   */
  public static Envelope parse(byte[] envelopeBytes, Policy policy) {
    requireSize(envelopeBytes.length, policy);
    return Envelope.parse(envelopeBytes);
  }

  private static void requireSize(long bytes, Policy policy) {
    long max = policy.limits().requestBytesMax();
    if (bytes > max) {
      throw new WritException(GuardianError.REQUEST_TOO_LARGE, bytes + " bytes, at most " + max);
    }
  }

  /**
   * Admits a request again that was received before and waits. Its age is that at its first
   * reception; keys, delegations and policy are those of now (protocol rule 8).
   */
  public static Admitted readmit(
      Envelope envelope, Trust trust, Policy policy, Instant receivedAt, Instant now) {
    return readmit(envelope, trust, policy, receivedAt, now, SignatureCheck.SINGLY);
  }

  /**
   * The same.
   *
   * @param check verifies the request's signatures, after the cheaper checks
   */
  public static Admitted readmit(
      Envelope envelope,
      Trust trust,
      Policy policy,
      Instant receivedAt,
      Instant now,
      SignatureCheck check) {
    requireSize(envelope.size(), policy);
    requireKnownSigners(envelope, trust);
    JsonValue document = envelope.document();
    requireFewDelegations(document);
    Request request = Request.read(document);
    for (Envelope.Signature signature : envelope.signatures()) {
      requireSpeaksFor(trust.key(signature.kid()).orElseThrow(), request);
    }
    requireFresh(request, policy, Timestamps.truncate(receivedAt));
    List<TrustedKey> signers = trust.verify(envelope, Request.TYPE, now, check);
    TrustedKey holder = signers.getFirst();
    requireOrigin(holder, request, policy);
    List<String> charged = DelegationChain.verify(request, holder, trust, policy, now);
    return new Admitted(
        envelope, request, envelope.id(), holder, charged, Timestamps.truncate(receivedAt));
  }

  /**
   * The checks without a curve operation: the type, and that each key is known and has the right
   * role.
   */
  private static void requireKnownSigners(Envelope envelope, Trust trust) {
    if (!envelope.payloadType().equals(Request.TYPE)) {
      throw new WritException(
          CanonicalizeError.PAYLOAD_TYPE, envelope.payloadType() + " instead of " + Request.TYPE);
    }
    for (Envelope.Signature signature : envelope.signatures()) {
      TrustedKey key =
          trust
              .key(signature.kid())
              .orElseThrow(
                  () -> new WritException(CanonicalizeError.KEY_UNKNOWN, "key " + signature.kid()));
      if (!key.role().maySign(Request.TYPE)) {
        throw new WritException(
            CanonicalizeError.KEY_ROLE, "key " + key.kid() + " is of role " + key.role().text());
      }
    }
  }

  /** Before the delegations are parsed, each of which is an envelope of any size. */
  private static void requireFewDelegations(JsonValue document) {
    if (document instanceof JsonValue.Obj object
        && object.get("delegations") instanceof JsonValue.Arr list
        && list.items().size() > DelegationChain.LINKS_MAX) {
      throw new WritException(
          GuardianError.DELEGATION_COUNT,
          list.items().size() + ", at most " + DelegationChain.LINKS_MAX);
    }
    Fields.of("request", document);
  }

  /** A surface may vouch for those subjects of its tenant that policy names. */
  private static void requireSpeaksFor(TrustedKey key, Request request) {
    boolean sameTenant = key.tenant().filter(request.scope().tenant()::equals).isPresent();
    boolean sameSubject =
        key.role() == KeyRole.SURFACE || key.subject().equals(request.scope().subject());
    if (!sameTenant || !sameSubject) {
      throw new WritException(
          GuardianError.SIGNER_MISMATCH,
          "the request is of "
              + request.scope().tenant()
              + "/"
              + request.scope().subject()
              + ", key "
              + key.kid()
              + " of "
              + key.tenant().orElse("no tenant")
              + "/"
              + key.subject());
    }
  }

  private static void requireFresh(Request request, Policy policy, Instant receivedAt) {
    if (isFresh(request, policy, receivedAt)) {
      return;
    }
    Instant at = request.requestedAt();
    String times =
        "requested at " + Timestamps.format(at) + ", received at " + Timestamps.format(receivedAt);
    if (at.isAfter(receivedAt)) {
      throw new WritException(GuardianError.REQUEST_FROM_FUTURE, times);
    }
    throw new WritException(
        GuardianError.REQUEST_TOO_OLD,
        times + ", at most " + policy.limits().requestAgeMaxS() + " s");
  }

  private static boolean isFresh(Request request, Policy policy, Instant receivedAt) {
    Instant at = request.requestedAt();
    return !at.minus(SKEW).isAfter(receivedAt)
        && !at.plusSeconds(policy.limits().requestAgeMaxS()).isBefore(receivedAt);
  }

  private static void requireOrigin(TrustedKey holder, Request request, Policy policy) {
    String tenant = request.scope().tenant();
    String subject = request.scope().subject();
    Principal principal =
        policy
            .principal(tenant, subject)
            .orElseThrow(
                () -> new WritException(GuardianError.PRINCIPAL_UNKNOWN, tenant + "/" + subject));
    if (holder.role() == KeyRole.SURFACE) {
      String surface = request.origin().map(o -> o.surface()).orElse("");
      if (!surface.equals(holder.subject()) || !principal.surfaces().contains(surface)) {
        throw new WritException(
            GuardianError.ORIGIN_REFUSED,
            "surface "
                + holder.subject()
                + ", origin \""
                + surface
                + "\", policy lets "
                + principal.surfaces()
                + " vouch for "
                + subject);
      }
    } else if (request.origin().isPresent()) {
      throw new WritException(
          GuardianError.ORIGIN_REFUSED, "an agent's own request states an origin");
    }
  }
}
