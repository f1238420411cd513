package dev.writ.console.tool;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.executor.SystemState;
import dev.writ.executor.governance.Submitted;
import dev.writ.executor.governance.ToolValidation;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.governance.ApprovedTool;
import dev.writ.guardian.policy.governance.Canary;
import dev.writ.guardian.policy.governance.RolloutStage;
import dev.writ.guardian.policy.governance.ToolGovernance;
import dev.writ.tools.mcp.UpstreamPackage;
import dev.writ.verify.bundle.BundleExport;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A version of a tool that policy or the system run knows.
 *
 * @param approved as the policy in force has it
 * @param submitted as governance has it
 * @param steps what was signed about it, the oldest first
 */
record KnownTool(
    String name,
    String version,
    boolean prohibited,
    Optional<ApprovedTool> approved,
    Optional<Submitted> submitted,
    List<ToolStep> steps) {
  static final String REVOKED = "revoked";

  /** The package, unless nobody but an operator who prohibited it named the version. */
  Optional<ToolRef> ref() {
    return approved.map(ApprovedTool::ref).or(() -> submitted.map(Submitted::tool));
  }

  /** The manifest, where the package is registered. */
  Optional<ToolManifest> manifest(BundleExport.Packages packages) {
    try {
      return ref().flatMap(wanted -> packages.manifest(wanted).filter(m -> m.ref().equals(wanted)));
    } catch (WritException broken) {
      return Optional.empty(); // its files are damaged, or another package lies in its place
    }
  }

  private String stage() {
    if (prohibited) {
      return REVOKED;
    }
    return approved
        .map(ApprovedTool::stage)
        .orElseGet(() -> submitted.map(s -> s.stage().text()).orElse(REVOKED));
  }

  /** Whether it runs for anybody. */
  private boolean runs() {
    return !prohibited
        && approved
            .filter(tool -> tool.governed().filter(g -> !g.stage().runs()).isEmpty())
            .isPresent();
  }

  /**
   * Of it what every person is told who may see tools.
   *
   * @param tenant of the caller, who is not told the names of others
   */
  JsonValue.Obj summary(SystemState system, BundleExport.Packages packages, String tenant) {
    return summary(system.policyInForce(), manifest(packages), tenant).build();
  }

  ObjectBuilder summary(Policy policy, Optional<ToolManifest> manifest, String tenant) {
    ObjectBuilder json =
        JsonValue.object()
            .put("name", name)
            .put("version", version)
            .put("stage", stage())
            .put("runs", runs())
            .put("prohibited", prohibited)
            .put("listed", policy.listed(name, version).isPresent())
            .put("registered", manifest.isPresent())
            .putIfPresent("package", ref(), r -> JsonValue.of(r.packageDigest().toString()))
            .putIfPresent("driver", manifest, m -> JsonValue.of(m.driver()))
            .putIfPresent(
                "upstream",
                manifest.filter(m -> m.driver().equals(UpstreamPackage.DRIVER)),
                m -> places(m.capabilities().hosts()))
            .putIfPresent("revoked", last(EventKind.TOOL_REVOKED), ToolStep::said);
    submitted.ifPresent(s ->
        json.put("submitted", said(s.submittedAt(), s.publisher()))
            .putIfPresent("approved", approvedLast(s), at -> at)
            .putIfPresent(
                "staged", s.stagedAt().flatMap(_ -> last(EventKind.TOOL_STAGED)), ToolStep::said)
            .put("rejected", s.rejected())
            .put("approvals", approvals(s, policy))
            .putIfPresent("canary", canary(s), c -> share(c, tenant))
            .putIfPresent("findings", s.validation(), v -> JsonValue.of(v.findings().size())));
    return json;
  }

  private static JsonValue places(List<String> hosts) {
    return JsonValue.object().putList("places", hosts, JsonValue::of).build();
  }

  /** Other tenants' names are nobody else's business. */
  private static JsonValue share(Canary canary, String tenant) {
    return JsonValue.object()
        .put("percent", (long) canary.percent())
        .put("whole_tenant", canary.tenants().contains(tenant))
        .build();
  }

  private Optional<Canary> canary(Submitted s) {
    return s.canary().filter(_ -> s.stage() == RolloutStage.CANARY);
  }

  private Optional<ToolStep> last(String kind) {
    return steps.stream().filter(step -> step.kind().equals(kind)).reduce((_, later) -> later);
  }

  private static JsonValue.Obj said(Instant at, String by) {
    return JsonValue.object().put("at", at).put("by", by).build();
  }

  /** The last approval of this package; others of that name and version do not count. */
  private static Optional<JsonValue> approvedLast(Submitted s) {
    return s.words().entrySet().stream()
        .filter(word -> word.getValue().verdict() == Approval.Verdict.APPROVE)
        .max(Comparator.comparing(word -> word.getValue().at()))
        .map(word -> said(word.getValue().at(), word.getKey()));
  }

  /** How many approvals policy asks for in each role, and how many there are. */
  private static JsonValue approvals(Submitted s, Policy policy) {
    SortedMap<String, Long> needed =
        policy.governance().map(ToolGovernance::approvals).orElse(new TreeMap<>());
    return JsonValue.of(
        needed.entrySet().stream()
            .map(entry ->
                JsonValue.object()
                    .put("role", entry.getKey())
                    .put("needed", entry.getValue())
                    .put("given", given(s, entry.getKey()))
                    .build())
            .toList());
  }

  private static long given(Submitted s, String role) {
    return s.words().values().stream()
        .filter(word -> word.role().equals(role))
        .filter(word -> word.verdict() == Approval.Verdict.APPROVE)
        .count();
  }

  /** What the static validation found. */
  Optional<ToolValidation> validation() {
    return submitted.flatMap(Submitted::validation);
  }
}
