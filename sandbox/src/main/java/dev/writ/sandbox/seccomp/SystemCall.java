package dev.writ.sandbox.seccomp;

import java.util.ArrayList;
import java.util.List;

/**
 * One line of the table.
 *
 * @param number on the architecture that the table was read for
 */
record SystemCall(String name, int number, Verdict verdict) {

  /** The result of a call. */
  sealed interface Verdict {}

  record Allow() implements Verdict {}

  /** Answers EPERM. */
  record Refuse() implements Verdict {}

  /** Ends the process by SIGSYS. */
  record Kill() implements Verdict {}

  /** Allowed if all conditions are true, otherwise EPERM. */
  record AllowWhere(List<Condition> all) implements Verdict {}

  /**
   * If all conditions are true it does nothing and returns 0. If the last argument has one of the
   * refused values instead, and the other conditions are true, it returns EPERM. Otherwise it is
   * allowed.
   */
  record PassOver(List<OneOf> all, List<Integer> refused) implements Verdict {
    /** The conditions under which it answers EPERM. */
    List<OneOf> allRefused() {
      List<OneOf> conditions = new ArrayList<>(all);
      conditions.set(all.size() - 1, new OneOf(all.getLast().argument(), refused));
      return conditions;
    }
  }

  /** A condition on the low 32 bits of an argument, which are all that the kernel reads. */
  sealed interface Condition {
    int argument();
  }

  /** They are one of the values. */
  record OneOf(int argument, List<Integer> values) implements Condition {}

  /** They are none of the values. */
  record NoneOf(int argument, List<Integer> values) implements Condition {}

  /** None of the mask's bits is set. */
  record Without(int argument, int mask) implements Condition {}
}
