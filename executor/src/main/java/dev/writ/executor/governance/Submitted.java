package dev.writ.executor.governance;

import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.governance.Canary;
import dev.writ.guardian.policy.governance.GovernedTool;
import dev.writ.guardian.policy.governance.RolloutStage;
import java.time.Instant;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A submitted version of a tool, with its validation, approvals and stage. Immutable.
 *
 * @param publisher the subject of the key that submitted it
 * @param submittedAt of the event
 * @param validation the last one
 * @param words the approvers' verdicts, by subject; one from each
 * @param stagedAt when it got its stage, as the operator states it; absent until it was staged
 */
public record Submitted(
    ToolRef tool,
    String publisher,
    Instant submittedAt,
    Optional<ToolValidation> validation,
    SortedMap<String, Word> words,
    RolloutStage stage,
    Optional<Canary> canary,
    Optional<Instant> stagedAt) {

  public Submitted {
    words = Collections.unmodifiableSortedMap(words);
  }

  /** The verdict of one approver, and the key that signed it. */
  public record Word(String role, Approval.Verdict verdict, String kid, Instant at) {}

  static Submitted of(ToolRef tool, String publisher, Instant at) {
    return new Submitted(
        tool,
        publisher,
        at,
        Optional.empty(),
        new TreeMap<>(),
        RolloutStage.DRAFT,
        Optional.empty(),
        Optional.empty());
  }

  Submitted validated(ToolValidation by) {
    return new Submitted(
        tool, publisher, submittedAt, Optional.of(by), words, stage, canary, stagedAt);
  }

  Submitted said(String approver, Word word) {
    TreeMap<String, Word> more = new TreeMap<>(words);
    more.put(approver, word);
    return new Submitted(tool, publisher, submittedAt, validation, more, stage, canary, stagedAt);
  }

  Submitted staged(ToolStaging staging, Instant at) {
    return new Submitted(
        tool,
        publisher,
        submittedAt,
        validation,
        words,
        staging.stage(),
        staging.canary(),
        Optional.of(at));
  }

  Submitted notAfter(Instant time) {
    return new Submitted(
        tool,
        publisher,
        submittedAt.isAfter(time) ? time : submittedAt,
        validation,
        words,
        stage,
        canary,
        stagedAt.map(at -> at.isAfter(time) ? time : at));
  }

  /** Whether the static validation found nothing. */
  public boolean passed() {
    return validation.filter(ToolValidation::passed).isPresent();
  }

  /** Whether an approver rejected it: that is final. */
  public boolean rejected() {
    return words.values().stream().anyMatch(w -> w.verdict() == Approval.Verdict.REJECT);
  }

  GovernedTool governed(boolean revoked) {
    return new GovernedTool(tool.packageDigest(), stage, canary, revoked);
  }
}
