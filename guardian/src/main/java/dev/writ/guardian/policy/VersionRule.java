package dev.writ.guardian.policy;

import dev.writ.canonicalize.Comparing;
import dev.writ.guardian.policy.governance.ApprovedTool;
import dev.writ.guardian.policy.governance.CanaryDraw;
import dev.writ.guardian.policy.governance.GovernedTool;
import dev.writ.guardian.policy.governance.RolloutStage;
import java.math.BigInteger;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Selects the version of a tool for a call that names none, and says which versions a call may name
 * ({@code spec/tool-governance.md}). Depends on the policy and the draw only.
 */
public final class VersionRule {
  private static final Pattern SEMANTIC =
      Pattern.compile("(\\d{1,18}(?:\\.\\d{1,18})*+)(?:-([0-9A-Za-z.-]+))?(?:\\+[0-9A-Za-z.-]+)?");

  /**
   * Semantic order: numbers by value, a pre-release before its release, its parts as semver.org
   * says. Versions of another form come before all of this form. Versions of equal rank are ordered
   * by their characters, so this is a total order.
   */
  public static final Comparator<String> ORDER =
      Comparing.by(
          Comparing.by(v -> SEMANTIC.matcher(v).matches()),
          Comparing.by(VersionRule::rank, Comparator.naturalOrder()));

  private VersionRule() {}

  /** Whether a call may name this version. */
  public static boolean mayRun(ApprovedTool tool, CanaryDraw draw) {
    return tool.governed().filter(g -> !runs(tool, g, draw)).isEmpty();
  }

  private static boolean runs(ApprovedTool tool, GovernedTool governed, CanaryDraw draw) {
    return !governed.revoked()
        && switch (governed.stage()) {
          case ACTIVE, DEPRECATED -> true;
          case CANARY ->
              governed
                  .canary()
                  .filter(c -> c.includes(tool.ref().name(), tool.ref().version(), draw))
                  .isPresent();
          case DRAFT, RETIRED -> false;
        };
  }

  /**
   * The version for a call that names none: the greatest canary that it gets, otherwise the
   * greatest active version.
   *
   * @param versions of one tool, none of them prohibited
   */
  static Optional<ApprovedTool> choose(List<ApprovedTool> versions, CanaryDraw draw) {
    Predicate<ApprovedTool> triedOut =
        tool -> tool.governed().filter(g -> g.stage() == RolloutStage.CANARY).isPresent();
    return greatest(versions.stream().filter(triedOut).filter(t -> mayRun(t, draw)))
        .or(() ->
            greatest(versions.stream().filter(t -> t.stage().equals(RolloutStage.ACTIVE.text()))));
  }

  private static Optional<ApprovedTool> greatest(Stream<ApprovedTool> versions) {
    return versions.max((a, b) -> ORDER.compare(a.ref().version(), b.ref().version()));
  }

  private static int rank(String a, String b) {
    Matcher first = SEMANTIC.matcher(a);
    Matcher second = SEMANTIC.matcher(b);
    if (!first.matches() || !second.matches()) {
      return 0;
    }
    int numbers = compare(first.group(1), second.group(1), true);
    if (numbers != 0) {
      return numbers;
    }
    String pre = first.group(2);
    String other = second.group(2);
    if (pre == null || other == null) {
      return Boolean.compare(pre == null, other == null);
    }
    return compare(pre, other, false);
  }

  private static int compare(String a, String b, boolean release) {
    String[] first = a.split("\\.", -1);
    String[] second = b.split("\\.", -1);
    for (int i = 0; i < Math.max(first.length, second.length); i++) {
      // 1.2 is 1.2.0; a longer pre-release comes later.
      if (!release && (i >= first.length || i >= second.length)) {
        return Integer.compare(first.length, second.length);
      }
      int parts = part(i < first.length ? first[i] : "0", i < second.length ? second[i] : "0");
      if (parts != 0) {
        return parts;
      }
    }
    return 0;
  }

  private static int part(String a, String b) {
    boolean first = a.matches("\\d+");
    boolean second = b.matches("\\d+");
    if (first && second) {
      return new BigInteger(a).compareTo(new BigInteger(b));
    }
    return first == second ? a.compareTo(b) : Boolean.compare(second, first);
  }
}
