package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.guardian.document.CheckOutcome;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * The Guardian's judgement, a pure function: the same arguments give the same decision, byte for
 * byte. Four checks in the seed's order, up to the first that does not pass.
 */
public final class Judge {
  private static final List<Function<Matter, CheckOutcome>> CHECKS =
      List.of(ProofCheck::run, BudgetCheck::run, TemporalCheck::run, EnvelopeCheck::run);

  private Judge() {}

  public static Decision judge(
      Admitted a,
      ToolManifest m,
      Policy p,
      JudgeInputs in,
      Digest snapshot,
      Optional<Digest> supersedes) {
    Matter matter = new Matter(a, m, p, in);
    List<CheckOutcome> outcomes = new ArrayList<>();
    for (int i = 0; i < CHECKS.size(); i++) {
      boolean reached =
          outcomes.stream().allMatch(o -> o.outcome() == CheckOutcome.Outcome.PASS);
      outcomes.add(
          reached
              ? CHECKS.get(i).apply(matter)
              : Outcomes.notReached(CheckOutcome.ORDER.get(i)));
    }
    CheckOutcome deciding =
        outcomes.stream()
            .filter(o -> o.outcome() != CheckOutcome.Outcome.PASS)
            .findFirst()
            .orElse(outcomes.getLast());
    return new Decision(
        a.id(),
        matter.scope(),
        a.holder().kid(),
        matter.effect().digest(),
        verdict(deciding),
        deciding.code(),
        outcomes,
        in.toJson(),
        p.digest(),
        snapshot,
        supersedes,
        in.time());
  }

  private static Verdict verdict(CheckOutcome deciding) {
    return switch (deciding.outcome()) {
      case PASS -> Verdict.ALLOW;
      case ESCALATE -> Verdict.ESCALATE;
      case REFUSE, NOT_REACHED -> Verdict.DENY;
    };
  }
}
