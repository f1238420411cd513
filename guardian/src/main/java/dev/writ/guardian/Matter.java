package dev.writ.guardian;

import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.ApprovedTool;
import dev.writ.guardian.policy.Policy;
import java.util.List;
import java.util.Optional;

/** What the four checks are given; there is nothing else that they could read. */
record Matter(Admitted admitted, ToolManifest manifest, Policy policy, JudgeInputs inputs) {
  Request request() {
    return admitted.request();
  }

  Effect effect() {
    return admitted.request().effect();
  }

  Scope scope() {
    return admitted.request().scope();
  }

  /**
   * The tool of the effect: as policy lists it, else as governance had it when this was judged, of
   * whatever stage. What governance says now is not asked: the inputs record it.
   */
  Optional<ApprovedTool> tool() {
    String name = effect().tool();
    String version = effect().version();
    return policy
        .listed(name, version)
        .or(() ->
            inputs
                .governed()
                .filter(_ -> policy.governs(name, version))
                .map(governed -> ApprovedTool.of(name, version, governed)));
  }

  /** The roles of the subject, under the policy of this judgement. */
  List<String> roles() {
    return policy.rolesOf(scope().tenant(), scope().subject());
  }

  /**
   * Those of them that can hold the effect: all, or what a vouched caller's credential is narrowed
   * to. What limits a subject (requirements, rates, hours, budgets) goes by all of its roles, so
   * that a narrower credential is never allowed more.
   */
  List<String> holdingRoles() {
    return RunOwnership.holdingRoles(roles(), request().origin().flatMap(Origin::roles));
  }
}
