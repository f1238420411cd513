package dev.writ.verify.simulation;

import dev.writ.canonicalize.crypto.SignatureEngines;
import dev.writ.canonicalize.crypto.SimulatedSignatures;
import java.util.List;
import java.util.function.LongFunction;

/** What does not hold after the schedule of a seed; for who has loaded the simulation anew. */
public final class Schedule implements LongFunction<List<String>> {
  /** Added to the seed of a schedule with all its lives; the others have few. */
  static final long LONG = 1L << 32;

  private static final int FEW = 10;

  @Override
  public List<String> apply(long seed) {
    SignatureEngines.use(new SimulatedSignatures());
    return new Simulation(seed % LONG, seed < LONG ? FEW : Simulation.LIVES).run().wrong();
  }
}
