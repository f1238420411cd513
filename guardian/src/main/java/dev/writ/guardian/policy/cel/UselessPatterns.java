package dev.writ.guardian.policy.cel;

import dev.cel.common.ast.CelExpr;
import java.util.List;
import java.util.TreeSet;

/** Patterns that an expression states and that cannot be looked for: it is an error each time. */
final class UselessPatterns {
  private UselessPatterns() {}

  /** Sorted. */
  static List<String> of(CelExpr expression) {
    TreeSet<String> found = new TreeSet<>();
    collect(expression, found);
    return List.copyOf(found);
  }

  private static void collect(CelExpr e, TreeSet<String> found) {
    if (e.getKind() == CelExpr.ExprKind.Kind.CALL
        && e.call().function().equals(CelProgram.MATCHES)
        && !e.call().args().isEmpty()) {
      ParamsRead.constant(e.call().args().getLast())
          .filter(pattern -> LinearPattern.usable(pattern, CelProgram.PATTERN_SIZE_MAX).isEmpty())
          .ifPresent(found::add);
    }
    ParamsRead.children(e).forEach(child -> collect(child, found));
  }
}
