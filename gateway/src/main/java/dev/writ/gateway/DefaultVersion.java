package dev.writ.gateway;

import dev.writ.guardian.policy.ApprovedTool;
import dev.writ.guardian.policy.Policy;
import java.math.BigInteger;
import java.util.Comparator;
import java.util.Optional;

/**
 * Which version of a tool a call means that names none: the greatest active one, in the order of
 * Semantic Versioning 2.0.0, 11. One rule for every surface.
 */
public final class DefaultVersion {
  private static final String ACTIVE = "active";

  /** In the order of their precedence; what is no such version comes before, by its text. */
  public static final Comparator<String> ORDER = DefaultVersion::compare;

  private DefaultVersion() {}

  /**
   * @param run may take part in the rule: a share of the runs can be given another version
   */
  public static Optional<ApprovedTool> of(Policy policy, String tool, String tenant, String run) {
    return policy.tools().stream()
        .filter(approved -> approved.ref().name().equals(tool))
        .filter(approved -> approved.stage().equals(ACTIVE))
        .max(Comparator.comparing(approved -> approved.ref().version(), ORDER));
  }

  private static int compare(String a, String b) {
    String[] one = a.split("\\+", 2)[0].split("-", 2);
    String[] two = b.split("\\+", 2)[0].split("-", 2);
    int core = parts(one[0], two[0]);
    if (core != 0) {
      return core;
    }
    if (one.length != two.length) {
      return one.length > two.length ? -1 : 1; // a pre-release comes before its release
    }
    int pre = one.length == 1 ? 0 : parts(one[1], two[1]);
    return pre != 0 ? pre : a.compareTo(b);
  }

  private static int parts(String a, String b) {
    String[] one = a.split("\\.", -1);
    String[] two = b.split("\\.", -1);
    for (int i = 0; i < Math.min(one.length, two.length); i++) {
      int order = part(one[i], two[i]);
      if (order != 0) {
        return order;
      }
    }
    return Integer.compare(one.length, two.length);
  }

  /** Numbers by their value, and before words. */
  private static int part(String a, String b) {
    boolean one = a.matches("[0-9]{1,100}");
    boolean two = b.matches("[0-9]{1,100}");
    if (one && two) {
      return new BigInteger(a).compareTo(new BigInteger(b));
    }
    return one == two ? a.compareTo(b) : one ? -1 : 1;
  }
}
