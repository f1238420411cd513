package dev.writ.executor.stage;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.DocumentSource;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The keys by whose word an effect was allowed, beside the Guardian's: of the approvers whom its
 * decision counts, and of who delegated. An intent is minutes old when it is served, and what a key
 * allowed must not happen after it was revoked.
 */
public final class AllowedBy {
  private AllowedBy() {}

  /**
   * One of these keys that is revoked; empty where all of them stand.
   *
   * @param words has the approvals, which may have several signatures; of one that it lacks the key
   *     counts that the decision names
   */
  public static Optional<TrustedKey> revoked(
      Decision decision, Request request, Trust trust, DocumentSource words) {
    return Stream.concat(approvers(decision, words), delegators(request))
        .flatMap(kid -> trust.key(kid).stream())
        .filter(key -> key.revokedAt().isPresent())
        .findFirst();
  }

  /** Most decisions have none, and are not read for them. */
  private static Stream<String> approvers(Decision decision, DocumentSource words) {
    boolean none =
        !(decision.inputs().get("approvals") instanceof JsonValue.Arr seen)
            || seen.items().isEmpty();
    return none
        ? Stream.empty()
        : JudgeInputs.read(decision.inputs()).approvals().stream()
            .filter(seen -> seen.verdict() == Approval.Verdict.APPROVE)
            .flatMap(seen ->
                words
                    .document(seen.id())
                    .map(AllowedBy::signers)
                    .orElseGet(() -> Stream.of(seen.kid())));
  }

  private static Stream<String> delegators(Request request) {
    return request.delegations().stream().flatMap(AllowedBy::signers);
  }

  private static Stream<String> signers(Envelope word) {
    return word.signatures().stream().map(Envelope.Signature::kid);
  }
}
