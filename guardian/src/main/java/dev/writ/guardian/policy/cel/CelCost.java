package dev.writ.guardian.policy.cel;

import dev.cel.common.ast.CelExpr;
import dev.cel.runtime.CelEvaluationListener;
import java.util.List;
import java.util.Map;

/**
 * Counts the cost of an evaluation: one for each evaluated node, plus the size of its result, so
 * that every argument of an operation has been counted; and what {@code matches} may take. The
 * count does not depend on the machine.
 */
public final class CelCost implements CelEvaluationListener {
  /** How many characters cost as much as one step. */
  static final int CHARACTERS_PER_STEP = 16;

  /** How many instructions of a pattern's program, each on one character, cost as much. */
  static final int MATCHINGS_PER_STEP = 128;

  /** Compiling a pattern is as much work as so many characters more. */
  static final int COMPILING = 16;

  private long left;

  CelCost(int max) {
    left = max;
  }

  @Override
  public void callback(CelExpr expression, Object result) {
    charge(result);
  }

  private void charge(Object value) {
    spend(1);
    switch (value) {
      case String text -> spend(text.length() / CHARACTERS_PER_STEP);
      case List<?> list -> list.forEach(this::charge);
      case Map<?, ?> map ->
          map.forEach((key, member) -> {
            charge(key);
            charge(member);
          });
      case null, default -> {}
    }
  }

  /** What it may take to look for a pattern in a text. */
  static long matching(LinearPattern pattern, String text) {
    return (text.length() + (long) COMPILING) * pattern.size() / MATCHINGS_PER_STEP;
  }

  /** Steps that no result shows; told before they are made, since they are the work. */
  void spend(long steps) {
    left -= steps;
    if (left < 0) {
      throw new Exceeded();
    }
  }

  static boolean exceededWithin(Throwable error) {
    for (Throwable e = error; e != null; e = e.getCause()) {
      if (e instanceof Exceeded) {
        return true;
      }
    }
    return false;
  }

  /** Ends an evaluation that costs too much. */
  static final class Exceeded extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Exceeded() {
      super("cost limit", null, false, false);
    }
  }
}
