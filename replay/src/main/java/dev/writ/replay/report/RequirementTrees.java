package dev.writ.replay.report;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.Admitted;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.PolicyExplain;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.BundleVerifier;
import dev.writ.verify.bundle.RecordedRun;
import dev.writ.verify.error.BundleError;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The findings of each node of the requirement, for each decision: computed again from the request,
 * the policy and the decision's inputs. A decision does not record them, and a page cannot compute
 * them, since it has no CEL.
 */
final class RequirementTrees {
  /** The most decisions that get a tree; a longer page could not be read anyway. */
  private static final int DECISIONS_MAX = 20_000;

  private final Bundle bundle;
  private final Trust trust;
  private final TreeMap<Digest, Policy> policies = new TreeMap<>();
  private final TreeMap<String, JsonValue> trees = new TreeMap<>();

  private RequirementTrees(Bundle bundle, Trust trust) {
    this.bundle = bundle;
    this.trust = trust;
  }

  /**
   * The members are the decisions' ids; each has {@code requirement}, counted from 1, and its
   * {@code tree} ({@link PolicyExplain#toJson}). A decision whose effect no requirement covers has
   * none.
   *
   * @param bundle one that {@link BundleVerifier} has verified
   */
  static JsonValue.Obj of(Bundle bundle) {
    RequirementTrees all = new RequirementTrees(bundle, Trust.parse(bundle.trust()));
    bundle.events((journal, _, event) -> {
      if (journal == RecordedRun.Journal.RUN
          && event.kind().equals(EventKind.DECISION_MADE)
          && all.trees.size() < DECISIONS_MAX) {
        all.add(event.body());
      }
    });
    return new JsonValue.Obj(all.trees);
  }

  private Envelope document(Digest id) {
    return bundle
        .document(id)
        .orElseThrow(() -> new WritException(BundleError.ENTRY_MISSING, "document " + id));
  }

  private void add(Digest id) {
    Decision decision = Decision.read(document(id).document());
    Envelope envelope = document(decision.request());
    Request request = Request.read(envelope.document());
    Optional<TrustedKey> holder = trust.key(decision.holder());
    if (holder.isEmpty()) {
      return;
    }
    JudgeInputs inputs = JudgeInputs.read(decision.inputs());
    Admitted admitted =
        new Admitted(
            envelope,
            request,
            decision.request(),
            holder.get(),
            inputs.charged(),
            inputs.receivedAt());
    Policy policy =
        policies.computeIfAbsent(
            decision.policy(), digest -> Policy.ofCanonical(document(digest).document()));
    // Stands in for the tool, which may be missing; the requirement reads nothing of it.
    ToolManifest tool =
        ToolManifest.unregistered(request.effect().tool(), request.effect().version());
    JsonValue.Obj explained =
        PolicyExplain.of(admitted, tool, policy, inputs, decision.snapshot()).toJson();
    if (explained.members().containsKey("tree")) {
      trees.put(
          id.toString(),
          JsonValue.object()
              .put("requirement", explained.get("requirement"))
              .put("tree", explained.get("tree"))
              .build());
    }
  }
}
