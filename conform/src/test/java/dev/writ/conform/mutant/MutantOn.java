package dev.writ.conform.mutant;

import java.util.BitSet;

/** Which mutant of the code is on, for copies that have all of them; and which are come by. */
public final class MutantOn {
  private static volatile int number;
  private static final BitSet REACHED = new BitSet();

  private MutantOn() {}

  /** Asked by the copies where a mutant stands. */
  public static boolean is(int id) {
    int now = number;
    if (now == 0) {
      synchronized (REACHED) {
        REACHED.set(id);
      }
    }
    return now == id;
  }

  /** From now on it is that one; with 0 there is none. */
  static void turn(int id) {
    number = id;
  }

  /** Those that were come by since this was asked last, while none was on. */
  static BitSet reached() {
    synchronized (REACHED) {
      BitSet reached = (BitSet) REACHED.clone();
      REACHED.clear();
      return reached;
    }
  }
}
