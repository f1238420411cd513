package dev.writ.guardian.policy;

import dev.writ.guardian.policy.cel.CelExpression;
import dev.writ.guardian.policy.governance.RolloutStage;
import dev.writ.guardian.policy.rule.Requirement;
import dev.writ.guardian.policy.rule.Rule;
import dev.writ.guardian.policy.seed.CommandProfile;
import dev.writ.guardian.policy.seed.ExecuteProfile;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Warnings on rules of a policy that look protective and are not, and on commands that cannot run;
 * never a refusal.
 */
public final class PolicyAdvice {
  /** Names of params that hold program text in built-in tools and in most others. */
  private static final String PROGRAMS =
      "cmd|code|command|expression|program|query|script|source|sql|statement";

  private static final Pattern MATCHING =
      Pattern.compile(
          "params\\s*(?:\\.\\s*(?:"
              + PROGRAMS
              + ")\\b|\\[\\s*['\"](?:"
              + PROGRAMS
              + ")['\"]\\s*\\])[^&|?,]*\\.\\s*(?:contains|matches|startsWith|endsWith)\\s*\\(");

  private PolicyAdvice() {}

  /** As below, where nothing is known of keys. */
  public static List<String> of(Policy policy) {
    return of(policy, _ -> true);
  }

  /**
   * Warnings on a policy, in the order of its requirements, then of its tools and its commands.
   *
   * @param hasKey whether an approver has a key that is in force, without which no approval of
   *     theirs counts
   */
  public static List<String> of(Policy policy, Predicate<Approver> hasKey) {
    List<String> warnings = new ArrayList<>();
    for (int i = 0; i < policy.rules().size(); i++) {
      Rule rule = policy.rules().get(i);
      String place = "requirement " + (i + 1) + " (" + rule.effect() + "): ";
      expressions(rule.require())
          .flatMap(cel -> cel.uselessPatterns().stream())
          .map(pattern ->
              place
                  + "the pattern "
                  + pattern
                  + " is none of RE2's, or larger than it may be: the expression is an error each"
                  + " time, and refuses")
          .forEach(warnings::add);
      expressions(rule.require())
          .map(CelExpression::source)
          .filter(PolicyAdvice::matchesProgramText)
          .map(cel ->
              place
                  + cel
                  + " matches the text of a program, which can be written around it; bound"
                  + " resources, inputs or roles, or ask for approvals")
          .forEach(warnings::add);
      approvals(rule.require())
          .flatMap(wanted -> missing(policy, rule, wanted, hasKey).stream())
          .map(place::concat)
          .forEach(warnings::add);
    }
    passedOver(policy).forEach(warnings::add);
    policy.commands().ifPresent(commands -> images(commands).forEach(warnings::add));
    policy.execute().ifPresent(execute -> shared(execute).forEach(warnings::add));
    return warnings;
  }

  /**
   * Listed versions that no call gets which names none; a mistyped stage is no fault of a policy.
   */
  private static Stream<String> passedOver(Policy policy) {
    return policy.tools().stream()
        .filter(tool -> tool.governed().isEmpty())
        .filter(tool -> !tool.stage().equals(RolloutStage.ACTIVE.text()))
        .map(tool ->
            "tools ("
                + tool.ref().name()
                + " "
                + tool.ref().version()
                + "): its stage is "
                + tool.stage()
                + ", so only a call that names this version gets it; without one a call gets a"
                + " version whose stage is "
                + RolloutStage.ACTIVE.text());
  }

  /** Why a requirement's approvals cannot all be given; absent where they can. */
  private static Optional<String> missing(
      Policy policy, Rule rule, Requirement.Approvals wanted, Predicate<Approver> hasKey) {
    long named = most(policy, rule, wanted.role(), _ -> true);
    long able = most(policy, rule, wanted.role(), hasKey);
    if (able >= wanted.count()) {
      return Optional.empty();
    }
    String keys = able < named ? ", of whom " + able + " have a key that is in force" : "";
    return Optional.of(
        "it asks for "
            + wanted.count()
            + " approvals by "
            + wanted.role()
            + ", and approvers has at most "
            + named
            + " who may approve a request of somebody else"
            + keys);
  }

  /**
   * How many may approve a request that the rule is about, for the principal who has most of them.
   * Where the rule is about nobody, as many as it likes.
   */
  private static long most(Policy policy, Rule rule, String role, Predicate<Approver> hasKey) {
    return policy.principals().stream()
        .filter(asks ->
            rule.match().applies(asks.tenant(), asks.subject(), asks.roles(), rule.effect().tool()))
        .mapToLong(asks ->
            policy.approvers().stream()
                .filter(approver -> approver.tenant().equals(asks.tenant()))
                .filter(approver -> !approver.subject().equals(asks.subject()))
                .filter(approver -> approver.roles().contains(role))
                .filter(hasKey)
                .count())
        .max()
        .orElse(Long.MAX_VALUE);
  }

  private static Stream<Requirement.Approvals> approvals(Requirement node) {
    return switch (node) {
      case Requirement.All all -> all.children().stream().flatMap(PolicyAdvice::approvals);
      case Requirement.Any any -> any.children().stream().flatMap(PolicyAdvice::approvals);
      case Requirement.Approvals wanted -> Stream.of(wanted);
      case Requirement.None _, Requirement.Cel _, Requirement.Artifact _, Requirement.Mandate _ ->
          Stream.empty();
    };
  }

  /** Commands for which policy names an image that can be moved: they do not run. */
  private static Stream<String> images(CommandProfile commands) {
    return commands.images().entrySet().stream()
        .filter(image -> !image.getValue().contains("@sha256:"))
        .map(image ->
            "commands/images: "
                + image.getKey()
                + " does not run, since "
                + image.getValue()
                + " is not named by its digest: writ image pin FILE");
  }

  /** Intents of seed 000's surface with a tool that keeps a workspace: none of them is served. */
  private static Stream<String> shared(ExecuteProfile execute) {
    return execute.intents().values().stream()
        .filter(intent -> intent.effect().tool().equals("exec"))
        .map(intent ->
            "execute/intents: "
                + intent.id()
                + " is not served (GWY-131), since exec works in the workspace of its run: name"
                + " exec_ephemeral");
  }

  /** Whether an expression searches for text in a param that holds a program. */
  public static boolean matchesProgramText(String cel) {
    return MATCHING.matcher(cel).find();
  }

  private static Stream<CelExpression> expressions(Requirement node) {
    return switch (node) {
      case Requirement.All all -> all.children().stream().flatMap(PolicyAdvice::expressions);
      case Requirement.Any any -> any.children().stream().flatMap(PolicyAdvice::expressions);
      case Requirement.None none -> none.children().stream().flatMap(PolicyAdvice::expressions);
      case Requirement.Cel cel -> Stream.of(cel.expression());
      case Requirement.Approvals _, Requirement.Artifact _, Requirement.Mandate _ -> Stream.empty();
    };
  }
}
