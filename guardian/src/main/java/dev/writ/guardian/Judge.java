package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.guardian.document.CheckOutcome;
import dev.writ.guardian.document.CheckOutcome.Outcome;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The Guardian's judgement, a pure function: the same arguments give the same decision, byte for
 * byte. Four checks run in the seed's order, up to the first that does not pass; before them, if
 * the vouching surface has a profile, the profile's.
 */
public final class Judge {
  private Judge() {}

  public static Decision judge(
      Admitted a,
      ToolManifest m,
      Policy p,
      JudgeInputs in,
      Digest snapshot,
      Optional<Digest> supersedes) {
    Matter matter = new Matter(a, m, p, in);
    return decision(matter, outcomes(matter, Ahead.of(matter)), snapshot, supersedes);
  }

  /**
   * The checks that read no account, so that they can run before the accounts are locked: the first
   * and, if it passes, the last.
   */
  record Ahead(
      Optional<CheckOutcome> profile, CheckOutcome proof, Optional<CheckOutcome> envelope) {
    static Ahead of(Matter matter) {
      Optional<CheckOutcome> profile = ProfileCheck.run(matter);
      CheckOutcome proof =
          profile.filter(outcome -> !passes(outcome)).isPresent()
              ? Outcomes.notReached(ProofCheck.NAME)
              : ProofCheck.run(matter);
      return new Ahead(
          profile,
          proof,
          proof.outcome() == Outcome.PASS
              ? Optional.of(EnvelopeCheck.run(matter))
              : Optional.empty());
    }
  }

  /**
   * The outcomes of all checks in order; those after the first refusal are marked as not reached.
   */
  static List<CheckOutcome> outcomes(Matter matter, Ahead ahead) {
    CheckOutcome proof = ahead.proof();
    CheckOutcome budget =
        passes(proof) ? BudgetCheck.run(matter) : Outcomes.notReached(BudgetCheck.NAME);
    CheckOutcome temporal =
        passes(budget) ? TemporalCheck.run(matter) : Outcomes.notReached(TemporalCheck.NAME);
    CheckOutcome envelope =
        passes(temporal) ? ahead.envelope().orElseThrow() : Outcomes.notReached(EnvelopeCheck.NAME);
    List<CheckOutcome> four = List.of(proof, budget, temporal, envelope);
    return ahead
        .profile()
        .map(profile -> Stream.concat(Stream.of(profile), four.stream()).toList())
        .orElse(four);
  }

  private static boolean passes(CheckOutcome outcome) {
    return outcome.outcome() == Outcome.PASS;
  }

  private static CheckOutcome deciding(List<CheckOutcome> outcomes) {
    return outcomes.stream().filter(o -> !passes(o)).findFirst().orElse(outcomes.getLast());
  }

  static Verdict verdict(List<CheckOutcome> outcomes) {
    return switch (deciding(outcomes).outcome()) {
      case PASS -> Verdict.ALLOW;
      case ESCALATE -> Verdict.ESCALATE;
      case REFUSE, NOT_REACHED -> Verdict.DENY;
    };
  }

  static Decision decision(
      Matter matter, List<CheckOutcome> outcomes, Digest snapshot, Optional<Digest> supersedes) {
    return new Decision(
        matter.admitted().id(),
        matter.scope(),
        matter.admitted().holder().kid(),
        matter.effect().digest(),
        verdict(outcomes),
        deciding(outcomes).code(),
        outcomes,
        matter.inputs().toJson(),
        matter.policy().digest(),
        snapshot,
        supersedes,
        matter.inputs().time());
  }
}
