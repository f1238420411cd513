package dev.writ.guardian;

import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.governance.ApprovedTool;
import java.util.List;
import java.util.Optional;

/**
 * The inputs of the four checks; they read nothing else.
 *
 * @param charges follows from the others; computed once
 */
record Matter(
    Admitted admitted, ToolManifest manifest, Policy policy, JudgeInputs inputs, Charges charges) {

  Matter(Admitted admitted, ToolManifest manifest, Policy policy, JudgeInputs inputs) {
    this(
        admitted,
        manifest,
        policy,
        inputs,
        Charges.of(policy, admitted.request(), inputs.charged(), inputs.mandates()));
  }

  /** The same with other inputs. */
  Matter with(JudgeInputs other) {
    return new Matter(admitted, manifest, policy, other, charges);
  }

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
   * The tool of the effect: as policy lists it, or else as governance had it, in any stage, when
   * this was judged. The inputs record that, so the present state of governance is not used.
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
   * The roles that may cover the effect: all of the subject's, or those to which a vouched caller's
   * credential is narrowed. Limits (requirements, rates, hours, budgets) use all of its roles, so
   * that a narrower credential is never allowed more.
   */
  List<String> holdingRoles() {
    return RunOwnership.holdingRoles(roles(), request().origin().flatMap(Origin::roles));
  }
}
