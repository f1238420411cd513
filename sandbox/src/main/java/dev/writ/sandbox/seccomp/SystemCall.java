package dev.writ.sandbox.seccomp;

import java.util.ArrayList;
import java.util.List;

/**
 * One line of the table.
 *
 * @param number on the architecture that the table was read for
 */
record SystemCall(String name, int number, Verdict verdict) {

  /** What happens when it is called. */
  sealed interface Verdict {}

  record Allow() implements Verdict {}

  /** Answers EPERM. */
  record Refuse() implements Verdict {}

  /** Ends the process by SIGSYS. */
  record Kill() implements Verdict {}

  /** Allowed where all conditions hold; else EPERM. */
  record AllowWhere(List<Condition> all) implements Verdict {}

  /**
   * Where all conditions hold it answers 0 and does nothing; where the last argument has one of the
   * refused values instead, and the others hold, EPERM; else it is allowed.
   */
  record PassOver(List<OneOf> all, List<Integer> refused) implements Verdict {
    /** The conditions under which it answers EPERM. */
    List<OneOf> allRefused() {
      List<OneOf> conditions = new ArrayList<>(all);
      conditions.set(all.size() - 1, new OneOf(all.getLast().argument(), refused));
      return conditions;
    }
  }

  /** About the low 32 bits of an argument, which is what the kernel looks at. */
  sealed interface Condition {
    int argument();
  }

  /** They are one of the values. */
  record OneOf(int argument, List<Integer> values) implements Condition {}

  /** They are none of the values. */
  record NoneOf(int argument, List<Integer> values) implements Condition {}

  /** No bit of the mask is set in them. */
  record Without(int argument, int mask) implements Condition {}
}
