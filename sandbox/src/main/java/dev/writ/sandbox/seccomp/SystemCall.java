package dev.writ.sandbox.seccomp;

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

  /** Allowed where the low 32 bits of an argument are one of the values. */
  record AllowValues(int argument, List<Integer> values) implements Verdict {}

  /** Allowed where no bit of the mask is set in an argument. */
  record AllowWithout(int argument, int mask) implements Verdict {}

  /** Allowed where the low 32 bits of an argument are not this. */
  record AllowUnless(int argument, int value) implements Verdict {}
}
