package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.guardian.document.CheckOutcome;
import dev.writ.guardian.document.CheckOutcome.Outcome;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import java.util.ArrayList;
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
          passes(proof) ? Optional.of(EnvelopeCheck.run(matter)) : Optional.empty());
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
    return outcome.outcome().goesOn();
  }

  /** The refusals that policy's rules and roles give, which a policy that observes lets pass. */
  private static final List<String> OBSERVED_RULES =
      List.of("GRD-101", "GRD-102", "GRD-103", "GRD-104");

  private static final List<String> OBSERVED_ROLES =
      List.of("GRD-405", "GRD-406", "GRD-407", "GRD-408", "GRD-409", "GRD-410", "GRD-413");

  /** Whether a recorded outcome may stand in a decision under that policy. */
  public static boolean mayStand(CheckOutcome outcome, Policy policy) {
    if (!passes(outcome) || outcome.outcome() == Outcome.PASS) {
      return true;
    }
    List<String> observed =
        switch (outcome.check()) {
          case ProofCheck.NAME -> OBSERVED_RULES;
          case EnvelopeCheck.NAME -> OBSERVED_ROLES;
          default -> List.of();
        };
    return policy.observes() && outcome.code().filter(observed::contains).isPresent();
  }

  /** How the last check, which alone reads the tool's manifest, can come out. */
  private static final List<Outcome> OF_THE_TOOL =
      List.of(Outcome.PASS, Outcome.REFUSE, Outcome.WOULD_REFUSE);

  /**
   * The decision as it is where the last check came out as recorded, as with a tool's manifest that
   * is not at hand; empty where it was not reached, or cannot have come out so.
   *
   * @param recorded the checks, of which the last counts
   */
  public static Optional<Decision> concluded(Decision judged, List<CheckOutcome> recorded) {
    List<CheckOutcome> outcomes = new ArrayList<>(judged.checks());
    CheckOutcome ours = outcomes.removeLast();
    Optional<CheckOutcome> last =
        recorded.stream()
            .skip(outcomes.size())
            .findFirst()
            .filter(theirs -> theirs.check().equals(ours.check()))
            .filter(theirs -> OF_THE_TOOL.contains(theirs.outcome()))
            .filter(theirs -> theirs.code().isPresent() != (theirs.outcome() == Outcome.PASS));
    if (last.isEmpty() || ours.outcome() == Outcome.NOT_REACHED) {
      return Optional.empty();
    }
    outcomes.add(last.get());
    return Optional.of(
        new Decision(
            judged.request(),
            judged.scope(),
            judged.holder(),
            judged.effect(),
            verdict(outcomes),
            code(outcomes),
            outcomes,
            judged.inputs(),
            judged.policy(),
            judged.snapshot(),
            judged.supersedes(),
            judged.decidedAt(),
            judged.observed().map(_ -> observed(outcomes))));
  }

  private static CheckOutcome deciding(List<CheckOutcome> outcomes) {
    for (CheckOutcome outcome : outcomes) {
      if (!passes(outcome)) {
        return outcome;
      }
    }
    return outcomes.getLast();
  }

  static Verdict verdict(List<CheckOutcome> outcomes) {
    return switch (deciding(outcomes).outcome()) {
      case PASS, WOULD_REFUSE, WOULD_ESCALATE -> Verdict.ALLOW;
      case ESCALATE -> Verdict.ESCALATE;
      case REFUSE, NOT_REACHED -> Verdict.DENY;
    };
  }

  private static Optional<String> code(List<CheckOutcome> outcomes) {
    return Optional.of(deciding(outcomes)).filter(o -> !passes(o)).flatMap(CheckOutcome::code);
  }

  /** What the verdict would be if nothing were let through for being observed only. */
  private static Decision.Observed observed(List<CheckOutcome> outcomes) {
    Optional<CheckOutcome> first =
        outcomes.stream().filter(o -> o.outcome() != Outcome.PASS).findFirst();
    Verdict verdict =
        first
            .map(o ->
                switch (o.outcome()) {
                  case ESCALATE, WOULD_ESCALATE -> Verdict.ESCALATE;
                  default -> Verdict.DENY;
                })
            .orElse(Verdict.ALLOW);
    return new Decision.Observed(verdict, first.flatMap(CheckOutcome::code));
  }

  static Decision decision(
      Matter matter, List<CheckOutcome> outcomes, Digest snapshot, Optional<Digest> supersedes) {
    return new Decision(
        matter.admitted().id(),
        matter.scope(),
        matter.admitted().holder().kid(),
        matter.effect().digest(),
        verdict(outcomes),
        code(outcomes),
        outcomes,
        matter.inputs().toJson(),
        matter.policy().digest(),
        snapshot,
        supersedes,
        matter.inputs().time(),
        matter.policy().observes() ? Optional.of(observed(outcomes)) : Optional.empty());
  }
}
