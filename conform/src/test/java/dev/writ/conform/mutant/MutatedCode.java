package dev.writ.conform.mutant;

import dev.writ.conform.run.Implementation;
import java.util.BitSet;
import java.util.List;

/** A verifier whose code has all mutants in it, one of which is on at a time. */
interface MutatedCode extends Implementation {
  List<JavaMutator.Change> mutants();

  /**
   * @param id of the mutant that is on from now; 0 for none
   */
  void turn(int id);

  /** The mutants that the questions since the last call came by, while none was on. */
  BitSet reached();
}
