package dev.writ.executor.governance;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.document.ToolApproval;
import dev.writ.executor.document.ToolSubmission;
import dev.writ.executor.error.ExecutorError;
import dev.writ.guardian.Admission;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.governance.ApprovedTool;
import dev.writ.guardian.policy.governance.Canary;
import dev.writ.guardian.policy.governance.Rollout;
import dev.writ.guardian.policy.governance.RolloutStage;
import dev.writ.guardian.policy.governance.ToolGovernance;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * The state of governed tools and language runtimes (submissions, validations, approvals, stages),
 * as spec/tool-governance.md describes it: the part of {@code SystemState} that follows from their
 * documents. Immutable; each method returns the state after one more document, whose signatures the
 * caller has verified, or refuses the document.
 *
 * @param versions by name and version
 * @param runtimes by {@code language version}
 * @param drawsBySubject whether a canary that selects by subjects was staged; from then on none may
 *     select by runs
 */
public record Governance(
    SortedMap<String, Submitted> versions,
    SortedMap<String, RuntimeWord> runtimes,
    boolean drawsBySubject) {

  /** The state before anything was submitted. */
  public static final Governance NOTHING = new Governance(new TreeMap<>(), new TreeMap<>(), false);

  public Governance {
    versions = Collections.unmodifiableSortedMap(versions);
    runtimes = Collections.unmodifiableSortedMap(runtimes);
  }

  /** The last decision on a language runtime, and its time as the operator states it. */
  public record RuntimeWord(boolean approved, Instant at) {}

  /** The last submission under that name and version. */
  public Optional<Submitted> version(String tool, String version) {
    return Optional.ofNullable(versions.get(key(tool, version)));
  }

  /**
   * A publisher submits a package.
   *
   * @param prohibited whether an operator prohibited that version
   * @throws WritException {@code EXE-914} to {@code EXE-916}
   */
  public Governance submitted(
      ToolSubmission submission,
      List<TrustedKey> signers,
      Policy policy,
      boolean prohibited,
      Instant at) {
    ToolRef tool = submission.tool();
    rules(policy, tool);
    if (prohibited) {
      throw order(tool, "submitted", "an operator prohibited it");
    }
    requireNotAhead(tool, submission.submittedAt(), at);
    Optional<Submitted> before = version(tool.name(), tool.version());
    if (before.filter(b -> b.stage() != RolloutStage.DRAFT).isPresent()) {
      throw order(tool, "submitted", "that version is " + before.get().stage().text());
    }
    if (before.filter(b -> b.tool().equals(tool)).isPresent()) {
      throw order(tool, "submitted", "that package was submitted before");
    }
    return with(Submitted.of(tool, signers.getFirst().subject(), at));
  }

  /**
   * An operator records the findings of the static validation.
   *
   * @throws WritException {@code EXE-914}, {@code EXE-915}
   */
  public Governance validated(ToolValidation validation) {
    Submitted version = draft(validation.tool(), "validated");
    if (!version.words().isEmpty()) {
      throw order(validation.tool(), "validated", "approvers spoke of it already");
    }
    return with(version.validated(validation));
  }

  /**
   * An approver approves or rejects a package.
   *
   * @throws WritException {@code EXE-914} to {@code EXE-917}
   */
  public Governance said(
      ToolApproval approval, List<TrustedKey> signers, Policy policy, Instant at) {
    ToolRef tool = approval.tool();
    Submitted version = draft(tool, "approved");
    ToolGovernance rules = rules(policy, tool);
    TrustedKey signer = signers.getFirst();
    if (!signer.subject().equals(approval.approver())) {
      throw signer(tool, "it is by " + approval.approver() + ", its key of " + signer.subject());
    }
    if (!rules.approves(approval.approver(), approval.role())) {
      throw signer(tool, "policy does not have " + approval.approver() + " as " + approval.role());
    }
    if (approval.approver().equals(version.publisher())) {
      throw signer(tool, approval.approver() + " published it");
    }
    requireNotAhead(tool, approval.approvedAt(), at);
    if (approval.approvedAt().plus(Admission.SKEW).isBefore(version.submittedAt())) {
      throw order(tool, "approved", "said before it was submitted: " + approval.approvedAt());
    }
    if (version.words().containsKey(approval.approver())) {
      throw order(tool, "approved", approval.approver() + " spoke of it already");
    }
    if (approval.verdict() == Approval.Verdict.APPROVE && !version.passed()) {
      throw new WritException(
          ExecutorError.GOVERNANCE_INCOMPLETE,
          shown(tool)
              + ": its validation "
              + (version.validation().isEmpty() ? "is missing" : "failed"));
    }
    return with(
        version.said(
            approval.approver(),
            new Submitted.Word(approval.role(), approval.verdict(), signer.kid(), at)));
  }

  /**
   * An operator puts a version into another stage.
   *
   * @param inForce tells whether a key is not revoked: approvals by a revoked key do not count
   * @throws WritException {@code EXE-914}, {@code EXE-915}, {@code EXE-917}, {@code EXE-984}
   */
  public Governance staged(
      ToolStaging staging, Policy policy, Predicate<String> inForce, Instant changedAt) {
    ToolRef tool = staging.tool();
    Submitted version = require(tool);
    if (!version.stage().leadsTo(staging.stage())) {
      throw order(tool, staging.stage().text(), "it is " + version.stage().text());
    }
    if (version.stagedAt().filter(before -> !changedAt.isAfter(before)).isPresent()) {
      throw order(
          tool, staging.stage().text(), "said at " + changedAt + ", not after the stage before");
    }
    if (version.stage() == RolloutStage.DRAFT && staging.stage().runs()) {
      requireApproved(version, rules(policy, tool), inForce);
    }
    if (drawsBySubject) {
      staging.requireDrawnBySubject();
    }
    Governance staged = with(version.staged(staging, changedAt));
    boolean bySubject = drawsBySubject || staging.canary().filter(Canary::bySubject).isPresent();
    return new Governance(staged.versions, runtimes, bySubject);
  }

  /**
   * Requires as many approvals as policy asks for, by approvers whom policy names now and whose
   * keys are in force now.
   */
  private static void requireApproved(
      Submitted version, ToolGovernance rules, Predicate<String> inForce) {
    if (!version.passed()) {
      throw new WritException(
          ExecutorError.GOVERNANCE_INCOMPLETE,
          shown(version.tool()) + ": its validation is missing");
    }
    if (version.rejected()) {
      throw new WritException(
          ExecutorError.GOVERNANCE_INCOMPLETE, shown(version.tool()) + ": an approver rejected it");
    }
    rules
        .approvals()
        .forEach((role, count) -> {
          long said =
              version.words().entrySet().stream()
                  .filter(word -> word.getValue().role().equals(role))
                  .filter(word -> rules.approves(word.getKey(), role))
                  .filter(word -> inForce.test(word.getValue().kid()))
                  .count();
          if (said < count) {
            throw new WritException(
                ExecutorError.GOVERNANCE_INCOMPLETE,
                shown(version.tool())
                    + ": approved by "
                    + said
                    + " as "
                    + role
                    + ", policy asks for "
                    + count);
          }
        });
  }

  /**
   * An operator approves a language runtime, or withdraws the approval.
   *
   * @throws WritException {@code EXE-914}
   */
  public Governance runtime(boolean approved, JsonValue.Obj detail, Instant changedAt) {
    Fields fields = Fields.of("detail", detail);
    String language = fields.name("language");
    String version = fields.name("version");
    fields.end();
    String runtime = language + " " + version;
    Optional<RuntimeWord> before = Optional.ofNullable(runtimes.get(runtime));
    if (before.filter(RuntimeWord::approved).isPresent() == approved) {
      throw new WritException(
          ExecutorError.GOVERNANCE_ORDER, runtime + " is " + (approved ? "" : "not ") + "approved");
    }
    if (before.filter(b -> !changedAt.isAfter(b.at())).isPresent()) {
      throw new WritException(
          ExecutorError.GOVERNANCE_ORDER,
          runtime + ": said at " + changedAt + ", not after " + before.get().at());
    }
    TreeMap<String, RuntimeWord> more = new TreeMap<>(runtimes);
    more.put(runtime, new RuntimeWord(approved, changedAt));
    return new Governance(versions, more, drawsBySubject);
  }

  /**
   * The tools and runtimes that governance adds to a policy.
   *
   * @param prohibited {@code name version}
   */
  public Rollout rollout(SortedSet<String> prohibited) {
    List<ApprovedTool> tools =
        versions.values().stream()
            .map(v ->
                ApprovedTool.of(
                    v.tool().name(),
                    v.tool().version(),
                    v.governed(prohibited.contains(v.tool().name() + " " + v.tool().version()))))
            .toList();
    TreeSet<String> approved = new TreeSet<>(runtimes.keySet());
    approved.removeIf(runtime -> !runtimes.get(runtime).approved());
    return Rollout.of(tools, prohibited, approved);
  }

  /** The same, with later times replaced by this one: the log's time continues from it. */
  public Governance notAfter(Instant time) {
    TreeMap<String, Submitted> submitted = new TreeMap<>(versions);
    submitted.replaceAll((_, version) -> version.notAfter(time));
    TreeMap<String, RuntimeWord> words = new TreeMap<>(runtimes);
    words.replaceAll(
        (_, word) -> word.at().isAfter(time) ? new RuntimeWord(word.approved(), time) : word);
    return new Governance(submitted, words, drawsBySubject);
  }

  private static String key(String tool, String version) {
    return tool + "\u0000" + version;
  }

  private Governance with(Submitted version) {
    TreeMap<String, Submitted> more = new TreeMap<>(versions);
    more.put(key(version.tool().name(), version.tool().version()), version);
    return new Governance(more, runtimes, drawsBySubject);
  }

  private Submitted require(ToolRef tool) {
    Submitted version =
        version(tool.name(), tool.version())
            .orElseThrow(() -> order(tool, "anything else", "it was not submitted"));
    if (!version.tool().equals(tool)) {
      throw new WritException(
          ExecutorError.GOVERNANCE_BINDING,
          shown(tool) + ": submitted is " + version.tool().packageDigest());
    }
    return version;
  }

  private Submitted draft(ToolRef tool, String what) {
    Submitted version = require(tool);
    if (version.stage() != RolloutStage.DRAFT) {
      throw order(tool, what, "it is " + version.stage().text());
    }
    return version;
  }

  private static ToolGovernance rules(Policy policy, ToolRef tool) {
    return policy
        .governance()
        .filter(_ -> policy.governs(tool.name(), tool.version()))
        .orElseThrow(() ->
            new WritException(
                ExecutorError.GOVERNANCE_BINDING,
                shown(tool) + ": the policy in force does not let govern it"));
  }

  private static void requireNotAhead(ToolRef tool, Instant said, Instant at) {
    if (said.isAfter(at.plus(Admission.SKEW))) {
      throw order(tool, "anything", "said at " + said + ", now " + at);
    }
  }

  private static WritException order(ToolRef tool, String what, String found) {
    return new WritException(
        ExecutorError.GOVERNANCE_ORDER, shown(tool) + " to be " + what + ": " + found);
  }

  private static WritException signer(ToolRef tool, String found) {
    return new WritException(ExecutorError.GOVERNANCE_SIGNER, shown(tool) + ": " + found);
  }

  private static String shown(ToolRef tool) {
    return tool.name() + " " + tool.version() + " " + tool.packageDigest();
  }
}
