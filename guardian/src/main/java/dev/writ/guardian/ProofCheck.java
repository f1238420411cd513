package dev.writ.guardian;

import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.CheckOutcome;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.rule.Rule;
import java.util.Optional;

/**
 * Check 1, PRG (proof requirement graph): the subject may use the run, and the first rule that
 * covers the effect is satisfied. It refuses if no rule covers the effect.
 */
final class ProofCheck {
  static final String NAME = "prg";

  private ProofCheck() {}

  static CheckOutcome run(Matter matter) {
    if (RunOwnership.isForeign(matter.admitted(), matter.policy(), matter.inputs().owner())) {
      return Outcomes.refuse(
          NAME, GuardianError.RUN_FOREIGN, "run \"" + matter.request().namedRun() + "\"");
    }
    Optional<JudgeInputs.SeenApproval> rejection =
        matter.inputs().approvals().stream()
            .filter(seen -> seen.verdict() == Approval.Verdict.REJECT)
            .findFirst();
    if (rejection.isPresent()) {
      return Outcomes.refuse(
          NAME,
          GuardianError.PRG_REJECTED,
          rejection.get().approver() + " as " + rejection.get().role());
    }
    int number = ruleNumber(matter);
    if (number < 0) {
      return Outcomes.enforced(
          Outcomes.refuse(
              NAME,
              GuardianError.PRG_NO_RULE,
              matter.effect().tool() + "/" + matter.effect().operation()),
          matter.policy());
    }
    Rule rule = matter.policy().rules().get(number);
    ProofNode proof = new Proofs(matter).evaluate(rule.require());
    String at = "requirement " + (number + 1) + " (" + rule.effect() + "): ";
    CheckOutcome found =
        switch (proof.truth()) {
          case HOLDS -> Outcomes.pass(NAME, at + "holds");
          case FAILS ->
              Outcomes.refuse(
                  NAME, deepest(proof).code().orElse(GuardianError.PRG_UNMET), at + cause(proof));
          case ERROR -> Outcomes.refuse(NAME, GuardianError.PRG_ERROR, at + cause(proof));
          case AWAITS_APPROVAL ->
              Outcomes.escalate(NAME, GuardianError.PRG_APPROVAL_NEEDED, at + cause(proof));
        };
    return Outcomes.enforced(found, matter.policy());
  }

  /** The rule that covers the effect, counted from 0; −1 if none does. */
  static int ruleNumber(Matter matter) {
    return matter
        .policy()
        .ruleNumber(
            matter.effect().tool(),
            matter.effect().operation(),
            matter.scope().tenant(),
            matter.scope().subject(),
            matter.roles());
  }

  /**
   * The deepest node that explains the result: from the root, the first child with the same truth
   * value, and so on.
   */
  private static ProofNode deepest(ProofNode node) {
    for (ProofNode child : node.children()) {
      if (child.truth() == node.truth()) {
        return deepest(child);
      }
    }
    return node;
  }

  private static String cause(ProofNode proof) {
    ProofNode node = deepest(proof);
    return Outcomes.cut(node.what()) + " " + node.saw();
  }
}
