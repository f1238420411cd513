package dev.writ.executor.testing;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.document.ToolApproval;
import dev.writ.executor.document.ToolSubmission;
import dev.writ.executor.governance.ToolStaging;
import dev.writ.executor.governance.ToolValidation;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.Canary;
import dev.writ.guardian.policy.RolloutStage;
import java.util.List;
import java.util.Optional;

/**
 * Governance in a {@link TestHome}: a policy that lets govern the tools {@code words} and those
 * that begin with {@code acme-}, and who submits, validates, approves and stages them.
 */
public final class TestGovernance {
  /** Two approvers as {@code tool-reviewer} and one as {@code security}. */
  public static final String GOVERNANCE =
      """
      governance:
        tools: [words, "acme-*"]
        approvals: { tool-reviewer: 2, security: 1 }
        approvers:
          ada: [tool-reviewer]
          ben: [tool-reviewer, security]
          cyd: [security]
          dan: [tool-reviewer]
          pub: [tool-reviewer, security]
      """;

  public static final String YAML =
      TestPolicy.YAML
              .replace("[calc, mail, pay, sim]", "[acme-count, calc, mail, pay, sim, words]")
              .replace(
                  "requirements:",
                  """
                  requirements:
                    - { effect: { tool: words }, require: { cel: 'true' } }
                    - { effect: { tool: acme-count }, require: { cel: 'true' } }\
                  """)
          + GOVERNANCE;

  /** Keys of the installation; enrolled by {@link #enrol}. */
  public static final List<TestKeys.Party> PARTIES =
      List.of(
          new TestKeys.Party("pub", KeyRole.PUBLISHER, Optional.empty()),
          new TestKeys.Party("ada", KeyRole.APPROVER, Optional.empty()),
          new TestKeys.Party("ben", KeyRole.APPROVER, Optional.empty()),
          new TestKeys.Party("cyd", KeyRole.APPROVER, Optional.empty()),
          new TestKeys.Party("dan", KeyRole.APPROVER, Optional.empty()));

  private final TestHome home;

  public TestGovernance(TestHome home) {
    this.home = home;
  }

  public TestGovernance enrol() {
    PARTIES.forEach(party -> home.enrol(party.trusted()));
    return this;
  }

  /** A version of {@code words} that the registry has. */
  public ToolRef registered(String version) {
    ToolManifest made = TestTools.manifest("words", Determinism.RECORDED);
    ToolManifest manifest =
        new ToolManifest(
            made.name(),
            version,
            made.driver(),
            made.determinism(),
            made.operations(),
            made.capabilities(),
            made.resourcesMax(),
            made.sandboxes(),
            made.files());
    home.tools.register(manifest);
    return manifest.ref();
  }

  /** A package of that name and version that nobody has. */
  public static ToolRef other(ToolRef tool) {
    return new ToolRef(tool.name(), tool.version(), Digest.sha256(new byte[] {1}));
  }

  public Envelope submission(ToolRef tool) {
    return submission(tool, "pub");
  }

  public Envelope submission(ToolRef tool, String by) {
    return Envelope.sign(
        ToolSubmission.TYPE,
        new ToolSubmission(tool, home.clock.instant()).toJson(),
        TestKeys.key(by));
  }

  public Envelope validation(ToolRef tool, ToolValidation.Finding... findings) {
    return home.change(
        EventKind.TOOL_VALIDATED,
        new ToolValidation(tool, "writ-lint 1", List.of(findings)).toJson());
  }

  public Envelope approval(ToolRef tool, String by, String role) {
    return word(tool, by, role, Approval.Verdict.APPROVE);
  }

  public Envelope word(ToolRef tool, String by, String role, Approval.Verdict verdict) {
    return Envelope.sign(
        ToolApproval.TYPE,
        new ToolApproval(tool, by, role, verdict, home.clock.instant()).toJson(),
        TestKeys.key(by));
  }

  public Envelope staging(ToolRef tool, RolloutStage stage) {
    return home.change(
        EventKind.TOOL_STAGED, new ToolStaging(tool, stage, Optional.empty()).toJson());
  }

  /** A share of subjects. */
  public Envelope canary(ToolRef tool, List<String> tenants, int percent) {
    return canary(tool, new Canary(tenants, percent, true));
  }

  public Envelope canary(ToolRef tool, Canary canary) {
    return home.change(
        EventKind.TOOL_STAGED,
        new ToolStaging(tool, RolloutStage.CANARY, Optional.of(canary)).toJson());
  }

  public Envelope runtime(String kind, String language, String version) {
    return home.change(
        kind, JsonValue.object().put("language", language).put("version", version).build());
  }

  public void take(Envelope document) {
    home.kernel().change(document);
  }

  public void stage(ToolRef tool, RolloutStage stage) {
    take(staging(tool, stage));
  }

  /** Submitted, validated without a finding, and approved by all whom policy asks for. */
  public ToolRef approved(String version) {
    return approved(registered(version));
  }

  /** The same of a package that the registry has. */
  public ToolRef approved(ToolRef tool) {
    take(submission(tool));
    take(validation(tool));
    take(approval(tool, "ada", "tool-reviewer"));
    take(approval(tool, "ben", "tool-reviewer"));
    take(approval(tool, "cyd", "security"));
    return tool;
  }
}
