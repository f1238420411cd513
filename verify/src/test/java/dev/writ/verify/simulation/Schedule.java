package dev.writ.verify.simulation;

import dev.writ.canonicalize.crypto.SignatureEngines;
import dev.writ.canonicalize.crypto.SimulatedSignatures;
import java.util.List;
import java.util.function.LongFunction;

/** What does not hold after the schedule of a seed; for who has loaded the simulation anew. */
public final class Schedule implements LongFunction<List<String>> {
  private static final int FEW = 10;

  @Override
  public List<String> apply(long seed) {
    SignatureEngines.use(new SimulatedSignatures());
    return new Simulation(seed, FEW).run().wrong();
  }
}
