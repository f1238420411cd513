package dev.writ.guardian;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.guardian.document.Delegation;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.Policy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The delegations inside a request: from the principal, link by link, to its signer (protocol rule
 * 9).
 */
final class DelegationChain {
  static final int LINKS_MAX = 4;

  private DelegationChain() {}

  /**
   * @return the subjects that the request is charged to: its own, then the delegators
   * @throws WritException {@code GRD-60x}, {@code CAN-05x}, {@code CAN-06x}
   */
  static List<String> verify(
      Request request, TrustedKey holder, Trust trust, Policy policy, Instant now) {
    LinkedHashSet<String> charged = new LinkedHashSet<>();
    charged.add(request.scope().subject());
    List<Envelope> envelopes = request.delegations();
    if (envelopes.size() > LINKS_MAX) {
      throw new WritException(
          GuardianError.DELEGATION_COUNT, envelopes.size() + ", at most " + LINKS_MAX);
    }
    List<Delegation> links = read(envelopes);
    requireChain(links, holder);
    for (int i = 0; i < links.size(); i++) {
      requireShrinks(links.get(i), i == 0 ? Optional.empty() : Optional.of(links.get(i - 1)), i);
      requireCovers(links.get(i), request, now, i);
    }
    for (int i = 0; i < links.size(); i++) {
      charged.add(requireSigned(envelopes.get(i), links.get(i), trust, policy, now, i));
    }
    return List.copyOf(charged);
  }

  /** The links of an admitted request; their signatures are not verified again. */
  static List<Delegation> read(List<Envelope> envelopes) {
    return envelopes.stream().map(e -> Delegation.read(e.document())).toList();
  }

  private static void requireChain(List<Delegation> links, TrustedKey holder) {
    List<String> keys = new ArrayList<>();
    for (Delegation link : links) {
      if (!keys.isEmpty() && !keys.getLast().equals(link.from())) {
        throw new WritException(
            GuardianError.DELEGATION_CHAIN,
            "link " + keys.size() + " is from " + link.from() + ", after one to " + keys.getLast());
      }
      if (keys.isEmpty()) {
        keys.add(link.from());
      }
      keys.add(link.to());
    }
    if (!keys.isEmpty() && !keys.getLast().equals(holder.kid())) {
      throw new WritException(
          GuardianError.DELEGATION_CHAIN,
          "it ends with " + keys.getLast() + ", the signer is " + holder.kid());
    }
    if (new TreeSet<>(keys).size() != keys.size()) {
      throw new WritException(GuardianError.DELEGATION_CHAIN, "a key stands in it twice");
    }
  }

  private static void requireShrinks(Delegation link, Optional<Delegation> before, int i) {
    if (before.isEmpty()) {
      return;
    }
    Delegation wider = before.get();
    if (!wider.tenant().equals(link.tenant()) || !wider.tools().containsAll(link.tools())) {
      throw new WritException(
          GuardianError.DELEGATION_SCOPE,
          "link "
              + (i + 1)
              + " is wider: "
              + link.tenant()
              + " "
              + link.tools()
              + " after "
              + wider.tenant()
              + " "
              + wider.tools());
    }
    if (link.expiresAt().isAfter(wider.expiresAt())) {
      throw new WritException(
          GuardianError.DELEGATION_TIME,
          "link "
              + (i + 1)
              + " ends at "
              + Timestamps.format(link.expiresAt())
              + ", the one before"
              + " at "
              + Timestamps.format(wider.expiresAt()));
    }
    if (link.depth() >= wider.depth()) {
      throw new WritException(
          GuardianError.DELEGATION_DEPTH,
          "link " + (i + 1) + " has " + link.depth() + " after " + wider.depth());
    }
  }

  private static void requireCovers(Delegation link, Request request, Instant now, int i) {
    if (!link.tenant().equals(request.scope().tenant())
        || !link.tools().contains(request.effect().tool())) {
      throw new WritException(
          GuardianError.DELEGATION_SCOPE,
          "link "
              + (i + 1)
              + " is for "
              + link.tenant()
              + " "
              + link.tools()
              + ", the request for "
              + request.scope().tenant()
              + " "
              + request.effect().tool());
    }
    if (now.isBefore(link.notBefore()) || !now.isBefore(link.expiresAt())) {
      throw new WritException(
          GuardianError.DELEGATION_TIME,
          "link "
              + (i + 1)
              + " holds from "
              + Timestamps.format(link.notBefore())
              + " to "
              + Timestamps.format(link.expiresAt())
              + ", now is "
              + Timestamps.format(now));
    }
  }

  /**
   * Returns the delegator's subject, which must be a principal of the policy, since it is charged.
   */
  private static String requireSigned(
      Envelope envelope, Delegation link, Trust trust, Policy policy, Instant now, int i) {
    if (policy.revokes(envelope.id())) {
      throw new WritException(GuardianError.DOCUMENT_REVOKED, envelope.id().toString());
    }
    List<TrustedKey> signers = trust.verify(envelope, Delegation.TYPE, now);
    TrustedKey giver = signers.getFirst(); // all signers are one holder
    if (giver.tenant().filter(link.tenant()::equals).isEmpty()) {
      throw new WritException(
          GuardianError.DELEGATION_SIGNER,
          "link "
              + (i + 1)
              + " is of tenant "
              + link.tenant()
              + ", its key of "
              + giver.tenant().orElse("no tenant")
              + "/"
              + giver.subject());
    }
    if (signers.stream().noneMatch(s -> s.kid().equals(link.from()))) {
      throw new WritException(
          GuardianError.DELEGATION_SIGNER,
          "link " + (i + 1) + " is from " + link.from() + ", signed by " + giver.kid());
    }
    if (policy.principal(link.tenant(), giver.subject()).isEmpty()) {
      throw new WritException(
          GuardianError.PRINCIPAL_UNKNOWN, link.tenant() + "/" + giver.subject());
    }
    return giver.subject();
  }
}
