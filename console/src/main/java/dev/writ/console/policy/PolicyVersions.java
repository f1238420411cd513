package dev.writ.console.policy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.SystemState;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.PolicyAdvice;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.replay.proposal.PolicyText;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The policies that were put in force, as the system run has them. */
final class PolicyVersions {
  private static final String PREVIOUS = "previous";

  private final LedgerView ledger;

  PolicyVersions(LedgerView ledger) {
    this.ledger = ledger;
  }

  /** An activation. */
  record Version(Policy policy, Event event, List<String> signers) {
    /** What a list shows. */
    JsonValue.Obj toJson(Trust trust) {
      return json(trust).build();
    }

    /** With the text, as an editor takes it: without {@code previous}, which activation writes. */
    JsonValue.Obj whole(Trust trust) {
      return json(trust)
          .put("text", text(policy))
          .put("document", policy.toJson())
          .putList("advice", advice(policy), JsonValue::of)
          .build();
    }

    private ObjectBuilder json(Trust trust) {
      return JsonValue.object()
          .put("name", policy.name())
          .put("version", policy.version())
          .put("digest", policy.digest())
          .putIfPresent(PREVIOUS, policy.previous(), digest -> JsonValue.of(digest.toString()))
          .put("activated_at", Timestamps.format(event.at()))
          .putList("signed_by", signers, kid -> signer(kid, trust));
    }

    private static JsonValue signer(String kid, Trust trust) {
      return JsonValue.object()
          .put("kid", kid)
          .putIfPresent("subject", trust.key(kid).map(TrustedKey::subject), JsonValue::of)
          .build();
    }
  }

  static String text(Policy policy) {
    ObjectBuilder members = JsonValue.object();
    policy
        .toJson()
        .members()
        .forEach((key, value) -> {
          if (!key.equals(PREVIOUS)) {
            members.put(key, value);
          }
        });
    return PolicyText.of(members.build());
  }

  static List<String> advice(Policy policy) {
    return PolicyAdvice.of(policy);
  }

  /** All of them, the latest first. */
  List<Version> all() {
    List<Version> found = new ArrayList<>();
    ledger.events(
        SystemState.RUN,
        0,
        event -> {
          if (event.kind().equals(EventKind.POLICY_ACTIVATED)) {
            found.add(version(event));
          }
        });
    return found.reversed();
  }

  Optional<Version> of(Digest digest) {
    List<Event> found = new ArrayList<>();
    ledger.events(
        SystemState.RUN,
        0,
        event -> {
          if (event.kind().equals(EventKind.POLICY_ACTIVATED) && event.body().equals(digest)) {
            found.add(event);
          }
        });
    return found.stream().findFirst().map(this::version);
  }

  private Version version(Event event) {
    Envelope signed = ledger.document(event.body()).orElseThrow();
    return new Version(
        Policy.ofCanonical(signed.document()),
        event,
        signed.signatures().stream().map(Envelope.Signature::kid).toList());
  }
}
